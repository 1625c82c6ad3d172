"""Helpers for scenarios: a namespace of a running stack with its own servers, and the questions stories ask of it."""
