"""Fixtures: the real Gradus server."""

from real_server import start_server

__all__ = ["start_server"]
