"""Common parts of the adapters to trainers, such as `gradus.verl` and `gradus.slime`.

A trainer's loop decides when tasks are requested, where completions are scored, and what a checkpoint contains. This
package has the parts that do not depend on the loop: the address of a run (`RunAddress`), the reference to a task in a
row (`TaskReference`), scoring of single samples in large messages (`Scorer`), checkpoints (`checkpoint_of`, `restore`),
and checks for settings with which a training would wait for ever.
"""

from __future__ import annotations

from gradus.training._chat import Chat
from gradus.training._checkpoints import (
    RunCheckpoint,
    checkpoint_of,
    leave_old_shape,
    read_checkpoint,
    restore,
    retry_while_away,
    state_from_text,
    state_to_text,
    write_checkpoint,
)
from gradus.training._checks import (
    check_batches,
    check_generations,
    check_length,
    check_prompts,
    check_scored_by_step,
    check_whole_groups,
)
from gradus.training._indices import SampleIndices, index_in_group
from gradus.training._place import Place
from gradus.training._reader import TaskReader, read_round, read_tasks
from gradus.training._references import PATIENCE_SECONDS, RunAddress, TaskReference
from gradus.training._scorer import Scorer, score_one
from gradus.training._scoring import UnscoredError, WrittenCompletion, reward_or, score_all

__all__ = [
    "PATIENCE_SECONDS",
    "Chat",
    "Place",
    "RunAddress",
    "RunCheckpoint",
    "SampleIndices",
    "Scorer",
    "TaskReader",
    "TaskReference",
    "UnscoredError",
    "WrittenCompletion",
    "check_batches",
    "check_generations",
    "check_length",
    "check_prompts",
    "check_scored_by_step",
    "check_whole_groups",
    "checkpoint_of",
    "index_in_group",
    "leave_old_shape",
    "read_checkpoint",
    "read_round",
    "read_tasks",
    "restore",
    "retry_while_away",
    "reward_or",
    "score_all",
    "score_one",
    "state_from_text",
    "state_to_text",
    "write_checkpoint",
]
