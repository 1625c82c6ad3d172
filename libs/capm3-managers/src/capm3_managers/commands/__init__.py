"""The sub-commands of ``capm3`` that need the managers' knowledge and no cluster: ``render``."""
