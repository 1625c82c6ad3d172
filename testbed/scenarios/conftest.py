"""One running stack for each tier and test session, and a story of its own for each test."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest
from capm3_testbed.apiserver import binaries
from capm3_testbed.stack import Stack
from capm3_testbed.testing.story import Story
from capm3_testbed.tiers import TIERS

SERVERS = 4
_numbers = itertools.count(1)
TIER_PARAMS = [pytest.param("embedded"), pytest.param("apiserver", marks=pytest.mark.apiserver)]


@pytest.fixture(scope="session", params=TIER_PARAMS)
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """Everything, with one controller."""
    yield from start(request.param)


@pytest.fixture(scope="session")
def embedded(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """The same, on the embedded tier only: for stories that say nothing about the API server."""
    yield from start("embedded")


def start(tier: str, flags: tuple[str, ...] | None = ()) -> Iterator[Stack]:
    if tier == "apiserver" and binaries.look() is None:
        pytest.skip("etcd and kube-apiserver are not here; build them with: capm3-testbed binaries")
    with Stack(TIERS[tier](), SERVERS, flags) as running:
        yield running.start()


@pytest.fixture
def story(stack: Stack) -> Iterator[Story]:
    """A namespace on the tier, emptied afterwards."""
    yield from begin(stack)


@pytest.fixture
def small(embedded: Stack) -> Iterator[Story]:
    """A namespace on the embedded tier, emptied afterwards."""
    yield from begin(embedded)


def begin(stack: Stack) -> Iterator[Story]:
    told = Story(stack, f"story-{next(_numbers)}", stack.fleet.servers)
    yield told
    told.remove()


@pytest.fixture
def new_stack() -> Iterator[Callable[..., Stack]]:
    """Starts a stack of the test's own: ``new_stack(tier, flags)``."""
    running = []

    def make(tier: str, flags: tuple[str, ...] | None = ()) -> Stack:
        generator = start(tier, flags)
        running.append(generator)
        return next(generator)

    yield make
    for generator in running:
        next(generator, None)
