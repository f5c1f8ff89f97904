"""A harness that asks the model from this process, once a turn. verifiers' own programs would install packages."""

from __future__ import annotations

from gradus.verifiers import GradusHarness

__all__ = ["InProcessHarness"]


class InProcessHarness(GradusHarness):
    """Requests a chat completion for the conversation so far."""

    SUPPORTS_RESUME = True
