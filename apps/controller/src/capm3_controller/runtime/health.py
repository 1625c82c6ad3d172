"""/healthz and /readyz: named checks, each a function that says what is wrong.

Alive means that this process can still do its work after waiting; ready means that it does it now. The texts follow
controller-runtime: ``ok``, or one line a check with ``?verbose``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from capm3_controller.runtime.serving import Reply, Request

Check = Callable[[], str]
"""``""`` when all is well, else what is wrong."""


class Health:
    """The checks may be added while it serves."""

    def __init__(self) -> None:
        self.live: dict[str, Check] = {}
        self.ready: dict[str, Check] = {}

    def problems(self) -> Mapping[str, str]:
        """Failing readiness checks by name."""
        return {name: problem for name, check in self.ready.items() if (problem := _ask(check))}

    def handle(self, request: Request) -> Reply:
        path = request.path.rstrip("/")
        for prefix, checks in (("/healthz", self.live), ("/readyz", self.ready)):
            if path == prefix:
                return _all(prefix[1:], {"ping": lambda: "", **checks}, "verbose" in request.query)
            if path.startswith(prefix + "/"):
                name = path[len(prefix) + 1 :]
                check = checks.get(name)
                if check is None:
                    return Reply(404, b"no such check\n")
                problem = _ask(check)
                return Reply(500, f"{problem}\n".encode()) if problem else Reply(200, b"ok")
        return Reply(404, b"404 page not found\n")


def _all(title: str, checks: Mapping[str, Check], verbose: bool) -> Reply:
    results = {name: _ask(check) for name, check in checks.items()}
    failed = any(results.values())
    if not failed and not verbose:
        return Reply(200, b"ok")
    lines = [f"[-]{name} failed: {problem}" if problem else f"[+]{name} ok" for name, problem in results.items()]
    lines.append(f"{title} check {'failed' if failed else 'passed'}")
    return Reply(500 if failed else 200, ("\n".join(lines) + "\n").encode())


def _ask(check: Check) -> str:
    try:
        return check()
    except Exception as error:
        return f"the check failed: {type(error).__name__}"
