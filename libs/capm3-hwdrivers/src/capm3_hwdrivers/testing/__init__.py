"""Stand-ins for servers' BMCs: sushy-tools in its own process, and a small Redfish server with faults.

Part of the package, so that the contract suite, the testbed and people who write a driver use the same ones.
"""
