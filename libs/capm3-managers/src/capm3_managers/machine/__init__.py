"""The manager of Metal3Machine.

A package of its own like every manager: `snapshot` is what a pass looks at, `observe` reads it, `decide` lists the steps.
Left out, and refused by name where a user could ask for it: node reuse for control planes other than KubeadmControlPlane
(their hosts are released like any other).
"""

from __future__ import annotations

from capm3_api import kinds

from capm3_managers.machine.decide import decide
from capm3_managers.machine.observe import observe
from capm3_managers.manager import Manager

MANAGER = Manager("metal3machine", kinds.METAL3_MACHINE, observe, decide)
