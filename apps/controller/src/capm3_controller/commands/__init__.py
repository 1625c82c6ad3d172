"""The sub-commands of ``capm3`` that ask a cluster: ``explain`` and ``tree``. They only read."""
