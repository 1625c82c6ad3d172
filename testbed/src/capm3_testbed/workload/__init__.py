"""Workload clusters: an API server for each Cluster, and a stand-in for the kubelets of its machines."""
