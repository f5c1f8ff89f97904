"""What adapters to trainers have in common; `gradus.verl`, `gradus.slime` and the others are made of it.

A trainer's loop fixes when tasks are asked for, where completions are scored and what a checkpoint holds. Here is what
does not depend on whose loop it is: where a run is (`RunAddress`), what of a task travels with a row (`TaskReference`),
scoring sample by sample in messages of many (`Scorer`), what is written into a checkpoint (`checkpoint_of`, `restore`),
and what is refused because it would wait for ever.
"""

from __future__ import annotations

from gradus.training._address import PATIENCE_SECONDS, RunAddress
from gradus.training._checkpoints import (
    RunCheckpoint,
    checkpoint_of,
    insist,
    packed,
    read_checkpoint,
    restore,
    unpacked,
    write_checkpoint,
)
from gradus.training._checks import (
    check_batches,
    check_generations,
    check_length,
    check_scored_by_step,
    check_whole_groups,
)
from gradus.training._places import Places, place_in_group
from gradus.training._reader import TaskReader, read_tasks
from gradus.training._references import TaskReference
from gradus.training._scorer import Scorer, score_one
from gradus.training._scoring import UnscoredError, Written, reward_or, score, score_all

__all__ = [
    "PATIENCE_SECONDS",
    "Places",
    "RunAddress",
    "RunCheckpoint",
    "Scorer",
    "TaskReader",
    "TaskReference",
    "UnscoredError",
    "Written",
    "check_batches",
    "check_generations",
    "check_length",
    "check_scored_by_step",
    "check_whole_groups",
    "checkpoint_of",
    "insist",
    "packed",
    "place_in_group",
    "read_checkpoint",
    "read_tasks",
    "restore",
    "reward_or",
    "score",
    "score_all",
    "score_one",
    "unpacked",
    "write_checkpoint",
]
