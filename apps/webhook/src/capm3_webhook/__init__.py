"""Admission and conversion webhooks of Cluster API Provider Metal3 over HTTPS.

An own package, so that it can run as its own image without any code that changes things; `serve` also runs it inside
the controller's process and in the testbed.
"""

from capm3_webhook.server import Running, serve
from capm3_webhook.settings import Settings, SettingsError

__all__ = ["Running", "Settings", "SettingsError", "serve"]
