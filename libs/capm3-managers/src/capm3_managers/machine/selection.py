"""Chooses the host for a machine: which are fit, which of them is taken, and what to say when there is none.

Apart from `associate`, which claims what was chosen here: a choice is a pure question about a list of hosts. Behaviour
facts on CAPM3 5.2.6; reports B02 and B05.
"""

from __future__ import annotations

import collections
import dataclasses
import random
from collections.abc import Sequence

from capm3_api import meta, names
from capm3_api.model import Raw
from capm3_api.selectors import Selector

from capm3_managers import hosts


@dataclasses.dataclass(frozen=True)
class Wish:
    """What a machine wants.

    Args:
        failure_domain: ``""`` for any.
        domain_required: wait rather than take a host of another domain.
        reuse_name: ``cp-<name>`` or ``md-<name>`` of the machine's owner, ``""`` when it has none.
    """

    selector: Selector = Selector()
    failure_domain: str = ""
    domain_required: bool = False
    reuse_name: str = ""


@dataclasses.dataclass(frozen=True)
class Choice:
    """The answer.

    Args:
        host: ``None``: wait.
        via_reuse: the host was kept for this machine's owner.
        note: for the condition's message: a fallback to another failure domain, or why there is no host.
        domain_missing: hosts are free, but none in the required failure domain.
        problem: what is wrong with the wish, so that no host can ever be chosen.
    """

    host: Raw | None = None
    via_reuse: bool = False
    note: str = ""
    domain_missing: bool = False
    problem: str = ""


def choose(kept: Sequence[Raw], free: Sequence[Raw], wish: Wish, rng: random.Random) -> Choice:
    """Chooses among hosts that are kept for node reuse, and free ones.

    As in the Go program, a machine waits while any host kept for its owner is still being cleaned.
    """
    ours = [
        host for host in kept if _fits(host, wish) and wish.reuse_name and hosts.reuse_name(host) == wish.reuse_name
    ]
    ours = [host for host in ours if not hosts.blemish(host)]
    pending = [host for host in ours if hosts.state(host) not in hosts.FREE_STATES]
    if pending:
        first = pending[0]
        note = f"host {meta.key_of(first).name} is kept for {wish.reuse_name} and still {hosts.state(first) or 'new'}"
        return Choice(note=note)
    if ours:
        return dataclasses.replace(_pick(ours, wish, rng), via_reuse=True)
    fit = (host for host in rng.sample(free, len(free)) if _fits(host, wish) and not hosts.refusal(host))
    if not wish.failure_domain:
        return Choice(next(fit, None))  # one that fits is enough: not every machine judges every host
    found = list(fit)
    return _pick(found, wish, rng) if found else Choice()


def is_still_right(choice: Choice) -> bool:
    """Whether the chosen host, read again, is as it was when it was chosen."""
    host = choice.host
    if host is None or not choice.via_reuse:
        return host is not None and not hosts.refusal(host)
    return bool(hosts.reuse_name(host)) and not hosts.blemish(host) and hosts.state(host) in hosts.FREE_STATES


def summary(all_hosts: Sequence[Raw], wish: Wish) -> str:
    """Why none of the hosts of a namespace can be had: ``7 hosts: 3 in use, 2 with other labels``."""
    counts = collections.Counter(_verdict(host, wish) for host in all_hosts)
    if not counts:
        return "there are no hosts"
    told = ", ".join(f"{count} {word}" for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return f"{len(all_hosts)} host{'s' if len(all_hosts) > 1 else ''}: {told}"


def _verdict(host: Raw, wish: Wish) -> str:
    if not _fits(host, wish):
        return "with other labels"
    return hosts.refusal(host) or "free"


def _fits(host: Raw, wish: Wish) -> bool:
    if not wish.selector.requirements:
        return True
    return wish.selector.matches({name: str(value) for name, value in hosts.labels(host).items()})


def _pick(fit: Sequence[Raw], wish: Wish, rng: random.Random) -> Choice:
    """One at random, of the wanted failure domain if there is any."""
    domain = wish.failure_domain
    inside = [host for host in fit if hosts.labels(host).get(names.FAILURE_DOMAIN_LABEL) == domain]
    if not domain:
        return Choice(rng.choice(fit))
    if inside:
        return Choice(rng.choice(inside))
    if wish.domain_required:
        return Choice(note=f'{len(fit)} free, but none in failure domain "{domain}"', domain_missing=True)
    host = rng.choice(fit)
    real = hosts.labels(host).get(names.FAILURE_DOMAIN_LABEL)
    where = f'in failure domain "{real}"' if real else "in no failure domain"
    return Choice(host, note=f'no host is free in failure domain "{domain}": {meta.key_of(host).name} is {where}')
