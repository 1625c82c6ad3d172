"""The reflector: what it does about everything a server or a network can do to a watch."""

from __future__ import annotations

import random
import threading
import time

import pytest
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_controller.kube.cache import Cache
from capm3_controller.kube.client import Client
from capm3_controller.kube.endpoint import Endpoint
from capm3_controller.kube.reflector import Reflector, Scope, Timing
from capm3_controller.kube.transport import Transport
from capm3_controller.testing.rawserver import CHUNKED, RawServer, chunk, reply
from capm3_controller.testing.tinyapi import TinyApi
from capm3_managers.ports import ALL_NAMESPACES, ApiError

KIND = kinds.METAL3_MACHINE
FAST = Timing(watch=20.0, first_pause=0.01, longest_pause=0.05, absent_pause=0.02, absent_grace=0.0, short=0.0)


class Sink:
    def __init__(self):
        self.calls = []

    def listed(self, items, version):
        self.calls.append(("list", [item["metadata"]["name"] for item in items]))

    def event(self, type_, obj):
        self.calls.append((type_, obj.get("metadata", {}).get("name")))
        return obj["metadata"]["resourceVersion"]

    def missing(self):
        self.calls.append(("missing",))


class ScriptedWatch:
    def __init__(self, client, events):
        self.client, self.events = client, events

    def __iter__(self):
        for event in self.events:
            if isinstance(event, Exception):
                raise event
            if callable(event):
                event()
                continue
            yield event

    def stop(self):
        pass

    def release(self):
        self.client.released += 1


class ScriptedClient:
    """Answers lists and watches from a script; an exception in it is raised."""

    def __init__(self, *script):
        self.script, self.asked, self.released = list(script), [], 0

    def list(self, kind, namespace, *, labels=None):
        self.asked.append("list")
        return self._next()

    def watch(self, kind, namespace, version, *, timeout, silence, labels=None):
        self.asked.append(("watch", version))
        assert silence > timeout
        return ScriptedWatch(self, self._next())

    def _next(self):
        answer = self.script.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now

    def advance(self, seconds):
        self.now += seconds


def event(type_, name, version):
    return type_, {"metadata": {"name": name, "resourceVersion": version}}


def reflector(*script, timing=Timing(), clock=None):
    client, sink = ScriptedClient(*script), Sink()
    made = Reflector(
        client,
        Scope(KIND, ALL_NAMESPACES),
        sink,
        timing=timing,
        clock=clock or Clock(),
        rng=random.Random(1),
    )
    return made, client, sink


def test_it_lists_then_watches_from_the_lists_version():
    one, client, sink = reflector(([{"metadata": {"name": "a"}}], "7"), [event("ADDED", "b", "9")])
    assert one.turn() == 0.0
    assert client.asked == ["list", ("watch", "7")]
    assert sink.calls == [("list", ["a"]), ("ADDED", "b")]


def test_a_watch_that_ends_goes_on_from_the_last_event_without_a_list():
    one, client, _ = reflector(([], "7"), [event("ADDED", "b", "9")], [event("BOOKMARK", None, "12")], [])
    for _ in range(3):
        one.turn()
    assert client.asked == ["list", ("watch", "7"), ("watch", "9"), ("watch", "12")]


@pytest.mark.parametrize(
    "expired", [ApiError(410, "Expired", "too old"), ApiError(410, "Gone", "too old"), ApiError(0, "Expired", "x")]
)
def test_an_expired_version_lists_again(expired):
    one, client, _ = reflector(([], "7"), [expired], ([], "20"), [event("ADDED", "c", "21")])
    assert one.turn() > 0
    one.turn()
    assert client.asked == ["list", ("watch", "7"), "list", ("watch", "20")]


def test_a_broken_connection_resumes_without_a_list():
    lost = ApiError(0, "ConnectionFailed", "reset")
    one, client, _ = reflector(([], "7"), [event("ADDED", "a", "8"), lost], [])
    assert one.turn() > 0
    one.turn()
    assert client.asked == ["list", ("watch", "7"), ("watch", "8")]
    assert client.released == 2


def test_failures_back_off_up_to_the_longest_pause():
    down = ApiError(0, "ConnectionFailed", "refused")
    one, _, _ = reflector(*[down] * 12, timing=Timing(first_pause=0.8, longest_pause=30.0))
    pauses = [one.turn() for _ in range(12)]
    assert 0.8 <= pauses[0] < 1.3
    assert all(30.0 <= pause < 45.1 for pause in pauses[6:])
    assert one.error


