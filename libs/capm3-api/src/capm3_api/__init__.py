"""Typed objects of Cluster API Provider Metal3: every version, conversion, validation and CRDs.

Pure: no network, no clock, no files but the generated CRDs that ship with the package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from capm3_api.conversion import ConversionError as ConversionError
    from capm3_api.conversion import convert as convert


def __getattr__(name: str) -> Any:
    """``capm3_api.convert`` and its error, loaded when they are first asked for: most users need other parts."""
    if name in ("convert", "ConversionError"):
        from capm3_api import conversion

        return getattr(conversion, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
