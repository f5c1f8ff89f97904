"""Completions that runs keep for people to read, and filters of completions of runs and evaluations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, TypedDict

from gradus._values import Derived, Named, Value, message_of
from gradus.enums import FinishReason, NoRewardReason, Verdict, name_in, value_in
from gradus.outcomes import Outcome
from gradus.tasks import ChatMessage, Task, ToolCall, transcript_in
from gradus.v1 import curriculum_pb2, environment_pb2, outcome_pb2


class SampleFilter(TypedDict, total=False):
    """Filter of completions. All conditions that are set must hold.

    `verdicts`: accepted verdicts. `violation`, `text`: text that the violation (what is wrong with the answer) and the
    completion contain, upper or lower case alike; at most 256 and 1,024 bytes. `violation_template`: template of the
    violation, as `Run.violations` returns it, at most 256 bytes; together with its verdict in `verdicts`, it selects
    the samples that it counts. `reward_min`, `reward_max`: bounds, which leave out samples without a reward. `solved`,
    `truncated`, `no_reward`: whether the goal was reached, whether the completion was cut off, and whether there is no
    reward. `no_reward_reasons`: accepted reasons for a missing reward.
    """

    verdicts: Iterable[Verdict]
    violation: str
    violation_template: str
    reward_min: float
    reward_max: float
    solved: bool
    truncated: bool
    no_reward: bool
    no_reward_reasons: Iterable[NoRewardReason]
    text: str


def filter_proto(options: Any) -> outcome_pb2.SampleFilter:
    """Returns the protobuf message SampleFilter with the conditions among the options."""
    given = {name: options[name] for name in SampleFilter.__annotations__ if options.get(name) is not None}
    given["verdicts"] = [value_in(outcome_pb2.Verdict.DESCRIPTOR, name) for name in given.get("verdicts", ())]
    reasons = given.get("no_reward_reasons", ())
    given["no_reward_reasons"] = [value_in(outcome_pb2.NoRewardReason.DESCRIPTOR, name) for name in reasons]
    return message_of(outcome_pb2.SampleFilter, **given)


def _outcome(proto: curriculum_pb2.RunSample) -> Outcome:
    return Outcome.from_proto(proto.outcome)


def finish_reason_in(proto: Any) -> FinishReason | None:
    """Returns why the generation of a stored completion ended; None: unknown."""
    return name_in(environment_pb2.FinishReason.DESCRIPTOR, proto.finish_reason) if proto.finish_reason else None


@dataclass(frozen=True)
class RunSample(Value, message=curriculum_pb2.RunSample):
    """A completion that a run keeps.

    Attributes
    ----------
    sample_number
        Number of the sample within the run. Newer samples have larger numbers.
    cursor
        Position of its task in the run, or in the set of an evaluation arm.
    evaluation_round
        Round of evaluation; None: the sample is from training.
    time
        Time at which the sample was scored.
    task
        The task. None: the request did not ask for tasks, or the server cannot make it.
    transcript, tool_calls
        An episode's messages before the completion, and the calls in the completion, as they were sent.
    tokens
        Number of tokens, as the trainer reported it. None: it did not.
    finish_reason
        "length" if the trainer said that the completion was cut off at its maximum length.
    answer
        First line of the last marked answer, also if the request was brief. Empty: there is none.

    """

    sample_number: Annotated[int, Named("number")]
    task_id: str
    group_id: str
    sample_index: int
    arm_id: str
    cursor: int
    evaluation_round: int | None
    completion: str
    outcome: Annotated[Outcome, Derived(_outcome, "outcome")]
    policy_version: int | None
    time: datetime
    task: Task | None
    transcript: Annotated[list[ChatMessage], Derived(transcript_in, "transcript")] = field(default_factory=list)
    tool_calls: tuple[ToolCall, ...] = ()
    tokens: int | None = None
    finish_reason: Annotated[FinishReason | None, Derived(finish_reason_in, "finish_reason")] = None
    answer: str = ""
