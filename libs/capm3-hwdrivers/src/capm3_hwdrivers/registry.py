"""Picks the driver for a BMC address: the table from protocol to driver.

A protocol without a row is parsed and then refused by name, so that nobody takes "unknown address" for "not yet".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from capm3_hwdrivers import address, errors
from capm3_hwdrivers.capabilities import Driver
from capm3_hwdrivers.deadline import Limits
from capm3_hwdrivers.model import Access
from capm3_hwdrivers.redfish.driver import RedfishDriver

Factory = Callable[[address.Address, Access, Limits], Driver]

DRIVERS: Mapping[str, Factory] = {"redfish": RedfishDriver}


def connect(access: Access, limits: Limits | None = None, drivers: Mapping[str, Factory] = DRIVERS) -> Driver:
    """A driver for the address; nothing is sent yet.

    Raises:
        AddressInvalid: the address can't be used.
        NotSupported: no driver here speaks its protocol.
    """
    parsed = address.parse(access.address)
    factory = drivers.get(parsed.scheme.protocol)
    if factory is None:
        raise errors.NotSupported(
            f"{parsed.name}:// needs the {parsed.scheme.protocol} driver, which is not part of this release;"
            f" if the BMC speaks Redfish, write redfish-virtualmedia://{parsed.host}/redfish/v1/Systems/<id>"
        )
    return factory(parsed, access, limits or Limits())
