"""Peers for tests of the runtime: a small API server over `World`, and raw sockets that misbehave."""
