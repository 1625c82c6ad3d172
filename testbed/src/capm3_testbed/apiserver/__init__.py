"""The tier ``apiserver``: a real kube-apiserver and etcd, found or built, run as plain processes on loopback."""
