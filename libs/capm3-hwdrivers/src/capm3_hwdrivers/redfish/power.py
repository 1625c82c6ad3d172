"""Power over Redfish: reads the state, and asks for the reset type that `powerplan` chose."""

from __future__ import annotations

from typing import Any

from capm3_hwdrivers import errors, powerplan
from capm3_hwdrivers.model import PowerState
from capm3_hwdrivers.redfish import quirks, repeat
from capm3_hwdrivers.redfish.connect import Body, Client

_STATES = {
    "on": PowerState.ON,
    "off": PowerState.OFF,
    "poweringon": PowerState.POWERING_ON,
    "poweringoff": PowerState.POWERING_OFF,
}


def state(system: Body) -> PowerState:
    """What a System body says. Missing, null, ``Paused`` or anything else is unknown. Pure."""
    value = system.get("PowerState")
    return _STATES.get(value.lower(), PowerState.UNKNOWN) if isinstance(value, str) else PowerState.UNKNOWN


def reset_action(system: Body) -> tuple[str, tuple[str, ...], str]:
    """The reset action of a System body: its target, the reset types it lists, the path of its ActionInfo. Pure."""
    actions = system.get("Actions")
    reset = actions.get("#ComputerSystem.Reset") if isinstance(actions, dict) else None
    if not isinstance(reset, dict) or not isinstance(reset.get("target"), str):
        return "", (), ""
    info = reset.get("@Redfish.ActionInfo")
    return (
        reset["target"],
        quirks.texts(reset.get("ResetType@Redfish.AllowableValues")),
        info if isinstance(info, str) else "",
    )


def values_of(info: Body, name: str) -> tuple[str, ...]:
    """The values an ActionInfo body allows for a parameter. Pure."""
    parameters = info.get("Parameters")
    for item in parameters if isinstance(parameters, list) else []:
        if isinstance(item, dict) and item.get("Name") == name:
            return quirks.texts(item.get("AllowableValues"))
    return ()


def change(client: Client, path: str, goal: str, mode: str) -> None:
    """Asks for ``on`` or ``off``; returns without waiting for the effect."""
    system = client.get(path)
    target, allowed, info = reset_action(system)
    if not target:
        raise errors.NotSupported(f"{client.address.base}{path} has no reset action; its power can't be changed")
    if not allowed and info:
        allowed = values_of(client.find(info) or {}, "ResetType")

    fresh = [system]

    def act() -> None:
        wanted = _choose(goal, mode, state(fresh.pop() if fresh else client.get(path)), allowed)
        if wanted is not None:
            client.post(target, {"ResetType": wanted})

    def done() -> bool:
        return powerplan.reached(goal, state(client.get(path)))

    repeat.until(client, act, done)


def _choose(goal: str, mode: str, now: PowerState, allowed: tuple[str, ...]) -> str | None:
    try:
        return powerplan.choose(goal, mode, now, allowed or None)
    except LookupError as error:
        raise errors.NotSupported(f"{error}; the BMC offers {', '.join(allowed) or 'none'}") from None


def describe(system: Body) -> dict[str, Any]:
    """For ``capm3-bmc power status``."""
    _, allowed, _ = reset_action(system)
    return {"power": str(state(system)), "resetTypes": list(allowed)}
