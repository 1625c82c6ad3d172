"""An answer that never ends by itself: one JSON object a line, as watches send them.

Apart from the transport, because two threads hold it: one reads, and another may end the reading at any moment.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import urllib3
from capm3_api.model import Raw

from capm3_controller.kube import answers

log = logging.getLogger(__name__)


class Stream:
    """The answer of a watch: decoded lines; `close` may be called from another thread and ends it at once."""

    def __init__(self, what: str, response: urllib3.BaseHTTPResponse) -> None:
        self._what = what
        self._response = response
        self._closed = False

    def __iter__(self) -> Iterator[Raw]:
        rest = b""
        while not self._closed:
            try:
                chunk = self._response.read1(65536, decode_content=True)
            except (urllib3.exceptions.HTTPError, OSError, ValueError, AttributeError) as error:
                if self._closed:
                    return
                raise answers.no_answer(self._what, error) from None
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if line.strip():
                    yield answers.decode(self._what, line)

    def close(self) -> None:
        """Ends the stream; a reader that waits in another thread returns."""
        self._closed = True
        try:
            self._response.shutdown()
        except Exception:
            log.debug("The stream was closed already")

    def release(self) -> None:
        """Closes the connection; by the reading thread, when it is done."""
        self._closed = True
        self._response.close()
