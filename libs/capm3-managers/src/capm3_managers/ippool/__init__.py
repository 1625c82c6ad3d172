"""The IPPool manager: gives addresses to the claims of a pool, in place of the Metal3 ip-address-manager.

Apart from the Metal3Data's manager, which claims addresses of whatever provider a template names.
"""

from __future__ import annotations

from capm3_api import kinds

from capm3_managers.ippool.decide import decide
from capm3_managers.ippool.observe import observe
from capm3_managers.manager import Manager

MANAGER = Manager("ippool", kinds.IP_POOL, observe, decide)
