"""Evaluations: fixed suites of tasks, and what a model came to on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from gradus._values import Derived, Named, Value
from gradus.enums import AnswerFormat, FeedbackStatus, Split, Thinking
from gradus.errors import GradusError, failure_in
from gradus.outcomes import Outcome, feedback_in
from gradus.tasks import Task
from gradus.v1 import evaluation_pb2


@dataclass(frozen=True)
class SuitePart(Value, message=evaluation_pb2.SuitePart):
    """Tasks of one environment at one difficulty; `level` is "" where the suite gives parameters."""

    name: str
    tasks: int
    environment: str
    version: int
    level: str
    parameters: Mapping[str, float]
    split: Split


@dataclass(frozen=True)
class Suite(Value, message=evaluation_pb2.Suite):
    """A fixed set of tasks, the same for ever under one version."""

    suite_id: Annotated[str, Named("id")]
    version: int
    description: str
    tasks: int
    parts: tuple[SuitePart, ...]


@dataclass(frozen=True)
class EvaluationInfo(Value, message=evaluation_pb2.Evaluation):
    """What an evaluation is of, and how many of its completions are scored.

    `create_time` None: it was not noted. `unreadable`: only in lists, why the server cannot read it.
    """

    evaluation_id: str
    suite: str
    suite_version: int
    samples_per_task: int
    samples_total: int
    samples_scored: int
    model: str
    answer_format: AnswerFormat | None
    thinking: Thinking | None
    create_time: datetime | None = None
    unreadable: str = ""


@dataclass(frozen=True)
class PendingTask(Value, message=evaluation_pb2.PendingTask):
    """A task of an evaluation, and which of its samples are missing."""

    task: Task
    sample_indices: tuple[int, ...]


def _outcome(proto: evaluation_pb2.SubmitCompletionsResponse | evaluation_pb2.Sample) -> Outcome:
    return Outcome.from_proto(proto.outcome)


def _outcome_if_any(proto: evaluation_pb2.SubmitCompletionsResponse) -> Outcome | None:
    return _outcome(proto) if proto.HasField("outcome") else None


@dataclass(frozen=True)
class Submitted(Value, message=evaluation_pb2.SubmitCompletionsResponse):
    """What became of a completion of an evaluation: an outcome, or `error` says why it was not taken.

    `status` is "recorded"; "duplicate" or "conflicting_completion" if the sample was there, when `outcome` is that of
    the first completion; or "not_recorded" if there is no reward yet: submit it again.
    """

    task_id: str
    sample_index: int
    outcome: Annotated[Outcome | None, Derived(_outcome_if_any, "outcome")]
    status: Annotated[FeedbackStatus | None, Derived(feedback_in, "feedback")]
    error: Annotated[GradusError | None, Derived(failure_in, "failure")]


@dataclass(frozen=True)
class Sample(Value, message=evaluation_pb2.Sample):
    """A completion that an evaluation has, with its task, and the suite's part and category that this belongs to.

    `pool` and `row` are of a row of a pool: its name, and the row's number in its file, from 0 (None: it is no row).
    """

    task: Task
    sample_index: int
    completion: str
    outcome: Annotated[Outcome, Derived(_outcome, "outcome")]
    part: str
    category: str
    pool: str
    row: int | None
    pool_digest: str = ""


@dataclass(frozen=True)
class ReportRow(Value, message=evaluation_pb2.ReportRow):
    """Figures of a part, an environment, a category or the whole suite.

    `figures` are shares or means by name, e.g. {"success_rate": 0.7, "pass@1": 0.4}; evaluation.proto says what each
    is. A task counts once however many samples it has; tasks without one are left out. A sample without a reward is in
    no figure but `no_reward_rate`: `samples_without_reward` counts them, and `tasks_left_out` the tasks that a figure
    leaves out for them, by its name, e.g. {"pass@4": 3}. `standard_errors` are by the spread over the tasks.
    `tasks_in_every_split` of the tasks lie in every split, for there are fewer than 1,000 like them: the model may have
    been trained on them.
    """

    name: str
    tasks: int
    samples: int
    samples_expected: int
    tasks_in_every_split: int
    figures: Mapping[str, float]
    standard_errors: Mapping[str, float]
    samples_without_reward: int = 0
    tasks_left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Report(Value, message=evaluation_pb2.Report):
    """What an evaluation came to. `baseline` says in words what ratios are against.

    `warnings` are to be read before any figure, e.g. that more than 1% of the samples have no reward.
    """

    evaluation: EvaluationInfo
    environments: tuple[ReportRow, ...]
    categories: tuple[ReportRow, ...]
    overall: ReportRow
    baseline: str
    parts: tuple[ReportRow, ...]
    suite: Suite
    warnings: tuple[str, ...] = ()
