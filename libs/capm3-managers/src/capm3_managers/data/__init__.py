"""The Metal3Data manager: claims the addresses a template asks for, renders its two Secrets, and gives all back.

Apart from the data template's manager, which only hands out indexes: this one looks at one machine and its host.
"""

from __future__ import annotations

from capm3_api import kinds

from capm3_managers.data.decide import decide
from capm3_managers.data.observe import observe
from capm3_managers.manager import Manager

MANAGER = Manager("metal3data", kinds.METAL3_DATA, observe, decide)
