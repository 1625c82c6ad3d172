"""A web server on loopback that hands out a small live ISO image, and counts who fetched it.

Apart from the servers, because any manifest may name its URL; the image is only large enough to be an ISO 9660 volume.
"""

from __future__ import annotations

import http.server
import threading

LIVE_ISO = "/images/live.iso"
_SECTOR = 2048


def live_iso() -> bytes:
    """An empty ISO 9660 volume: system area, primary volume descriptor, terminator."""
    primary = bytearray(_SECTOR)
    primary[0:7] = b"\x01CD001\x01"
    primary[40:72] = b"CAPM3_TESTBED".ljust(32)
    primary[80:84] = (18).to_bytes(4, "little")
    primary[84:88] = (18).to_bytes(4, "big")
    primary[128:132] = _SECTOR.to_bytes(2, "little") + _SECTOR.to_bytes(2, "big")
    end = bytearray(_SECTOR)
    end[0:7] = b"\xffCD001\x01"
    return bytes(16 * _SECTOR) + bytes(primary) + bytes(end)


class ImageServer:
    """Serves `LIVE_ISO` on a free port of 127.0.0.1 until it is stopped."""

    def __init__(self) -> None:
        self.fetched = 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._answer(self, body=True)

            def do_HEAD(self) -> None:
                outer._answer(self, body=False)

            def log_message(self, format: str, *args: object) -> None:
                """Says nothing: the testbed shows what was asked for."""

        self._image = live_iso()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, name="images", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Of the live ISO."""
        return f"http://127.0.0.1:{self._server.server_address[1]}{LIVE_ISO}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def _answer(self, request: http.server.BaseHTTPRequestHandler, *, body: bool) -> None:
        if request.path != LIVE_ISO:
            request.send_error(404)
            return
        request.send_response(200)
        request.send_header("Content-Type", "application/x-iso9660-image")
        request.send_header("Content-Length", str(len(self._image)))
        request.end_headers()
        if body:
            self.fetched += 1
            request.wfile.write(self._image)
