"""The Redfish driver, on sushy's connector and authentication.

Bodies are read by pure functions that stand what vendors really send; see each module for the vendors' differences.
"""
