"""Provider IDs of machines: ``metal3://<namespace>/<host>/<machine>``.

Apart from the managers, because the node side (kubelet arguments, cloud-init) and the testbed build the same text.
"""

from __future__ import annotations

import dataclasses

from capm3_api.names import PROVIDER_ID_PREFIX


@dataclasses.dataclass(frozen=True)
class ProviderID:
    """The three names in a provider ID."""

    namespace: str
    host: str
    machine: str

    def __str__(self) -> str:
        return f"{PROVIDER_ID_PREFIX}{self.metadata_value}"

    @property
    def metadata_value(self) -> str:
        """The ID without scheme, as the key ``providerid`` of the rendered metadata has it."""
        return f"{self.namespace}/{self.host}/{self.machine}"

    @property
    def host_prefix(self) -> str:
        """What the IDs of all machines that ever used the host start with."""
        return f"{PROVIDER_ID_PREFIX}{self.namespace}/{self.host}/"


def parse(text: str) -> ProviderID | None:
    """Reads a provider ID; ``None`` for anything else, the former ``metal3://<uid>`` included."""
    if not text.startswith(PROVIDER_ID_PREFIX):
        return None
    parts = text.removeprefix(PROVIDER_ID_PREFIX).split("/")
    return ProviderID(*parts) if len(parts) == 3 and all(parts) else None
