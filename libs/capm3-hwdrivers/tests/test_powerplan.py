"""Which reset type is chosen: never a toggle, never a guess about an unknown state."""

from __future__ import annotations

import pytest
from capm3_hwdrivers import powerplan
from capm3_hwdrivers.model import PowerState

ALL = ("On", "ForceOff", "GracefulShutdown", "ForceRestart", "Nmi", "PushPowerButton")


@pytest.mark.parametrize(
    ("goal", "mode", "state", "allowed", "chosen"),
    [
        ("on", "", PowerState.OFF, ALL, "On"),
        ("on", "", PowerState.OFF, ("ForceOn", "ForceOff"), "ForceOn"),
        ("on", "", PowerState.OFF, None, "On"),
        ("on", "", PowerState.UNKNOWN, ALL, "On"),
        ("on", "", PowerState.POWERING_OFF, ALL, "On"),
        ("on", "", PowerState.ON, ALL, None),
        ("on", "", PowerState.POWERING_ON, ALL, None),
        ("off", "soft", PowerState.ON, ALL, "GracefulShutdown"),
        ("off", "soft", PowerState.ON, ("On", "ForceOff"), "ForceOff"),
        ("off", "soft", PowerState.POWERING_OFF, ALL, None),
        ("off", "hard", PowerState.POWERING_OFF, ALL, "ForceOff"),
        ("off", "hard", PowerState.ON, ALL, "ForceOff"),
        ("off", "hard", PowerState.UNKNOWN, ALL, "ForceOff"),
        ("off", "hard", PowerState.OFF, ALL, None),
    ],
)
def test_the_reset_type_follows_from_goal_state_and_what_is_offered(
    goal: str, mode: str, state: PowerState, allowed: tuple[str, ...] | None, chosen: str | None
) -> None:
    assert powerplan.choose(goal, mode, state, allowed) == chosen


@pytest.mark.parametrize("goal", ["on", "off"])
def test_a_power_button_alone_is_never_pushed(goal: str) -> None:
    state = PowerState.OFF if goal == "on" else PowerState.ON
    with pytest.raises(LookupError):
        powerplan.choose(goal, "hard", state, ("PushPowerButton",))
