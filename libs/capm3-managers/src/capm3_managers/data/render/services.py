"""DNS servers, of a route or of the whole host.

Apart from networks, because the top level of the network data has the same list.
"""

from __future__ import annotations

from typing import Any

from capm3_api.v1beta2.networkdata import Services

from capm3_managers.data import pools
from capm3_managers.data.render import sources as sourcing
from capm3_managers.data.render.sources import Sources


def render(services: Services | None, sources: Sources) -> list[dict[str, Any]]:
    """``{type: dns, address}`` for the given servers, then for those of the pool.

    Raises:
        report.Unrenderable: there is no address of the pool.
    """
    if services is None:
        return []
    source = pools.of_services(services)
    found = sourcing.address(sources, source).dns if source is not None else ()
    return [{"type": "dns", "address": address} for address in (*services.dns, *found)]
