"""The manager of Metal3Cluster.

A package of its own like every manager: `snapshot` is what a pass looks at, `observe` reads it, `decide` judges it.
"""

from __future__ import annotations

from capm3_api import kinds

from capm3_managers.cluster.decide import decide
from capm3_managers.cluster.observe import observe
from capm3_managers.manager import Manager

MANAGER = Manager("metal3cluster", kinds.METAL3_CLUSTER, observe, decide)
