"""Which Metal3DataTemplate a changed claim or data object concerns.

Apart from the watch table, which says what is watched: this says what it maps to.
"""

from __future__ import annotations

from collections.abc import Sequence

from capm3_api import meta
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers import hosts
from capm3_managers.ports import Reader


def template_of(obj: Raw, reader: Reader) -> Sequence[Key]:
    """The template in ``spec.template``, always in the object's own namespace."""
    name = hosts.text(obj, "spec", "template", "name")
    return [Key(meta.key_of(obj).namespace, name)] if name else []
