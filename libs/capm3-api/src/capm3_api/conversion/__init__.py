"""Conversion of the nine kinds between v1beta1 and v1beta2, pure and without loss.

`convert` is all that others need; see the modules for how it works (architecture: hub and spoke, v1beta2 is the hub).
"""

from __future__ import annotations

from capm3_api.conversion.hub import convert
from capm3_api.conversion.machinery import ConversionError

__all__ = ["ConversionError", "convert"]
