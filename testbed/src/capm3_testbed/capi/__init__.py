"""A stand-in for Cluster API core: does to the objects what core, the kubeadm bootstrap and control plane providers do.

It is a test double. What it leaves out is named in the docstring of each module; nothing here is meant for production.
"""
