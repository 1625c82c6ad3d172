"""Servers that misbehave: one that takes connections and never answers, one that answers 503 to everything.

Apart from the emulators, which behave; a real BMC does both, mostly while its own processor is busy.
"""

from __future__ import annotations

import socket
import threading
import types
from typing import Self

_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"


class BadBmc:
    """Use it with ``with``.

    Args:
        answer: what every connection gets after its first bytes; empty: nothing, ever.
    """

    def __init__(self, answer: bytes = b"") -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.connections = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    @classmethod
    def hanging(cls) -> Self:
        return cls()

    @classmethod
    def busy(cls) -> Self:
        return cls(_BUSY)

    @property
    def address(self) -> str:
        """As in ``BareMetalHost.spec.bmc.address``."""
        return f"redfish-virtualmedia+http://127.0.0.1:{self._listener.getsockname()[1]}/redfish/v1/Systems/1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        self._listener.close()
        for connection in self._open:
            connection.close()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            if self._answer:
                threading.Thread(target=self._reply, args=(connection,), daemon=True).start()

    def _reply(self, connection: socket.socket) -> None:
        try:
            connection.recv(65536)
            connection.sendall(self._answer)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
