"""Facts about an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["malformed", "infeasible", "feasible", "graded"]

ONLY_COMPONENT = "score"
"""Component of an environment whose `verify` returns a number, if it names none."""


@dataclass(frozen=True)
class Facts:
    """Result of `verify`, if a bool or a number does not say enough."""

    verdict: Verdict
    violation: str = ""
    """Error in the answer, for people. At most 2,000 characters are sent."""
    objective: float | None = None
    """Value of a feasible answer, if there is an objective."""
    components: Mapping[str, float | None] = field(default_factory=dict)
    """Components of a graded answer, each in [0, 1]; None: the component does not apply."""
    solved: bool = False
    """Whether a graded answer reaches the goal."""
    info: Mapping[str, str] = field(default_factory=dict)
    """Further facts for people. At most 16 entries are sent, of 1,000 characters each."""

    @classmethod
    def malformed(cls, why: str) -> Facts:
        """Returns facts about an answer that cannot be read."""
        return cls("malformed", violation=why)

    @classmethod
    def infeasible(cls, why: str) -> Facts:
        """Returns facts about a wrong answer. `why` is the first error in it."""
        return cls("infeasible", violation=why)

    @classmethod
    def feasible(cls, objective: float | None = None) -> Facts:
        """Returns facts about a right answer. With a goal, `objective` is the value that the answer reaches."""
        return cls("feasible", objective=objective)

    @classmethod
    def graded(
        cls, components: Mapping[str, float | None], *, solved: bool | None = None, violation: str = ""
    ) -> Facts:
        """Returns facts about an answer with graded components.

        By default it is solved if the first component is 1.
        """
        first = next(iter(components.values()), None)
        return cls(
            "graded", violation=violation, components=components, solved=first == 1 if solved is None else solved
        )


class MisshapenError(Exception):
    """An environment returns an invalid result, e.g. NaN, or has an invalid declaration."""


class UnavailableError(Exception):
    """An environment raises this if a service that it needs is down. Answers then get no reward, rather than 0."""


class ExhaustedError(Exception):
    """`generate` raises this if a seed has no instance and never will."""
