"""The queue: client-go's promises, under any order of calls and with real threads."""

from __future__ import annotations

import threading

from capm3_api.meta import Key
from capm3_controller.kube.ratelimit import TokenBucket
from capm3_controller.runtime.queue import Queue, Retries, Schedule
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

A, B, C = Key("n", "a"), Key("n", "b"), Key("n", "c")
KEYS = st.sampled_from([A, B, C])


class ScheduleMachine(RuleBasedStateMachine):
    """Against a plain model: wanted (queued or to be queued), working, appointments."""

    def __init__(self):
        super().__init__()
        self.real = Schedule()
        self.now = 0.0
        self.wanted, self.working, self.due = set(), set(), {}

    @rule(key=KEYS)
    def add(self, key):
        assert self.real.add(key, self.now) == (key not in self.wanted)
        self.wanted.add(key)

    @rule(key=KEYS, delay=st.integers(1, 9))
    def later(self, key, delay):
        self.real.add_at(key, self.now + delay)
        self.due[key] = min(self.due.get(key, float("inf")), self.now + delay)

    @rule(key=KEYS)
    def cancel(self, key):
        self.real.cancel(key)
        self.due.pop(key, None)

    @rule(step=st.integers(1, 5))
    def time_passes(self, step):
        self.now += step
        self.real.ripen(self.now)
        ripe = {key for key, when in self.due.items() if when <= self.now}
        self.wanted |= ripe
        for key in ripe:
            del self.due[key]

    @rule()
    def take(self):
        taken = self.real.take(self.now)
        free = self.wanted - self.working
        if not free:
            assert taken is None
            return
        key, waited = taken
        assert key in free
        assert waited >= 0
        self.wanted.discard(key)
        self.working.add(key)

    @precondition(lambda self: self.working)
    @rule(data=st.data())
    def done(self, data):
        key = data.draw(st.sampled_from(sorted(self.working)))
        self.real.done(key, self.now)
        self.working.discard(key)

    @invariant()
    def a_key_is_ready_once_and_never_while_in_work(self):
        ready = list(self.real.ready)
        assert len(ready) == len(set(ready))
        assert set(ready) == self.wanted - self.working
        assert set(self.real.working) == self.working

    @invariant()
    def the_next_appointment_is_the_earliest(self):
        assert self.real.next_due() == min(self.due.values(), default=None)


TestSchedule = ScheduleMachine.TestCase
TestSchedule.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_key_that_fails_waits_twice_as_long_each_time_up_to_a_thousand_seconds():
    retries = Retries(TokenBucket(0, 1))
    delays = [retries.next(A) for _ in range(25)]
    assert delays[:4] == [0.005, 0.01, 0.02, 0.04]
    assert delays[-1] == 1000.0
    assert retries.next(B) == 0.005
    retries.forget(A)
    assert retries.next(A) == 0.005


def test_many_failing_keys_share_ten_retries_a_second():
    clock = Clock()
    retries = Retries(TokenBucket(10, 100, clock=clock))
    delays = [retries.next(Key("n", str(number))) for number in range(120)]
    assert delays[99] == 0.005
    assert abs(delays[119] - 2.0) < 1e-6


def test_an_event_during_work_brings_the_key_back_exactly_once():
    queue = Queue()
    queue.add(A)
    assert queue.take() == A
    queue.add(A)
    queue.add(A)
    queue.add(B)
    assert queue.take() == B
    queue.done(A)
    assert queue.take() == A
    queue.done(A)
    queue.done(B)
    assert len(queue) == 0


def test_a_key_comes_when_it_is_due_and_not_before():
    clock = Clock()
    queue = Queue(clock=clock)
    queue.add_after(A, 30)
    queue.add_after(A, 10)
    queue.add_after(A, 20)
    queue.add(B)
    assert queue.take() == B
    clock.now = 10
    assert queue.take() == A


def test_a_pass_that_succeeded_outdates_what_an_earlier_one_asked_for_later():
    clock = [0.0]
    queue = Queue(clock=lambda: clock[0])
    queue.add_after(A, 30)
    queue.add(A)
    assert queue.take() == A
    queue.forget(A)
    queue.done(A)
    queue.add_after(B, 40)
    clock[0] = 45
    assert queue.take() == B


def test_a_waiting_worker_wakes_for_a_key_due_soon():
    queue = Queue()
    found = []
    thread = threading.Thread(target=lambda: found.append(queue.take()))
    thread.start()
    queue.add_after(A, 0.05)
    thread.join(5)
    assert found == [A]


def test_closing_wakes_the_workers_and_takes_nothing_in():
    queue = Queue()
    found = []
    threads = [threading.Thread(target=lambda: found.append(queue.take())) for _ in range(3)]
    for thread in threads:
        thread.start()
    queue.close()
    for thread in threads:
        thread.join(5)
    assert found == [None, None, None]
    queue.add(A)
    assert queue.take() is None


def test_a_closed_queue_hands_out_nothing_more_even_if_keys_wait():
    queue = Queue()
    queue.add(A)
    queue.close()
    assert queue.take() is None


def test_ten_workers_never_work_on_one_key_at_once_and_lose_none():
    queue = Queue()
    busy, clashes, worked = set(), [], []
    lock = threading.Lock()

    def work():
        while (key := queue.take()) is not None:
            with lock:
                if key in busy:
                    clashes.append(key)
                busy.add(key)
                worked.append(key)
                last = len(worked) >= 600
            with lock:
                busy.discard(key)
            queue.done(key)
            if last:
                queue.close()

    threads = [threading.Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    keys = [Key("n", str(number)) for number in range(7)]
    number = 0
    while any(thread.is_alive() for thread in threads):
        queue.add(keys[number % 7])
        number += 1
    assert not clashes
    assert set(worked) == set(keys)


def test_the_observer_hears_of_adds_waits_work_and_retries():
    heard = []

    class Observer:
        def added(self, depth):
            heard.append(("added", depth))

        def taken(self, depth, waited):
            heard.append(("taken", depth, waited))

        def finished(self, worked):
            heard.append(("finished", worked))

        def retried(self):
            heard.append("retried")

    clock = Clock()
    queue = Queue(Observer(), clock=clock)
    queue.add(A)
    clock.now = 2.0
    queue.take()
    clock.now = 5.0
    assert queue.work_seconds() == [3.0]
    queue.done(A)
    queue.retry(A)
    assert heard == [("added", 1), ("taken", 0, 2.0), ("finished", 3.0), "retried"]
