"""The kinds that this project reads or writes, in the version it uses.

A table, so that the runtime, the testbed and the managers name a kind in one way.
"""

from __future__ import annotations

from capm3_api.meta import Kind

INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io"
METAL3_IPAM = "ipam.metal3.io"
METAL3 = "metal3.io"
CAPI = "cluster.x-k8s.io"
CAPI_IPAM = "ipam.cluster.x-k8s.io"
CAPI_CONTROL_PLANE = "controlplane.cluster.x-k8s.io"
CAPI_BOOTSTRAP = "bootstrap.cluster.x-k8s.io"

METAL3_CLUSTER = Kind(INFRASTRUCTURE, "v1beta2", "Metal3Cluster", "metal3clusters")
METAL3_CLUSTER_TEMPLATE = Kind(INFRASTRUCTURE, "v1beta2", "Metal3ClusterTemplate", "metal3clustertemplates")
METAL3_MACHINE = Kind(INFRASTRUCTURE, "v1beta2", "Metal3Machine", "metal3machines")
METAL3_MACHINE_TEMPLATE = Kind(INFRASTRUCTURE, "v1beta2", "Metal3MachineTemplate", "metal3machinetemplates")
METAL3_DATA_TEMPLATE = Kind(INFRASTRUCTURE, "v1beta2", "Metal3DataTemplate", "metal3datatemplates")
METAL3_DATA = Kind(INFRASTRUCTURE, "v1beta2", "Metal3Data", "metal3datas")
METAL3_DATA_CLAIM = Kind(INFRASTRUCTURE, "v1beta2", "Metal3DataClaim", "metal3dataclaims")
METAL3_REMEDIATION = Kind(INFRASTRUCTURE, "v1beta2", "Metal3Remediation", "metal3remediations")
METAL3_REMEDIATION_TEMPLATE = Kind(INFRASTRUCTURE, "v1beta2", "Metal3RemediationTemplate", "metal3remediationtemplates")

BARE_METAL_HOST = Kind(METAL3, "v1alpha1", "BareMetalHost", "baremetalhosts")
HARDWARE_DATA = Kind(METAL3, "v1alpha1", "HardwareData", "hardwaredata")

IP_POOL = Kind(METAL3_IPAM, "v1alpha1", "IPPool", "ippools")
IP_CLAIM = Kind(METAL3_IPAM, "v1alpha1", "IPClaim", "ipclaims")
IP_ADDRESS = Kind(METAL3_IPAM, "v1alpha1", "IPAddress", "ipaddresses")

CLUSTER = Kind(CAPI, "v1beta2", "Cluster", "clusters")
MACHINE = Kind(CAPI, "v1beta2", "Machine", "machines")
MACHINE_SET = Kind(CAPI, "v1beta2", "MachineSet", "machinesets")
MACHINE_DEPLOYMENT = Kind(CAPI, "v1beta2", "MachineDeployment", "machinedeployments")
KUBEADM_CONTROL_PLANE = Kind(CAPI_CONTROL_PLANE, "v1beta2", "KubeadmControlPlane", "kubeadmcontrolplanes")
KUBEADM_CONFIG = Kind(CAPI_BOOTSTRAP, "v1beta2", "KubeadmConfig", "kubeadmconfigs")
KUBEADM_CONFIG_TEMPLATE = Kind(CAPI_BOOTSTRAP, "v1beta2", "KubeadmConfigTemplate", "kubeadmconfigtemplates")
CAPI_IP_ADDRESS_CLAIM = Kind(CAPI_IPAM, "v1beta2", "IPAddressClaim", "ipaddressclaims")
CAPI_IP_ADDRESS = Kind(CAPI_IPAM, "v1beta2", "IPAddress", "ipaddresses")

SECRET = Kind("", "v1", "Secret", "secrets")
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps")
NODE = Kind("", "v1", "Node", "nodes", namespaced=False)
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
EVENT = Kind("", "v1", "Event", "events")
LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases")
CRD = Kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", namespaced=False)

OURS = (
    METAL3_CLUSTER,
    METAL3_CLUSTER_TEMPLATE,
    METAL3_MACHINE,
    METAL3_MACHINE_TEMPLATE,
    METAL3_DATA_TEMPLATE,
    METAL3_DATA,
    METAL3_DATA_CLAIM,
    METAL3_REMEDIATION,
    METAL3_REMEDIATION_TEMPLATE,
)
"""The nine kinds of the project's own API group."""
