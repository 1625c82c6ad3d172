"""Prefix lengths as the masks that network data has: ``255.255.255.0`` and ``ffff:ffff:ffff:ffff::``.

Apart from networks, because routes and addresses of both families need it.
"""

from __future__ import annotations

import ipaddress

BITS = {4: 32, 6: 128}


def of(prefix: int | None, family: int) -> str:
    """The mask of a prefix length; ``""`` for an absent one.

    Args:
        family: 4 or 6.

    Raises:
        ValueError: the length is out of range.
    """
    if prefix is None:
        return ""
    bits = BITS[family]
    if not 0 <= prefix <= bits:
        raise ValueError(f"prefix out of range: {prefix}")
    value = (1 << bits) - (1 << (bits - prefix))
    return str(ipaddress.IPv4Address(value) if family == 4 else ipaddress.IPv6Address(value))
