"""How TRL goes through tasks, in numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Shape:
    """The batches of a trainer.

    Attributes
    ----------
    prompts
        Tasks of a generation batch, over all ranks: completions are written for so many at once.
    repeats
        Micro-batches that a generation batch is used for (steps_per_generation times num_iterations).
    accumulated
        Micro-batches of an optimizer step (gradient_accumulation_steps).

    """

    prompts: int
    repeats: int
    accumulated: int

    @staticmethod
    def of(args: Any) -> Shape:
        """The shape that a GRPOConfig or RLOOConfig makes."""
        return Shape(
            prompts=args.generation_batch_size // args.num_generations,
            repeats=args.steps_per_generation * args.num_iterations,
            accumulated=args.gradient_accumulation_steps,
        )

    @property
    def tasks_per_step(self) -> Fraction:
        """Tasks that an optimizer step goes on by."""
        return Fraction(self.prompts * self.accumulated, self.repeats)

    @property
    def taken_at_once(self) -> int:
        """Generation batches that the trainer takes before it uses the first of them."""
        return math.ceil(self.accumulated / self.repeats)

    def is_boundary(self, step: int) -> bool:
        """Whether the optimizer step of this number ends where a generation batch does."""
        return step * self.accumulated % self.repeats == 0

    def lag_wanted(self, prompts_per_update: int) -> int:
        """The least `feedback_lag`, in update batches, with which the trainer never waits for itself.

        Before optimizer step u, from 0, it has taken micro-batches 0 to (u + 1) · accumulated: those of the step, and
        one more, for its data loader reads one ahead. Scores came in for the generation batches that were begun in
        the steps before.
        """
        period = self.repeats * prompts_per_update
        return max(self._lag_at(step, prompts_per_update) for step in range(period + 1))

    def _lag_at(self, step: int, prompts_per_update: int) -> int:
        taken = ((step + 1) * self.accumulated // self.repeats + 1) * self.prompts
        scored = math.ceil(step * self.accumulated / self.repeats) * self.prompts
        last_batch = (taken - 1) // prompts_per_update
        return last_batch - scored // prompts_per_update
