"""Types by which environments define tasks of several turns: tools, calls and their results."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gradus.serve._facts import Facts


@dataclass(frozen=True)
class Tool:
    """A tool that the language model may call."""

    name: str
    """1 to 64 letters, digits, "_" and "-"."""
    description: str = ""
    """Description for the language model."""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})
    """JSON Schema of the arguments, an object. Arguments that break it never reach `advance`."""


@dataclass(frozen=True)
class Action:
    """A call that the language model makes: of a tool, or an answer."""

    number: int
    """Number of the call in the episode, counted from 0."""
    tool: str
    """Name of the tool. Empty: the call is an answer."""
    arguments: Mapping[str, Any]
    """Arguments of the tool. Empty for an answer."""
    text: str
    """Text of the answer, without its marks. Empty for a tool."""
    seed: int
    """Seed of the call. Equal for every attempt at the same call of the same sample."""

    @cached_property
    def rng(self) -> random.Random:
        """Random generator of the call. `advance` must use no other random numbers."""
        return random.Random(self.seed)


class _Keep:
    """Type of `KEEP`."""

    def __repr__(self) -> str:
        return "KEEP"


KEEP: Any = _Keep()
"""Value of `Turn.state`: the new state is the object that `advance` was given, with any changes made to it."""


@dataclass(frozen=True)
class Turn:
    """Result of a call."""

    reply: str
    """Reply to the language model, at most 64 KiB, without the solution; if a call is invalid, the reason."""
    state: Any = KEEP
    """State after the call.

    Default: the object that `advance` was given, with any changes that `advance` made to it.
    """
    over: bool = False
    """Whether the call ends the episode."""
    result: bool | float | Facts | None = None
    """Result of the call, like that of `verify`: whether it reaches the goal, a number in [0, 1], or Facts.

    None: the call has no reward of its own.
    """
