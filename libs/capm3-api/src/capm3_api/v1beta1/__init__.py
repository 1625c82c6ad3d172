"""The nine kinds in v1beta1, the deprecated version that is still served.

Apart from v1beta2, which is stored and works; an object in this version is only read, converted and written.
"""

from __future__ import annotations

from collections.abc import Mapping

from capm3_api.meta import Object
from capm3_api.v1beta1.metal3cluster import Metal3Cluster
from capm3_api.v1beta1.metal3clustertemplate import Metal3ClusterTemplate
from capm3_api.v1beta1.metal3data import Metal3Data
from capm3_api.v1beta1.metal3dataclaim import Metal3DataClaim
from capm3_api.v1beta1.metal3datatemplate import Metal3DataTemplate
from capm3_api.v1beta1.metal3machine import Metal3Machine
from capm3_api.v1beta1.metal3machinetemplate import Metal3MachineTemplate
from capm3_api.v1beta1.metal3remediation import Metal3Remediation
from capm3_api.v1beta1.metal3remediationtemplate import Metal3RemediationTemplate

KINDS: Mapping[str, type[Object]] = {
    model.KIND: model
    for model in (
        Metal3Cluster,
        Metal3ClusterTemplate,
        Metal3Machine,
        Metal3MachineTemplate,
        Metal3DataTemplate,
        Metal3Data,
        Metal3DataClaim,
        Metal3Remediation,
        Metal3RemediationTemplate,
    )
}
"""The type of each kind by its name."""
