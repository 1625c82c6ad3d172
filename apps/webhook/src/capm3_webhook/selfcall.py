"""One real review over TLS from the server to itself: the proof behind "ready".

Apart from the server: it is a client, written on plain sockets so that the webhook image needs no HTTP client library.
"""

from __future__ import annotations

import asyncio
import ssl

import orjson
from capm3_api import kinds

from capm3_webhook import admission, paths

_HOOK = next(hook for hook in paths.VALIDATING if hook.kind == kinds.METAL3_CLUSTER)


async def check(port: int, *, host: str = "127.0.0.1", seconds: float = 5.0) -> str:
    """The reason why the server does not answer as it should; ``""`` when it does.

    The certificate is not verified: it names the Service, not this address.
    """
    try:
        async with asyncio.timeout(seconds):
            return await _call(host, port)
    except TimeoutError:
        return f"no answer from port {port} within {seconds:g} s"
    except (OSError, ValueError, asyncio.IncompleteReadError) as problem:
        return f"port {port}: {type(problem).__name__}"


async def _call(host: str, port: int) -> str:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    reader, writer = await asyncio.open_connection(host, port, ssl=context)
    try:
        body = orjson.dumps(_review())
        head = f"POST {_HOOK.path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        answer = await reader.read()
    finally:
        writer.close()
    status, _, rest = answer.partition(b"\r\n")
    if b" 200 " not in status:
        return f"port {port} answered {status.decode(errors='replace')}"
    response = orjson.loads(rest.partition(b"\r\n\r\n")[2])["response"]
    return "" if response["allowed"] and response["uid"] == "self-call" else "the self-call was denied"


def _review() -> dict[str, object]:
    obj = _HOOK.kind.new("default", "self-call", spec={"controlPlaneEndpoint": {"host": "host.invalid", "port": 6443}})
    request = {"uid": "self-call", "operation": "CREATE", "object": obj}
    return {"kind": "AdmissionReview", "apiVersion": admission.API_VERSION, "request": request}
