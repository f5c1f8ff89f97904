"""Groups of a run (the completions of each prompt), and the run's history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from gradus._arguments import listed
from gradus._values import Derived, Value, message_of
from gradus.enums import CloseCause
from gradus.lengths import CompletionLengths
from gradus.outcomes import ContrastPair
from gradus.policy_values import Policy
from gradus.runs import EvaluationRecord, RunShape
from gradus.tasks import Task
from gradus.v1 import curriculum_pb2 as cur


def _advantages(proto: cur.GroupAdvantages) -> tuple[float, ...]:
    return tuple(proto.advantages)


@dataclass(frozen=True)
class GroupAdvantages(Value, message=cur.GroupAdvantages):
    """Advantages that the trainer computed for one group.

    Attributes
    ----------
    advantages
        Advantage of each sample that counted, in any order, in [-1e9, 1e9]; empty: the run learns nothing from the
        group.
    reward_mean
        Mean reward of the group, for the records; None: not known.

    """

    group_id: str
    advantages: Annotated[Sequence[float], Derived(_advantages, "advantages")]
    reward_mean: float | None = None

    def to_proto(self) -> cur.GroupAdvantages:
        """Converts the advantages to their protobuf message."""
        # protobuf would read None as an empty list, which would mean that the group teaches the run nothing.
        advantages = listed(self.advantages, float, "advantages")
        return message_of(
            cur.GroupAdvantages, group_id=self.group_id, advantages=advantages, reward_mean=self.reward_mean
        )


@dataclass(frozen=True)
class RecordedSample(Value, message=cur.RecordedSample):
    """A sample of a group (one completion), as the run recorded it.

    `reward` None: the sample never gets one, for the reason in `no_reward`. Advantages are None while the group is
    open. `policy_version` is None if the completion had none.
    """

    sample_index: int
    reward: float | None
    solved: bool
    no_reward: str
    rloo_advantage: float | None
    grpo_advantage: float | None
    policy_version: int | None


def _mean(proto: cur.RunGroup) -> float | None:
    return proto.statistics.mean if proto.HasField("statistics") else None


def _std(proto: cur.RunGroup) -> float | None:
    return proto.statistics.std if proto.HasField("statistics") else None


@dataclass(frozen=True)
class RunGroup(Value, message=cur.RunGroup):
    """A group of a run, with its results.

    Attributes
    ----------
    task
        Task of the group, if the request asked for tasks.
    closed
        The group takes no more samples: all have arrived, or the group was closed although some are missing.
    missing
        Indices of the samples that have not arrived.
    mean, std
        Mean and standard deviation of the rewards; None while the group is open, or if there are none.
    useful, selected
        Whether an update learns from the group, e.g. because its rewards differ, and whether to train on it; see
        `DynamicSampling`.
    issue_time
        Time at which its task was issued; None: the task is in a reserve, and was not issued.

    """

    group_id: str
    cursor: int
    update_batch: int
    arm_id: str
    task: Task | None
    closed: bool
    missing: tuple[int, ...]
    samples: tuple[RecordedSample, ...]
    mean: Annotated[float | None, Derived(_mean, "statistics")]
    std: Annotated[float | None, Derived(_std, "statistics")]
    useful: bool
    selected: bool
    contrast_pairs: tuple[ContrastPair, ...]
    issue_time: datetime | None = None


@dataclass(frozen=True)
class BatchRecord(Value, message=cur.BatchRecord):
    """An update batch in a run's history. Lists have an entry for each arm, (arms,), in the configuration's order.

    Attributes
    ----------
    prompts, released, useful
        Number of tasks to train on; number of tasks that may be issued, which are those and tasks taken from the
        reserve; and number of closed groups from which an update can learn.
    reward_mean, solved_share
        Mean reward and share of solved samples so far; None: there are no samples yet.
    merged
        Number of update batches that the record summarizes; 0: one.
    reward_sums, reward_counts
        Sum and number of the rewards of each arm in the batch; empty: the run has more than 64 arms, or the record is
        older than these fields.
    solved_counts
        Number of solved samples in each of reward_counts; empty: not known.
    lengths
        Lengths of the samples' completions so far; None: there are none yet, or the server is older than this field.
    frontiers
        Value of each arm's highest open level at the draw; 0: the arm does not grow. Empty: no arm grows.

    """

    batch: int
    cursor: int
    probabilities: tuple[float, ...]
    values: tuple[float, ...]
    counts: tuple[int, ...]
    prompts: int
    released: int
    useful: int
    closed: bool
    reward_mean: float | None
    solved_share: float | None
    merged: int = 0
    reward_sums: tuple[float, ...] = ()
    reward_counts: tuple[int, ...] = ()
    lengths: CompletionLengths | None = None
    frontiers: tuple[int, ...] = ()
    solved_counts: tuple[int, ...] = ()


@dataclass(frozen=True)
class ControlRecord(Value, message=cur.ControlRecord):
    """A change of the run: its kind ("policy", "weights", "pause", …), and the fields of that kind.

    `by`: name of the caller's token; "": the server made the change, or requires no token. `close_cause`: cause for
    which groups were closed; None: there is none.
    """

    kind: str
    cursor: int
    policy: Policy | None
    weights: Mapping[str, float]
    reason: str
    arm_id: str
    by: str
    shape: RunShape | None = None
    close_cause: CloseCause | None = None


def _kind(proto: cur.HistoryRecord) -> str:
    return proto.WhichOneof("kind") or "unknown"


@dataclass(frozen=True)
class HistoryRecord(Value, message=cur.HistoryRecord):
    """An entry of the history: `kind` says which of `batch`, `control` and `evaluation` is set.

    `rolled_back`: an import of an earlier state has undone the entry.
    """

    kind: Annotated[Literal["batch", "control", "evaluation"], Derived(_kind)]
    batch: BatchRecord | None
    control: ControlRecord | None
    evaluation: EvaluationRecord | None
    epoch: int
    time: datetime
    rolled_back: bool
