"""The settings that change what managers decide; flags of the controller set them, tests build them.

Apart from the controller's own settings (ports, rates, election), which no decision may know.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Settings:
    """Args:
    bmh_name_based_preallocation: ``--enable-bmh-name-based-preallocation``.
    fast_track: environment variable ``CAPM3_FAST_TRACK`` of the controller is ``true``.
    required_failure_domain: ``--failure-domain-policy=required``: wait instead of falling back to another domain.
    requeue_seconds: the general requeue of things that no watch reports.
    host_power_poll_seconds: how often a settled host's real power state is looked at.
    host_error_backoff_seconds: first pause after a BMC error; doubled with each further one, see the next.
    host_error_backoff_max_seconds: longest pause after BMC errors.
    host_soft_power_off_seconds: how long an operating system may take to shut down before the power is cut.
    """

    bmh_name_based_preallocation: bool = False
    fast_track: bool = False
    required_failure_domain: bool = False
    requeue_seconds: float = 30.0
    host_power_poll_seconds: float = 60.0
    host_error_backoff_seconds: float = 5.0
    host_error_backoff_max_seconds: float = 600.0
    host_soft_power_off_seconds: float = 180.0
