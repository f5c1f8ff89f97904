"""A policy for tests, whose text depends on the prompt and the sample's index, with different rewards."""

from __future__ import annotations

import zlib

import gradus
from gradus import Run

ARMS = [gradus.arm("countdown", "T0", arm_id="easy"), gradus.arm("countdown", "T1", arm_id="hard", hard=True)]


def written(prompt: str, index: int) -> str:
    """Return a wrong answer in the right format (reward 0.1), or no answer at all (reward 0)."""
    readable = zlib.crc32(f"{prompt}/{index}".encode()) % 3
    return "<think>so</think><answer>1 + 1</answer>" if readable else f"I do not know ({index})"


def create(
    run: Run, *, generations: int = 4, prompts: int = 4, length: int = 32, lag: int = 1, **options: object
) -> Run:
    """Creates a run under a bandit, whose draws depend on the feedback."""
    run.create(
        ARMS,
        gradus.bandit(),
        num_generations=generations,
        prompts_per_update=prompts,
        length=length,
        feedback_lag=lag,
        seed=7,
        **options,  # type: ignore[arg-type]
    )
    return run


def recorded(run: Run) -> dict[int, list[float | None]]:
    """Returns the rewards that the run has recorded, by cursor, in order of samples."""
    batches = run.get().state.batches_drawn
    return {
        group.cursor: [sample.reward for sample in sorted(group.samples, key=lambda each: each.sample_index)]
        for batch in range(batches)
        for group in run.groups(batch)
    }