def test_a_watch_that_closes_at_once_is_no_hot_loop():
    one, _, _ = reflector(([], "7"), [], [], [])
    pauses = [one.turn() for _ in range(3)]
    assert pauses == sorted(pauses)
    assert pauses[0] >= 0.8


def test_a_long_quiet_watch_is_reopened_without_a_pause():
    clock = Clock()
    one, _, _ = reflector(([], "7"), [lambda: clock.advance(200)], clock=clock)
    assert one.turn() == 0.0


def test_an_unauthorised_watch_is_not_taken_for_an_expired_one():
    one, client, _ = reflector(([], "7"), ApiError(403, "Forbidden", "no"), [event("ADDED", "a", "8")])
    one.turn()
    assert "no" in one.error
    one.turn()
    assert client.asked.count("list") == 1
    assert one.error == ""


def test_a_kind_that_is_not_installed_is_looked_for_again():
    missing = ApiError(404, "NotFound", "no such resource")
    one, _, sink = reflector(missing, missing, ([{"metadata": {"name": "a"}}], "7"), [])
    assert one.turn() == Timing().absent_pause
    assert one.turn() == Timing().absent_pause
    one.turn()
    assert sink.calls == [("missing",), ("missing",), ("list", ["a"])]


def test_objects_are_not_given_up_when_a_starting_server_denies_their_kind():
    clock = Clock()
    missing = ApiError(404, "NotFound", "no such resource")
    one, _, sink = reflector(([{"metadata": {"name": "a"}}], "7"), [], missing, missing, [], clock=clock)
    one.turn()
    one.turn()
    clock.advance(10)
    one.turn()
    assert ("missing",) not in sink.calls
    one.turn()
    assert one.error == ""


def test_objects_of_a_kind_that_stays_away_are_given_up():
    clock = Clock()
    missing = ApiError(404, "NotFound", "no such resource")
    one, _, sink = reflector(([{"metadata": {"name": "a"}}], "7"), [], missing, missing, clock=clock)
    one.turn()
    one.turn()
    clock.advance(31)
    one.turn()
    assert sink.calls[-1] == ("missing",)


def test_the_age_grows_in_silence_and_makes_it_stale():
    clock = Clock()
    one, _, _ = reflector(([], "7"), [event("BOOKMARK", None, "8")], clock=clock)
    assert one.age is None
    assert one.stale
    one.turn()
    assert one.age == 0
    clock.advance(Timing().stale - 1)
    assert not one.stale
    clock.advance(2)
    assert one.stale


def test_it_lists_again_from_time_to_time():
    clock = Clock()
    one, client, _ = reflector(([], "7"), [event("ADDED", "a", "8")], ([], "9"), [], clock=clock)
    one.turn()
    clock.advance(Timing().relist + 1)
    one.turn()
    assert client.asked == ["list", ("watch", "7"), "list", ("watch", "9")]


def running(cache):
    cache.start()
    assert cache.wait_synced(threading.Event())
    return cache


def cache_of(endpoint, timing=FAST):
    return Cache(Client(Transport(endpoint, user_agent="t")), [KIND], timing=timing)


