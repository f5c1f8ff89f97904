"""Plan of the study of growth: families, conditions and seeds, as docs/studies/growth.md specifies them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sequence_plan import Condition, Family, Part

import gradus
from gradus import Arm

CAP = 20
"""Longest sequence of an arm that grows, and of the wide range."""
SCORED = 10
"""The primary measure is over the lengths 1 to SCORED."""

GROW, FITTING = "grow", "frontier, 1 to 10"
EQUAL, WIDE = "equal shares, 1 to 10", "equal shares, 1 to 20"


def _growing(family: Family) -> list[Arm]:
    """One arm, which opens the lengths from 1 on."""
    growth = gradus.grow("length", start=1, step=1, cap=CAP)
    symbols = {"symbols": family.symbols}
    return [gradus.arm(family.environment, parameters=symbols, grow=growth, arm_id=family.name)]


def _lengths_to(last: int) -> Callable[[Family], list[Arm]]:
    return lambda family: family.arms(range(1, last + 1))


CONDITIONS: Mapping[str, Condition] = {
    each.name: each
    for each in (
        Condition(GROW, lambda _, __: gradus.frontier(), arms=_growing),
        Condition(FITTING, lambda _, __: gradus.frontier(), arms=_lengths_to(SCORED)),
        Condition(EQUAL, lambda _, __: gradus.mixture(), arms=_lengths_to(SCORED)),
        Condition(WIDE, lambda _, __: gradus.mixture(), arms=_lengths_to(CAP)),
    )
}

_SEEDS = range(200, 210)
_LENGTHS = range(1, CAP + 1)

PARTS: Mapping[str, Part[Family]] = {
    each.name: each
    for each in (
        Part("cipher", Family("cipher", "sequence/map", 5, lengths=_LENGTHS), [*CONDITIONS], _SEEDS),
        Part("sums", Family("sums", "sequence/running-sum", 3, lengths=_LENGTHS), [*CONDITIONS], _SEEDS),
    )
}
