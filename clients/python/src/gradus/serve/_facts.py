"""What holds of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["malformed", "infeasible", "feasible", "graded"]

ONLY_COMPONENT = "score"
"""The component of an environment whose `verify` gives a number, and which names none."""


@dataclass(frozen=True)
class Facts:
    """What `verify` found of an answer, where a bool or a number does not say enough."""

    verdict: Verdict
    violation: str = ""
    """What is wrong with the answer, for people; at most 2,000 characters are sent."""
    objective: float | None = None
    """The value of a feasible answer, where there is something to optimise."""
    components: Mapping[str, float | None] = field(default_factory=dict)
    """Of a graded answer: each in [0, 1], or None where it has none here."""
    solved: bool = False
    """Of a graded answer: whether the goal is reached."""
    info: Mapping[str, str] = field(default_factory=dict)
    """More for people to read: at most 16 entries are sent, of 1,000 characters each."""

    @classmethod
    def malformed(cls, why: str) -> Facts:
        """The answer cannot be read."""
        return cls("malformed", violation=why)

    @classmethod
    def infeasible(cls, why: str) -> Facts:
        """The answer is read, and wrong: `why` is the first thing that is wrong with it."""
        return cls("infeasible", violation=why)

    @classmethod
    def feasible(cls, objective: float | None = None) -> Facts:
        """The answer is right. Where the environment has a goal, `objective` is what the answer attains."""
        return cls("feasible", objective=objective)

    @classmethod
    def graded(
        cls, components: Mapping[str, float | None], *, solved: bool | None = None, violation: str = ""
    ) -> Facts:
        """The answer is worth so much of each component. Unless told, it is solved where the first of them is 1."""
        first = next(iter(components.values()), None)
        return cls(
            "graded", violation=violation, components=components, solved=first == 1 if solved is None else solved
        )


class UnavailableError(Exception):
    """Raised by an environment where something that it needs is not there now: no answer is worth less for it."""


class ExhaustedError(Exception):
    """Raised by `generate` where there is no instance for a seed, and never will be."""
