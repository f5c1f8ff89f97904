"""Evaluations: fixed suites of tasks, and the results of a model on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from gradus._values import Derived, Named, Value
from gradus.enums import AnswerFormat, FeedbackStatus, FinishReason, Split, Thinking
from gradus.errors import GradusError, failure_in
from gradus.outcomes import Outcome, feedback_in
from gradus.samples import finish_reason_in
from gradus.tasks import ChatMessage, Task, ToolCall, transcript_in
from gradus.v1 import evaluation_pb2


@dataclass(frozen=True)
class SuitePart(Value, message=evaluation_pb2.SuitePart):
    """Tasks of one environment at one difficulty; `level` is "" if the suite gives parameters.

    `calls`: maximum number of calls of an episode; 0: the tasks have no turns. `tools`: those that the model may call.
    """

    name: str
    tasks: int
    environment: str
    version: int
    level: str
    parameters: Mapping[str, float]
    split: Split
    calls: int = 0
    tools: tuple[str, ...] = ()


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
    """Configuration of an evaluation, and the number of its scored completions.

    `create_time` None: not recorded. `unreadable`: set only in lists, the reason for which the server cannot read it.
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
    """A task of an evaluation, with the indices of its missing samples."""

    task: Task
    sample_indices: tuple[int, ...]


def _outcome(proto: evaluation_pb2.SubmitCompletionsResponse | evaluation_pb2.Sample) -> Outcome:
    return Outcome.from_proto(proto.outcome)


def _outcome_if_any(proto: evaluation_pb2.SubmitCompletionsResponse) -> Outcome | None:
    return _outcome(proto) if proto.HasField("outcome") else None


@dataclass(frozen=True)
class Submitted(Value, message=evaluation_pb2.SubmitCompletionsResponse):
    """Result of a submitted completion: an outcome, or `error` with the reason for a refusal.

    `status` is "recorded"; "duplicate" or "conflicting_completion" if the sample existed, and `outcome` is then that of
    the first completion; or "not_recorded" if there is no reward yet: submit the completion again. If `outcome.turn` is
    set, the episode goes on, `status` is None, and the next completion gets the id in it.
    """

    task_id: str
    sample_index: int
    outcome: Annotated[Outcome | None, Derived(_outcome_if_any, "outcome")]
    status: Annotated[FeedbackStatus | None, Derived(feedback_in, "feedback")]
    error: Annotated[GradusError | None, Derived(failure_in, "failure")]
    sample_key: str = ""


@dataclass(frozen=True)
class Sample(Value, message=evaluation_pb2.Sample):
    """A completion of an evaluation, with its task, and the suite's part and category of that task.

    `pool` and `row` are set for a row of a pool: its name, and the row's number in its file, from 0. None: the task is
    no row. `transcript` and `tool_calls`: an episode's messages before the completion, and the calls in it, as they
    were submitted. `finish_reason`: "length" if the completion was said to be cut off at its maximum length. `answer`:
    first line of the last marked answer, also if the request was brief.
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
    transcript: Annotated[list[ChatMessage], Derived(transcript_in, "transcript")] = field(default_factory=list)
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: Annotated[FinishReason | None, Derived(finish_reason_in, "finish_reason")] = None
    answer: str = ""


@dataclass(frozen=True)
class ReportRow(Value, message=evaluation_pb2.ReportRow):
    """Figures of a part, an environment, a category or the whole suite.

    `figures` are shares or means by name, e.g. {"success_rate": 0.7, "pass@1": 0.4}; evaluation.proto defines each.
    Each task has the same weight, whatever its number of samples; tasks without a sample are left out. A sample without
    a reward counts in no figure but `no_reward_rate`. `samples_without_reward` counts these samples. `tasks_left_out`
    counts, by figure, the tasks that a figure leaves out because of such samples, e.g. {"pass@4": 3}. `standard_errors`
    follow from the spread over the tasks. `tasks_in_every_split` of the tasks lie in every split, because there are
    fewer than 1,000 like them: the model may have been trained on them.
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
    """Results of an evaluation. `baseline` describes the values to which ratios compare answers.

    Read `warnings` before any figure, e.g. that more than 1% of the samples have no reward.
    """

    evaluation: EvaluationInfo
    environments: tuple[ReportRow, ...]
    categories: tuple[ReportRow, ...]
    overall: ReportRow
    baseline: str
    parts: tuple[ReportRow, ...]
    suite: Suite
    warnings: tuple[str, ...] = ()
