"""Whether a text can be the name of an object, or the value of a label.

Apart from the managers that make names and labels out of what people wrote, so that a text which can't be one is told to
them, instead of being refused by the API server in every pass.
"""

from __future__ import annotations

import re

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
LONGEST_NAME = 253
LONGEST_LABEL = 63


def is_valid(name: str) -> bool:
    """Whether an object may have the name: a DNS subdomain of RFC 1123."""
    return len(name) <= LONGEST_NAME and bool(_NAME.fullmatch(name))


def is_label(value: str) -> bool:
    """Whether a label may have the value."""
    return len(value) <= LONGEST_LABEL and bool(_LABEL.fullmatch(value))
