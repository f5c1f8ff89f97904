"""Families, conditions and seeds of the study of sequences, as docs/studies/sequences.md specifies them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sequence_policy import LENGTH_MAX

import gradus
from gradus import Arm, DynamicSampling, Policy

RATE = 1e-3
"""Adam's learning rate for every family and condition, chosen with equal shares of cipher and seed 0 alone."""
PROMPTS, GENERATIONS, UPDATES = 16, 8, 320
EVALUATE_EVERY = 16
"""Updates between two evaluations; in rollouts where a batch may take more of them."""
HELD_OUT = 64
"""Tasks of each length that are held out."""
GROUPS_MAX = 1024
"""Maximum groups of a BatchStep request."""
IMITATION_STEPS, IMITATION_ROWS = 60, 64

LENGTHS = range(1, LENGTH_MAX + 1)


@dataclass(frozen=True)
class Family:
    """One rule on sequences.

    `imitated`: the policy first imitates right answers of length 1. `lengths`: those that are held out, of which the
    last is the longest that the policy reads.
    """

    name: str
    environment: str
    symbols: int
    imitated: bool = False
    lengths: Sequence[int] = LENGTHS

    def arms(self, lengths: Sequence[int] = LENGTHS) -> list[Arm]:
        """Returns an arm for each length."""
        return [
            gradus.arm(self.environment, parameters=self.parameters(length), arm_id=arm_of(length))
            for length in lengths
        ]

    def parameters(self, length: int) -> Mapping[str, float]:
        """Returns the generator's parameters for sequences of this length."""
        return {"length_min": length, "length_max": length, "symbols": self.symbols}


def arm_of(length: int) -> str:
    """Returns the id of a length's arm."""
    return f"length-{length:02}"


def _weights(lengths: Sequence[int]) -> dict[str, float]:
    return {arm_of(length): 1.0 for length in lengths}


@dataclass(frozen=True)
class Condition:
    """One condition of the study: the server's policy and options for the run.

    Attributes
    ----------
    policy
        Function that returns the run's policy, from its seed and the arms' shares in another condition, (arms,).
    needs
        Condition whose mean shares it draws. It is trained after all seeds of that condition.
    options
        More options of the run.
    arms
        Returns the run's arms, from the family of the part.

    """

    name: str
    policy: Callable[[int, Sequence[float]], Policy]
    needs: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    arms: Callable[[Any], list[Arm]] = Family.arms


def _until_mastered(lengths: Sequence[int]) -> Policy:
    """Returns the former `recommended()`, which opens the next length when the newest is mastered."""
    tiers = [_weights([length]) for length in lengths]
    return gradus.competence(*tiers, threshold=0.7, newest_share=0.5, floor=0.1)


def _shuffled(seed: int) -> list[int]:
    return random.Random(f"order {seed}").sample(LENGTHS, LENGTH_MAX)


def _staged() -> Policy:
    return gradus.staged(
        gradus.stage(_weights(range(1, 4)), share=0.3),
        gradus.stage(_weights(range(1, 8)), share=0.4),
        gradus.stage(_weights(LENGTHS), share=0.3),
    )


EQUAL, FRONTIER, OLD = "equal shares", "frontier", "old default"

CONDITIONS: Mapping[str, Condition] = {
    each.name: each
    for each in (
        Condition(EQUAL, lambda _, __: gradus.mixture()),
        # The study ran when the default scale of practice was the prompts of an update.
        Condition(FRONTIER, lambda _, __: gradus.frontier(practice_scale=PROMPTS)),
        Condition(OLD, lambda _, __: _until_mastered(LENGTHS)),
        Condition("staged", lambda _, __: _staged()),
        Condition("bandit", lambda _, __: gradus.bandit()),
        Condition(
            "Thompson, dynamic sampling",
            lambda _, __: gradus.bandit(rule="thompson", signal="mixed_outcomes"),
            options={"dynamic_sampling": DynamicSampling(oversample_max=4)},
        ),
        Condition("shuffled order", lambda seed, _: _until_mastered(_shuffled(seed))),
        Condition("frontier's shares", lambda _, __: gradus.mixture(), needs=FRONTIER),
    )
}


Tasks = TypeVar("Tasks")
"""A part's family of tasks."""


@dataclass(frozen=True)
class Part(Generic[Tasks]):
    """Conditions of one family that are compared with each other."""

    name: str
    family: Tasks
    conditions: Sequence[str]
    seeds: Sequence[int]
    updates: int = UPDATES

    @property
    def rollouts(self) -> int:
        """Number of rollouts of a whole training."""
        return self.updates * PROMPTS * GENERATIONS


_CIPHER = Family("cipher", "sequence/map", 5)
_FOUR = (EQUAL, FRONTIER, OLD, "staged")
_TEN, _FIVE = range(100, 110), range(100, 105)

PARTS: Mapping[str, Part[Family]] = {
    each.name: each
    for each in (
        Part("cipher", _CIPHER, [*CONDITIONS], _TEN),
        Part("cipher, twice as long", _CIPHER, (EQUAL, FRONTIER), _TEN, updates=2 * UPDATES),
        Part("cipher, imitated", Family("cipher", "sequence/map", 5, imitated=True), (EQUAL, FRONTIER), _TEN),
        Part("running sums", Family("running sums", "sequence/running-sum", 3), _FOUR, _FIVE),
        Part("sort", Family("sort", "sequence/sort", 3), _FOUR, _FIVE),
    )
}
