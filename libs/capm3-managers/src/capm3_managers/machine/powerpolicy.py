"""Whether a released host stays on: a table.

Apart from `delete`, because it is the one place where cleaning, fast track and ``disablePowerOff`` meet. Behaviour facts
on CAPM3 5.2.13 step 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capm3_managers import hosts

# (disablePowerOff, fast track, cleaning is on) -> spec.online
TABLE: Mapping[tuple[bool, bool, bool], bool] = {
    (True, True, True): True,
    (True, True, False): True,
    (True, False, True): True,
    (True, False, False): True,
    (False, True, True): True,
    (False, True, False): False,
    (False, False, True): False,
    (False, False, False): False,
}


def online_after_release(host: Mapping[str, Any], *, fast_track: bool) -> bool:
    """``spec.online`` of a host whose machine goes."""
    spec = hosts.part(host, "spec")
    cleaning = spec.get("automatedCleaningMode") != "disabled"
    return TABLE[spec.get("disablePowerOff") is True, fast_track, cleaning]