def until(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_changes_reach_the_store_over_http_and_a_stop_ends_a_silent_watch():
    with TinyApi() as api:
        cache = running(cache_of(api.endpoint))
        api.world.create(KIND.new("ns", "a"))
        until(lambda: cache.get(KIND, Key("ns", "a")))
        api.world.delete(KIND, Key("ns", "a"))
        until(lambda: cache.get(KIND, Key("ns", "a")) is None)
        begin = time.monotonic()
        cache.stop()
        assert time.monotonic() - begin < 2
        assert not any(thread.is_alive() for thread in cache._threads)


def test_a_forgotten_history_is_made_up_for_by_a_list_with_synthetic_deletions():
    with TinyApi() as api:
        api.world.create(KIND.new("ns", "a"))
        cache = running(cache_of(api.endpoint))
        changes = []
        cache.kinds[KIND].subscribe(changes.append)
        until(lambda: api.watching)
        api.intercept = lambda seen: (503, {}) if "metal3machines" in seen.path else None
        api.drop_watches()
        api.world.delete(KIND, Key("ns", "a"))
        api.world.create(KIND.new("ns", "b"))
        api.world.forget(KIND)
        api.intercept = lambda seen: None
        until(lambda: [obj["metadata"]["name"] for obj in cache.list(KIND, "ns")] == ["b"])
        until(lambda: len(changes) == 3)
        assert [(c.old is not None, c.new is not None) for c in changes] == [
            (False, True),
            (True, False),
            (False, True),
        ]
        cache.stop()


def test_a_kind_installed_later_is_picked_up():
    with TinyApi() as api:
        api.absent.add(KIND.plural)
        cache = running(cache_of(api.endpoint))
        assert cache.list(KIND, "ns") == []
        changes = []
        cache.kinds[KIND].subscribe(changes.append)
        api.world.create(KIND.new("ns", "a"))
        api.absent.clear()
        until(lambda: cache.get(KIND, Key("ns", "a")))
        until(lambda: len(changes) == 1)
        cache.stop()


def test_a_connection_that_falls_silent_is_given_up_and_the_change_is_seen():
    """Report B58: the peer keeps the connection open and says nothing more, not even that it ended."""
    lists = []

    def script(connection, head):
        if b"watch=1" in head:
            connection.sendall(CHUNKED)
            if len(lists) == 1 and b"resourceVersion=7" in head and not seen:
                seen.append("silent")
                return
            connection.sendall(
                chunk(b'{"type":"ADDED","object":{"metadata":{"namespace":"ns","name":"b","resourceVersion":"9"}}}')
            )
            return
        lists.append(head)
        connection.sendall(reply(b'{"metadata":{"resourceVersion":"7"},"items":[]}'))

    seen = []
    with RawServer(script) as server:
        timing = Timing(watch=0.2, margin=0.2, first_pause=0.01, longest_pause=0.02)
        cache = running(cache_of(Endpoint(server.url), timing))
        until(lambda: cache.get(KIND, Key("ns", "b")))
        assert seen == ["silent"]
        assert len(lists) == 1
        cache.stop()


def test_an_event_split_over_several_packets_is_read_whole():
    def script(connection, head):
        if b"watch=1" not in head:
            connection.sendall(reply(b'{"metadata":{"resourceVersion":"7"},"items":[]}'))
            return
        connection.sendall(CHUNKED)
        line = chunk(b'{"type":"ADDED","object":{"metadata":{"namespace":"ns","name":"b","resourceVersion":"9"}}}')
        for begin in range(0, len(line), 7):
            connection.sendall(line[begin : begin + 7])

    with RawServer(script) as server:
        cache = running(cache_of(Endpoint(server.url)))
        until(lambda: cache.get(KIND, Key("ns", "b")))
        cache.stop()


def test_reads_before_the_first_list_are_an_error_and_never_empty():
    with TinyApi() as api:
        api.intercept = lambda seen: (500, {})
        cache = cache_of(api.endpoint)
        with pytest.raises(ApiError, match="CacheNotSynced"):
            cache.list(KIND, "ns")
        with pytest.raises(ApiError, match="CacheNotSynced"):
            cache.get(KIND, Key("ns", "a"))


def test_kinds_that_are_not_watched_and_live_reads_go_to_the_server():
    with TinyApi() as api:
        cache = running(cache_of(api.endpoint))
        count = len(api.seen)
        cache.get(kinds.SECRET, Key("ns", "a"))
        cache.list(kinds.CONFIG_MAP, "ns")
        cache.get(KIND, Key("ns", "a"), live=True)
        assert len([seen for seen in api.seen[count:] if not seen.watches]) == 3
        cache.get(KIND, Key("ns", "a"))
        assert len([seen for seen in api.seen[count:] if not seen.watches]) == 3
        cache.stop()


def test_a_subscriber_that_fails_stops_neither_the_watch_nor_the_others():
    with TinyApi() as api:
        cache = running(cache_of(api.endpoint))
        changes = []

        def broken(change):
            raise RuntimeError("boom")

        cache.kinds[KIND].subscribe(broken)
        cache.kinds[KIND].subscribe(changes.append)
        for name in "ab":
            api.world.create(KIND.new("ns", name))
        until(lambda: len(changes) == 2)
        cache.stop()


def test_an_index_of_a_kind_that_is_not_watched_still_selects():
    with TinyApi() as api:
        for name, consumer in (("a", "m1"), ("b", "m2")):
            spec = {"consumerRef": {"kind": "Metal3Machine", "name": consumer}}
            api.world.put(kinds.BARE_METAL_HOST.new("ns", name, spec=spec))
        cache = cache_of(api.endpoint)
        found = cache.list(kinds.BARE_METAL_HOST, "ns", index=("consumer", "Metal3Machine/m2"))
        assert [host["metadata"]["name"] for host in found] == ["b"]
