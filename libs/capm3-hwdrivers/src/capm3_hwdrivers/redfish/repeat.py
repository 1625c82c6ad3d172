"""Does something to a server that may fail in ways that leave its effect unknown: reads the state before asking again.

The one place for this rule, because power, boot and media actions all need it, and a blind repeat can do harm.
"""

from __future__ import annotations

from collections.abc import Callable

from capm3_hwdrivers import errors
from capm3_hwdrivers.redfish.connect import Client

_PAUSE = 1.0
_LONGEST = 8.0


def until(client: Client, act: Callable[[], None], done: Callable[[], bool]) -> None:
    """Calls `act` until it succeeds, or `done` says that an attempt that seemed to fail had its effect.

    Raises:
        DriverError: the last failure, when it is not one that passes or the time is used up.
    """
    pause = _PAUSE
    while True:
        try:
            act()
            return
        except errors.DriverError as failure:
            if not _worth_it(failure):
                if isinstance(failure, errors.Failed) and failure.status in (400, 409) and done():
                    return
                raise
            wished = failure.retry_after if failure.retry_after is not None else pause
            if not client.deadline.pause(wished):
                raise
            pause = min(pause * 2, _LONGEST)
        if done():
            return


def _worth_it(failure: errors.DriverError) -> bool:
    return isinstance(failure, (errors.Busy, errors.Unreachable, errors.Timeout)) or (
        isinstance(failure, errors.Failed) and failure.status >= 500
    )
