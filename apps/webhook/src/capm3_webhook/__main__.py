"""``python -m capm3_webhook`` is the program ``capm3-webhook``."""

from capm3_webhook.cli import main

raise SystemExit(main())
