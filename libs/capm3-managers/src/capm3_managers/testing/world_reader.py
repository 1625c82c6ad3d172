"""A `ports.Reader` over `World` whose cached reads may lag behind, as a watch cache does.

Apart from the server: it is the client's side of reading, with the indexes and the staleness that managers must bear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import indexes
from capm3_managers.ports import ContractError

if TYPE_CHECKING:
    from capm3_managers.testing.world import World

Lag = int | Callable[[], int]


class WorldReader:
    """Args:
    lag: how many of the world's writes cached reads are behind; a function is asked at each read. Time never goes
        backwards for one reader.
    """

    def __init__(self, world: World, lag: Lag = 0) -> None:
        self._world = world
        self._lag = lag
        self._seen = world.version  # a cache starts with a list: it is complete then

    def get(self, kind: Kind, key: Key, *, live: bool = False) -> Raw | None:
        if live:
            return self._world.get(kind, key)
        return self._world.get(kind, key, version=self._version())

    def list(
        self,
        kind: Kind,
        namespace: str,
        *,
        labels: Mapping[str, str] | None = None,
        index: tuple[str, str] | None = None,
        live: bool = False,
    ) -> Sequence[Raw]:
        if live and index:
            raise ContractError("indexes exist for cached reads only")
        found = self._world.list(kind, namespace, labels=labels, version=None if live else self._version())
        if index is None:
            return found
        name, value = index
        function = indexes.INDEXES.get(kind, {}).get(name)
        if function is None:
            raise ContractError(f"there is no index {name!r} of {kind.plural}")
        return [obj for obj in found if value in function(obj)]

    def _version(self) -> int:
        lag = self._lag if isinstance(self._lag, int) else self._lag()
        self._seen = max(self._seen, self._world.version - max(lag, 0))
        return self._seen
