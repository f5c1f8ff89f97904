"""A run with a bandit over two arms, for tests of the common parts of adapters."""

from __future__ import annotations

import gradus
from gradus import Run

ARMS = [gradus.arm("countdown", "T0", arm_id="easy"), gradus.arm("countdown", "T1", arm_id="hard")]


def create(run: Run, *, generations: int = 8, prompts: int = 4, **options: object) -> Run:
    run.create(
        ARMS,
        gradus.bandit(),
        num_generations=generations,
        prompts_per_update=prompts,
        seed=7,
        **options,  # type: ignore[arg-type]
    )
    return run
