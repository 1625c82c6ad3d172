"""The Metal3DataTemplate manager: answers each Metal3DataClaim with a Metal3Data that has an index of its own.

Apart from the Metal3Data's manager, which renders: indexes belong to the template, and are handed out in one place.
"""

from __future__ import annotations

from capm3_api import kinds

from capm3_managers.datatemplate.decide import decide
from capm3_managers.datatemplate.observe import observe
from capm3_managers.manager import Manager

MANAGER = Manager("metal3datatemplate", kinds.METAL3_DATA_TEMPLATE, observe, decide)
