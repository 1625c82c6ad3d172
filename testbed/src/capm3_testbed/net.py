"""Free ports of the loopback interface and waiting for something to become true.

Apart from the programs that use them, because every part of the testbed starts servers and waits for conditions.
"""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Callable


def free_port() -> int:
    """A TCP port on 127.0.0.1 that nothing listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def free_pair() -> int:
    """The first of two neighbouring free ports."""
    while True:
        first = free_port()
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", first + 1))
            except OSError:
                continue
            return first


def wait_until(what: str, check: Callable[[], bool], timeout: float, *, every: float = 0.1) -> None:
    """Looks again and again until `check` says true.

    Args:
        what: names the thing in the error, "kube-apiserver is ready".
        timeout: seconds.

    Raises:
        TimeoutError: it did not become true in time.
    """
    end = time.monotonic() + timeout
    while not check():
        if time.monotonic() > end:
            raise TimeoutError(f"not true after {timeout:.0f} s: {what}")
        time.sleep(every)


def answers_ok(port: int, path: str) -> bool:
    """Whether a plain HTTP server on loopback answers 200."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
