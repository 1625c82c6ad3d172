"""The decisions of Cluster API Provider Metal3, pure: one manager a kind, read by `observe`, judged by `decide`.

Nothing here touches the network, a clock, randomness, the environment, threads or logs: an import fence says so.
"""
