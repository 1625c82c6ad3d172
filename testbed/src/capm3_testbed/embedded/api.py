"""What every part of one embedded API server needs: the world, what is served, who watches, and when it all ends.

Apart from the server's life cycle, so that the verbs can be tested without a listener.
"""

from __future__ import annotations

import collections
import dataclasses
import threading

from capm3_managers.testing.world import World

from capm3_testbed.embedded.registry import Registry


@dataclasses.dataclass
class Api:
    """Args:
    bookmark_seconds: pause between the bookmarks of a watch that wants them.
    stopping: set once, when the server ends.
    """

    world: World
    registry: Registry
    bookmark_seconds: float = 10.0
    stopping: threading.Event = dataclasses.field(default_factory=threading.Event)
    watchers: set[threading.Event] = dataclasses.field(default_factory=set)
    requests: collections.Counter[tuple[str, str]] = dataclasses.field(default_factory=collections.Counter)

    def end(self) -> None:
        """Wakes every watch so that it sees the end."""
        self.stopping.set()
        for watcher in tuple(self.watchers):
            watcher.set()
