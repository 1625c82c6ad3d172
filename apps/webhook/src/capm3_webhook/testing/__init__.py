"""Helpers for tests of the webhooks, here and in other packages."""
