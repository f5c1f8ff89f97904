"""Refuses, at the start of a training, settings with which it would wait for ever or teach the run nothing."""

from __future__ import annotations

from math import lcm

from gradus.runs import RunConfig

_LAG = 1
"""Default of RunConfig.feedback_lag, the number of update batches that draws run ahead of feedback."""


def check_generations(config: RunConfig, num_generations: int, option: str) -> None:
    """Raises ValueError unless the trainer writes as many completions of a prompt as the run expects."""
    if num_generations != config.num_generations:
        raise ValueError(
            f"{option} is {num_generations} and the run's num_generations {config.num_generations}: smaller groups "
            f"are never complete, and extra samples of larger groups are not recorded. Set {option}="
            f"{config.num_generations}, or the run's by {_change('num_generations', num_generations)}"
        )


def check_prompts(config: RunConfig, prompts: int, option: str) -> None:
    """Raises ValueError unless the trainer updates its policy on as many prompts as the run's update batches have."""
    wanted = config.prompts_per_update
    if prompts != wanted:
        raise ValueError(
            f"{option} is {prompts} and the run's prompts_per_update {wanted}: the curriculum counts in update "
            f"batches, and would not follow the trainer's steps. Set {option}={wanted}, or the run's by "
            f"{_change('prompts_per_update', prompts)}"
        )


def _change(name: str, value: int) -> str:
    return f"run.update_shape({name}={value}) or gradus run update-shape"


def check_scored_by_step(config: RunConfig) -> None:
    """Raises ValueError unless the run learns from scores. The adapters send no advantages."""
    if config.feedback_source == "reported":
        raise ValueError(
            'the run takes reported advantages (feedback_source="reported"), and this adapter sends completions: '
            "create it without that option"
        )


def check_batches(config: RunConfig, at_once: int, option: str, *, of_a_prompt: int = 1) -> None:
    """Raises ValueError if the trainer takes tasks that the run draws only after feedback on the same batch.

    The trainer would then wait for ever.

    Parameters
    ----------
    config
        Configuration of the run.
    at_once
        Number of prompts or completions that the trainer takes before it scores any of them.
    option
        Option of the trainer's configuration that sets it.
    of_a_prompt
        1 if `at_once` counts prompts; the run's num_generations if it counts completions.

    """
    lag = _LAG if config.feedback_lag is None else config.feedback_lag
    if lag == "unbounded":
        return
    size = config.prompts_per_update * of_a_prompt
    for step in range(lcm(at_once, size) // at_once):
        scored = step * at_once
        last = (scored + at_once - 1) // size
        if (last - lag) * size > scored:
            raise ValueError(
                f"{option}={at_once} would wait for ever: the batch after the first {scored} needs tasks of update "
                f"batch {last}, drawn only when batch {last - 1 - lag} is scored (feedback_lag={lag}). Set "
                f"{option} to an update batch, {size}, or give the run a larger feedback_lag"
            )


def check_length(config: RunConfig, prompts: int, option: str) -> None:
    """Raises ValueError if the trainer takes more prompts than the run has."""
    if 0 < config.length < prompts:
        raise ValueError(
            f"{option} asks for {prompts} prompts, and the run's length is {config.length}: create it with a greater "
            "length, or 0 for no end"
        )


def check_whole_groups(config: RunConfig, why: str) -> None:
    """Raises ValueError unless the run has a `group_timeout`, which closes incomplete groups.

    `why`: reason why the trainer leaves groups incomplete, for the error.
    """
    if config.group_timeout is None:
        raise ValueError(
            f"{why}, so some groups stay incomplete, and the run would wait for them: create it with group_timeout, in "
            "seconds, after which the run closes such groups"
        )
