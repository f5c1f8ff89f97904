"""Computes when TRL takes tasks of a run, and how many, and checks TRL's settings for the run."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gradus.runs import RunConfig


@dataclass(frozen=True)
class Shape:
    """Sizes of a trainer's batches.

    Attributes
    ----------
    prompts
        Number of tasks in a generation batch over all ranks, whose completions are written together.
    repeats
        Number of micro-batches that use a generation batch (steps_per_generation times num_iterations).
    accumulated
        Number of micro-batches in an optimizer step (gradient_accumulation_steps).

    """

    prompts: int
    repeats: int
    accumulated: int

    @staticmethod
    def of(args: Any) -> Shape:
        """Returns the shape of a GRPOConfig or RLOOConfig."""
        return Shape(
            prompts=args.generation_batch_size // args.num_generations,
            repeats=args.steps_per_generation * args.num_iterations,
            accumulated=args.gradient_accumulation_steps,
        )

    @property
    def tasks_per_step(self) -> Fraction:
        """Returns the number of tasks for each optimizer step."""
        return Fraction(self.prompts * self.accumulated, self.repeats)

    @property
    def taken_at_once(self) -> int:
        """Returns the number of generation batches that the trainer takes before it uses the first of them."""
        return math.ceil(self.accumulated / self.repeats)

    def is_boundary(self, step: int) -> bool:
        """Returns whether the optimizer step with this number ends together with a generation batch."""
        return step * self.accumulated % self.repeats == 0

    def lag_wanted(self, prompts_per_update: int) -> int:
        """Returns the minimum `feedback_lag`, in update batches, with which the trainer does not wait for ever.

        Before optimizer step u, from 0, the trainer has taken micro-batches 0 to (u + 1) · accumulated: those of the
        step, and one more, because its data loader reads one ahead. Scores exist for the generation batches that were
        begun in the steps before.
        """
        period = self.repeats * prompts_per_update
        return max(self._lag_at(step, prompts_per_update) for step in range(period + 1))

    def _lag_at(self, step: int, prompts_per_update: int) -> int:
        taken = ((step + 1) * self.accumulated // self.repeats + 1) * self.prompts
        scored = math.ceil(step * self.accumulated / self.repeats) * self.prompts
        last_batch = (taken - 1) // prompts_per_update
        return last_batch - scored // prompts_per_update


_DEFAULT_LAG = 1

REQUIRED: dict[str, tuple[Any, str]] = {
    "shuffle_dataset": (
        False,
        "the run decides which task is next. Shuffling would take a thousand tasks before the first is scored, and "
        "wait for ever",
    ),
    "ignore_data_skip": (
        True,
        "a trainer that resumes would take and drop as many tasks as it has trained on, but the run continues at the "
        "right task by itself",
    ),
    "dataloader_num_workers": (0, "each worker would read all tasks of the run, and groups would be split"),
    "remove_unused_columns": (False, "rewards need the tasks' columns"),
    "restore_callback_states_from_checkpoint": (
        False,
        "callbacks would be replaced by new ones without a connection; the run's state is restored in any case",
    ),
}
"""TRL settings that a run requires: the only valid value, and what another value would cause."""


def settings(run: RunConfig, given: dict[str, Any]) -> dict[str, Any]:
    """Returns settings for a run: the given ones, the required ones, and matching defaults.

    Raises
    ------
    ValueError
        If a given setting differs from the one that the run requires.

    """
    fixed: dict[str, Any] = {name: value for name, (value, _) in REQUIRED.items()}
    fixed["num_generations"] = run.num_generations
    for name, value in fixed.items():
        if given.get(name, value) != value:
            why = REQUIRED[name][1] if name in REQUIRED else "the run decides how many completions a task gets"
            raise ValueError(f"{name}={given[name]!r}: a run of Gradus requires {value!r}: {why}")
    made = fixed | given
    if "generation_batch_size" not in given and "steps_per_generation" not in given:
        made["generation_batch_size"] = run.prompts_per_update * run.num_generations
        if "gradient_accumulation_steps" not in given:
            # The defaults make one policy update for each update batch, which is on-policy.
            ranks = int(os.environ.get("WORLD_SIZE", "1"))
            at_once = given.get("per_device_train_batch_size", 8) * ranks
            made["gradient_accumulation_steps"] = max(1, made["generation_batch_size"] // at_once)
    if "max_steps" not in given and run.length:
        made["max_steps"] = _steps_of(run, made)
    return made


def _steps_of(run: RunConfig, made: dict[str, Any]) -> int:
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    micro = made.get("per_device_train_batch_size", 8) * ranks
    accumulated = made.get("gradient_accumulation_steps", 1)
    generation = made.get("generation_batch_size") or micro * made["steps_per_generation"]
    repeats = generation // micro * made.get("num_iterations", 1)
    shape = Shape(generation // run.num_generations, max(1, repeats), accumulated)
    return int(run.length // shape.prompts * shape.prompts / shape.tasks_per_step)


def refuse(run: RunConfig, args: Any) -> None:
    """Raises ValueError for settings with which a training would wait for ever, or train on other tasks than it seems.

    Parameters
    ----------
    run
        The run's configuration.
    args
        The trainer's GRPOConfig or RLOOConfig.

    Raises
    ------
    ValueError
        If there is such a setting. The message names all of them.

    """
    reasons = [*_of_run(run), *_of_settings(run, args), *of_shapes(run, args, Shape.of(args))]
    if not reasons and args.max_steps > 0:
        reasons = [*_of_shape(run, args, Shape.of(args))]
    if reasons:
        raise ValueError(
            "this training is not possible: " + "; ".join(reasons) + ". GradusSpec.config() sets what it can"
        )


def _of_run(run: RunConfig) -> Iterator[str]:
    if run.dynamic_sampling is not None:
        yield (
            "the run has dynamic_sampling, but TRL trains on every group that it writes, and never asks for another in "
            "its place"
        )
    if run.feedback_source == "reported":
        yield 'the run has feedback_source="reported", but TRL does not report its advantages: create it with "step"'


def _of_settings(run: RunConfig, args: Any) -> Iterator[str]:
    for name, (value, why) in REQUIRED.items():
        if getattr(args, name) != value:
            yield f"{name} is {getattr(args, name)!r} and must be {value!r}: {why}"
    if args.max_steps <= 0:
        yield "max_steps is not set, and a run has no epochs"
    if args.eval_strategy != "no" and run.evaluation_arms:
        wanted = {each.num_generations or run.num_generations for each in run.evaluation_arms}
        got = args.num_generations_eval or args.num_generations
        if wanted != {got}:
            yield f"num_generations_eval is {got}, and the evaluation arms' is {' and '.join(map(str, sorted(wanted)))}"


def of_shapes(run: RunConfig, args: Any, shape: Shape) -> Iterator[str]:
    """Yields a message for each difference between the trainer's and the run's sizes of groups and batches."""
    given, wanted = args.num_generations, run.num_generations
    if given != wanted:
        yield (
            f"num_generations is {given}, and the run's is {wanted}: set num_generations={wanted}, or the run's by "
            f"run.update_shape(num_generations={given})"
        )
    prompts = run.prompts_per_update
    if prompts not in (shape.prompts, shape.tasks_per_step):
        size = prompts * wanted
        yield (
            f"a generation batch has {shape.prompts} prompts and an optimizer step {shape.tasks_per_step}, and the "
            f"run's prompts_per_update is {prompts}: set generation_batch_size={size} with gradient_accumulation_steps="
            f"{size} / (per_device_train_batch_size x ranks), or the run's by "
            f"run.update_shape(prompts_per_update={shape.prompts})"
        )


def _of_shape(run: RunConfig, args: Any, shape: Shape) -> Iterator[str]:
    lag = _DEFAULT_LAG if run.feedback_lag is None else run.feedback_lag
    wanted = shape.lag_wanted(run.prompts_per_update)
    if lag != "unbounded" and lag < wanted:
        yield (
            f"feedback_lag is {lag}, and must be {wanted} at least: with generation batches of {shape.prompts} tasks, "
            f"each used for {shape.repeats} micro-batches, and {shape.accumulated} of those in a step, TRL takes tasks "
            f"up to {wanted} update batches (prompts_per_update {run.prompts_per_update}) beyond the scores it has sent"
        )
    if run.length and args.max_steps * shape.tasks_per_step > run.length:
        yield f"max_steps is {args.max_steps}, for which the run's length of {run.length} tasks is too short"
    every = _save_steps(args)
    if every and not (shape.is_boundary(every) and shape.is_boundary(args.max_steps)):
        yield (
            f"a checkpoint every {every} steps falls within a generation batch, and a trainer that resumes there would "
            "skip the rest of the batch: choose save_steps and max_steps at which a batch ends"
        )


def _save_steps(args: Any) -> int:
    """Returns the number of optimizer steps between two checkpoints; 0: no checkpoints by number of steps."""
    if args.save_strategy != "steps":
        return 0
    return math.ceil(args.save_steps * args.max_steps) if args.save_steps < 1 else int(args.save_steps)
