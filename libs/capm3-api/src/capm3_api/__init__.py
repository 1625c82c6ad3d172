"""Typed objects of Cluster API Provider Metal3: every version, conversion, validation and CRDs.

Pure: no network, no clock, no files but the generated CRDs that ship with the package.
"""
