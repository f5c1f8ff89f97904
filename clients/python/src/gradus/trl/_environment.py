"""Environments for TRL's `environment_factory`."""

from __future__ import annotations

from typing import Any


class AnswerEnvironment:
    """TODO."""


class Environments:
    """TODO."""

    def __init__(self, rewards: Any) -> None:
        self._rewards = rewards

    def make(self) -> AnswerEnvironment:
        """TODO."""
        return AnswerEnvironment()
