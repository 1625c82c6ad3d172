"""One controller: workers that take a key, observe, decide, let the executor act, and say when to come again.

The only place where passes begin and end; what is read, decided and written is elsewhere. A pass never ends the worker:
whatever it raises becomes a line, a number and a later try.
"""

from __future__ import annotations

import datetime
import logging
import random
import threading
import time
from collections.abc import Callable
from typing import Any

from capm3_api.meta import Key
from capm3_managers import considering
from capm3_managers.env import Env
from capm3_managers.manager import Manager, Ports
from capm3_managers.plan import Plan
from capm3_managers.ports import ApiError, BmcError
from capm3_managers.settings import Settings

from capm3_controller.runtime.executor import Executor, Result
from capm3_controller.runtime.metrics import ControllerMetrics
from capm3_controller.runtime.queue import Queue

log = logging.getLogger(__name__)


EnvSource = Callable[[], Env]


def env_of(settings: Settings) -> EnvSource:
    """What decisions get in a real process: the system's time and fresh randomness for every pass."""
    return lambda: Env(datetime.datetime.now(datetime.UTC), random.Random(), settings)


class Loop:
    """Args:
    queue: closed by the owner to end the workers.
    env: makes the time, randomness and settings of each pass.
    """

    def __init__(
        self,
        manager: Manager,
        queue: Queue,
        ports: Ports,
        executor: Executor,
        metrics: ControllerMetrics,
        env: EnvSource,
    ) -> None:
        self.manager = manager
        self.queue = queue
        self._ports = ports
        self._executor = executor
        self._metrics = metrics
        self._env = env
        self._threads: list[threading.Thread] = []

    def start(self, workers: int) -> None:
        for number in range(workers):
            thread = threading.Thread(target=self._work, name=f"{self.manager.name}-{number}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def join(self, deadline: float) -> bool:
        """Waits for the passes in work until a moment of the monotonic clock; whether all have ended."""
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        while True:
            key = self.queue.take()
            if key is None:
                return
            self._metrics.active.inc()
            begin = time.monotonic()
            try:
                self.turn(key)
            finally:
                self.queue.done(key)
                self._metrics.active.dec()
                self._metrics.durations.observe(time.monotonic() - begin)

    def turn(self, key: Key) -> str:
        """One pass over a key, and its appointment for the next; the result as the metrics name it."""
        begin = time.monotonic()
        try:
            result = self._pass(key)
        except ApiError as error:
            return self._refused(key, error)
        except BmcError as error:
            return self._failed(key, str(error))
        except Exception:
            self._metrics.panics.inc()
            log.exception("A pass ended in a bug", extra={"facts": self._about(key)})
            return self._failed(key, "")
        return self._finished(key, result, time.monotonic() - begin)

    def _pass(self, key: Key) -> Result:
        env = self._env()
        snapshot, plan = considering.consider(self.manager, self._ports, key, env)
        return self._executor.run(self.manager, snapshot, plan, env)

    def _finished(self, key: Key, result: Result, seconds: float) -> str:
        plan = result.plan
        self._line(key, result, seconds)
        if plan.retry:
            return self._failed(key, "")
        self.queue.forget(key)
        if plan.requeue_after is None:
            return self._count("success")
        self.queue.add_after(key, plan.requeue_after)
        return self._count("requeue_after")

    def _refused(self, key: Key, error: ApiError) -> str:
        """A conflict is no failure: somebody was faster, so look again."""
        if not error.is_conflict:
            return self._failed(key, str(error))
        delay = self.queue.retry(key)
        facts = {**self._about(key), "err": str(error), "retryIn": f"{delay:.3f}s"}
        log.info("The object changed meanwhile; observing again", extra={"facts": facts, "v": 4})
        return self._count("requeue")

    def _failed(self, key: Key, error: str) -> str:
        delay = self.queue.retry(key)
        if error:
            facts = {**self._about(key), "err": error, "retryIn": f"{delay:.3f}s"}
            log.error("The pass failed", extra={"facts": facts})
        return self._count("error")

    def _count(self, result: str) -> str:
        self._metrics.result(result)
        return result

    def _line(self, key: Key, result: Result, seconds: float) -> None:
        """The one line of a pass: level 0 when it changed or could not do something, else 4."""
        plan: Plan = result.plan
        facts = {**self._about(key), **dict(plan.facts), "writes": result.writes, "seconds": round(seconds, 4)}
        if plan.because:
            facts["because"] = plan.because
        if plan.requeue_after is not None:
            facts["requeueAfter"] = f"{plan.requeue_after:g}s"
        if result.failure is not None:
            facts["err"] = f"{result.failure.reason}: {result.failure.message}"
        notable = result.writes or plan.retry
        level = logging.WARNING if plan.retry or result.failure is not None else logging.INFO
        log.log(level, "Reconciled", extra={"facts": facts, "v": 0 if notable else 4})

    def _about(self, key: Key) -> dict[str, Any]:
        return {
            "controller": self.manager.name,
            "kind": self.manager.kind.kind,
            "namespace": key.namespace,
            "name": key.name,
        }
