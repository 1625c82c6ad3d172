"""``python -m capm3_controller``."""

from __future__ import annotations

from capm3_controller import cli

raise SystemExit(cli.main())
