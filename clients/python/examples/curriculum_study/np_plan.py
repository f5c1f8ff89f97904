"""Plan of the NP-hard part of the study of growth: problems, conditions and seeds, as docs/studies/growth.md says."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from experiment import Settings
from model import Size
from packing import items_language, list_language
from sequence_plan import EVALUATE_EVERY, HELD_OUT, IMITATION_ROWS, IMITATION_STEPS, Condition, Part
from tokens import Language, UnreadError

import gradus
from gradus import Arm, TaskSpec
from gradus.enums import Split

SCORED, WIDE = 5, 10
"""Values of an axis, from its first, over which the score is, and those of the wide range."""
RISE, SEEDS_RISEN = 0.10, 2
"""A problem counts as learnt if its score rises by RISE in so many seeds of the pilot."""


@dataclass(frozen=True)
class Problem:
    """An environment with a growth axis.

    Attributes
    ----------
    axis, first
        Name of the axis, which is also a key of the tasks' metadata, and its first value.
    parameters
        Function that returns the parameters that a value of the axis sets.
    held_out
        Number of values, from the first, that are evaluated and counted.

    """

    name: str
    axis: str
    first: int
    parameters: Callable[[int], Mapping[str, float]]
    language: Language
    held_out: int = SCORED

    @property
    def environment(self) -> str:
        """The environment's id."""
        return f"np/{self.name}"

    def values(self, count: int) -> range:
        """Returns the first values of the axis."""
        return range(self.first, self.first + count)

    def spec(self, value: int, split: Split) -> TaskSpec:
        """Returns the task spec of a value."""
        return gradus.task_spec(
            self.environment, parameters=self.parameters(value), split=split, answer_format="answer_tag"
        )

    def settings(self, updates: int) -> Settings:
        """Returns settings of a policy of 0.1 million parameters."""
        return Settings(
            Size(self.language, width=48, layers=2),
            start_rows=HELD_OUT,
            start_steps=IMITATION_STEPS,
            start_batch=IMITATION_ROWS,
            updates=updates,
            evaluate_every=EVALUATE_EVERY,
            temperature=1,
            samples=1,
            curve_samples=1,
            held_out=HELD_OUT,
        )


def _ends(**sizes: int) -> dict[str, float]:
    return {f"{name}_{end}": size for name, size in sizes.items() for end in ("min", "max")}


_GROUP = 5
"""Vertices whose edges to a vertex are one number, bit by bit."""
_ROW = re.compile(r"^(\d+):([ \d]*)$", re.MULTILINE)


def _read_graph(text: str) -> Sequence[int | None]:
    """Returns the number of vertices, and the edges of each to lower ones, of five of them in a number."""
    rows = _ROW.findall(text[text.rfind("Your task:") :])
    if not rows:
        raise UnreadError(f"not a prompt of clique: {text[:80]!r}")
    neighbours = [{int(each) for each in joined.split()} for _, joined in rows]
    # A smaller graph has the same places as a larger one. A number for each pair takes three times as long to read.
    groups = [(b, range(start, min(start + _GROUP, b))) for b in range(len(rows)) for start in range(0, b, _GROUP)]
    return [len(rows), *(sum(2**i for i, a in enumerate(group) if a in neighbours[b]) for b, group in groups)]


_VERTICES = 6
_VERTICES_MAX = _VERTICES + WIDE - 1
_ITEMS = 4
_OF_ITEMS = items_language(_ITEMS + WIDE - 1)
_OF_GRAPHS = list_language(1 + sum(-(-b // _GROUP) for b in range(_VERTICES_MAX)), _VERTICES_MAX, _read_graph)

PROBLEMS = (
    Problem("subset-sum", "numbers", _ITEMS, lambda n: _ends(numbers=n, planted=math.ceil(n / 2)), _OF_ITEMS),
    Problem("knapsack", "items", _ITEMS, lambda n: _ends(items=n, planted=round(0.4 * n)), _OF_ITEMS),
    Problem("clique", "vertices", _VERTICES, lambda n: _ends(vertices=n), _OF_GRAPHS),
)
"""In the order in which the first that is learnt is chosen."""


def _first(count: int) -> Callable[[Problem], list[Arm]]:
    return lambda problem: [
        gradus.arm(problem.environment, parameters=problem.parameters(value), arm_id=f"value-{value:02}")
        for value in problem.values(count)
    ]


def _growing(problem: Problem) -> list[Arm]:
    growth = gradus.grow(problem.axis, start=problem.first, step=1, cap=problem.values(WIDE)[-1])
    return [gradus.arm(problem.environment, grow=growth, arm_id=problem.name)]


NP_GROW, NP_FITTING = "grow to 10 values", "frontier, 5 values"
NP_EQUAL, NP_WIDE = "equal shares, 5 values", "equal shares, 10 values"

NP_CONDITIONS: Mapping[str, Condition] = {
    each.name: each
    for each in (
        Condition(NP_GROW, lambda _, __: gradus.frontier(), arms=_growing),
        Condition(NP_FITTING, lambda _, __: gradus.frontier(), arms=_first(SCORED)),
        Condition(NP_EQUAL, lambda _, __: gradus.mixture(), arms=_first(SCORED)),
        Condition(NP_WIDE, lambda _, __: gradus.mixture(), arms=_first(WIDE)),
    )
}

PILOT: Mapping[str, Part[Problem]] = {
    each.name: each for each in (Part(f"pilot, {problem.name}", problem, [NP_EQUAL], range(3)) for problem in PROBLEMS)
}

_LEARNT = PROBLEMS[1]
"""First problem that the pilot found learnt. A training took more than 40 s of one core, so there are five seeds."""

NP_PARTS: Mapping[str, Part[Problem]] = {
    _LEARNT.name: Part(_LEARNT.name, replace(_LEARNT, held_out=WIDE), [*NP_CONDITIONS], range(300, 305))
}
