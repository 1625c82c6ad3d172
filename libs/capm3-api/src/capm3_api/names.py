"""Finalizers, labels and annotations: the strings of the wire contract, each once.

Source: the behaviour facts on CAPM3 section 6, on the Baremetal Operator and on IPAM.
"""

from __future__ import annotations

# Finalizers
CLUSTER_FINALIZER = "metal3cluster.infrastructure.cluster.x-k8s.io"
MACHINE_FINALIZER = "metal3machine.infrastructure.cluster.x-k8s.io"
DATA_TEMPLATE_FINALIZER = "metal3datatemplate.infrastructure.cluster.x-k8s.io"
DATA_CLAIM_FINALIZER = "metal3dataclaim.infrastructure.cluster.x-k8s.io"
DATA_FINALIZER = "metal3data.infrastructure.cluster.x-k8s.io"
REMEDIATION_FINALIZER = "metal3remediation.infrastructure.cluster.x-k8s.io"
HOST_FINALIZER = "baremetalhost.metal3.io"

# Cluster API
CLUSTER_NAME_LABEL = "cluster.x-k8s.io/cluster-name"
PAUSED_ANNOTATION = "cluster.x-k8s.io/paused"
MANAGED_BY_ANNOTATION = "cluster.x-k8s.io/managed-by"
WATCH_FILTER_LABEL = "cluster.x-k8s.io/watch-filter"
CLONED_FROM_NAME_ANNOTATION = "cluster.x-k8s.io/cloned-from-name"
CLONED_FROM_GROUP_KIND_ANNOTATION = "cluster.x-k8s.io/cloned-from-groupkind"
CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane"
BLOCK_MOVE_ANNOTATION = "clusterctl.cluster.x-k8s.io/block-move"

# Metal3
HOST_ANNOTATION = "metal3.io/BareMetalHost"
HOST_PAUSED_ANNOTATION = "baremetalhost.metal3.io/paused"
HOST_PAUSED_BY_US = "metal3.io/capm3"
HOST_DETACHED_ANNOTATION = "baremetalhost.metal3.io/detached"
HOST_STATUS_ANNOTATION = "baremetalhost.metal3.io/status"
UNHEALTHY_ANNOTATION = "capm3.metal3.io/unhealthy"
UNHEALTHY_OLD_ANNOTATION = "capi.metal3.io/unhealthy"
LABEL_SYNC_PREFIXES_ANNOTATION = "metal3.io/metal3-label-sync-prefixes"
CONVERSION_DATA_ANNOTATION = "cluster.x-k8s.io/conversion-data"
NODE_UUID_LABEL = "metal3.io/uuid"
NODE_REUSE_LABEL = "infrastructure.cluster.x-k8s.io/node-reuse"
FAILURE_DOMAIN_LABEL = "infrastructure.cluster.x-k8s.io/failure-domain"
DATA_NAME_LABEL = "infrastructure.cluster.x-k8s.io/data-name"
POOL_NAME_LABEL = "infrastructure.cluster.x-k8s.io/pool-name"
RENDERED_SECRET_TYPE = "infrastructure.cluster.x-k8s.io/secret"  # noqa: S105 (a type of Secret, not a password)
PROVIDER_ID_PREFIX = "metal3://"

FIELD_MANAGER = "cluster-api-provider-metal3-manager"
