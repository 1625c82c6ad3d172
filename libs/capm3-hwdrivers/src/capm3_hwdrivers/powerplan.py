"""Which Redfish reset type brings a server where it should be, from what its BMC offers. Pure.

A table of preferences, because vendors offer different subsets, and because a wrong choice is dangerous: a toggle
(``PushPowerButton``) sent in the wrong state does the opposite, so it is never used.
"""

from __future__ import annotations

from collections.abc import Collection

from capm3_hwdrivers.model import PowerState

_PREFERENCES: dict[tuple[str, str], tuple[str, ...]] = {
    ("on", ""): ("On", "ForceOn"),
    ("off", "hard"): ("ForceOff",),
    ("off", "soft"): ("GracefulShutdown", "ForceOff"),
}


def choose(goal: str, mode: str, state: PowerState, allowed: Collection[str] | None) -> str | None:
    """The reset type to send; ``None`` when there is nothing to do: the server is there already or on its way.

    Args:
        goal: ``on`` or ``off``.
        mode: for ``off``: ``soft`` (ask the operating system) or ``hard``.
        allowed: what the BMC offers; ``None`` when it does not say, then the first choice is tried.

    Raises:
        LookupError: the BMC offers no type that fits.
    """
    if reached(goal, state) or _on_its_way(goal, mode, state):
        return None
    wanted = _PREFERENCES["on", ""] if goal == "on" else _PREFERENCES["off", mode]
    if not allowed:
        return wanted[0]
    for name in wanted:
        if name in allowed:
            return name
    raise LookupError(f"no reset type for power {goal} {mode}".strip())


def reached(goal: str, state: PowerState) -> bool:
    return state == (PowerState.ON if goal == "on" else PowerState.OFF)


def _on_its_way(goal: str, mode: str, state: PowerState) -> bool:
    """A hard power off is sent even to a server that is shutting down: that may never end."""
    if goal == "on":
        return state == PowerState.POWERING_ON
    return state == PowerState.POWERING_OFF and mode == "soft"
