"""The sub-commands of ``capm3`` that need nothing but this package: ``validate``, ``convert``, ``crds``."""
