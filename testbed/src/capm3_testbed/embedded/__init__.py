"""A Kubernetes API server in this process, over `World`, good enough for kubectl, the Python client and our controller.

A place to try things in, never offered for production: nothing is stored on disk, and every known user may do
everything. Apart from `World`, which has no HTTP. Server-side apply is refused (415); rules in CEL are not run.
"""

from capm3_testbed.embedded.server import EmbeddedServer, new_world

__all__ = ["EmbeddedServer", "new_world"]
