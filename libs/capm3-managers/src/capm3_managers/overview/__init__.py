"""What people see of a cluster: the state of each object, the tree they form, and the chain from a wait to its cause.

Pure, and judging only what objects say of themselves: the managers decide, this reads what they decided. Apart from them,
because ``capm3 explain``, ``capm3 tree`` and the demo need the view of all kinds at once, other programs' included.
"""
