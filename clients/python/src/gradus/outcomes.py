"""Outcomes: the reward of a completion, or the reason for which there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from gradus._lazy import MESSAGE, Lazy, Read, read_late
from gradus._values import Derived, Value
from gradus.enums import FeedbackStatus, NoRewardReason, Proof, StopReason, Verdict, name_in
from gradus.errors import GradusError
from gradus.tasks import ChatMessage, CompletionGroup, message_from
from gradus.v1 import outcome_pb2

_STATUS = outcome_pb2.Feedback.DESCRIPTOR.fields_by_name["status"].enum_type
_STOP = outcome_pb2.Score.DESCRIPTOR.fields_by_name["stop_reason"].enum_type
_VERDICT = outcome_pb2.Score.DESCRIPTOR.fields_by_name["verdict"].enum_type


def _retry_delay(proto: outcome_pb2.NoReward) -> float | None:
    return proto.retry_delay_ms / 1000 or None


@dataclass(frozen=True)
class NoReward(Value, message=outcome_pb2.NoReward):
    """Reason for which a sample has no reward; it is never the policy's fault.

    `retry_delay` is in seconds; None: the reason is final. `resource` is the service that failed for the reason
    "resource_unavailable", e.g. "judge"; otherwise "". The reason "failed_precondition" means that the environment was
    changed after the task was made: it is mounted from other sources, and `detail` has both digests. `step` raises a
    `FailedPreconditionError` instead.
    """

    reason: NoRewardReason
    detail: str
    retry_delay: Annotated[float | None, Derived(_retry_delay, "retry_delay_ms")]
    resource: str = ""


@dataclass(frozen=True)
class RewardComponent(Value, message=outcome_pb2.RewardComponent):
    """A part of a reward.

    `value` is before weighting. None: it is undefined, and `reason` says why.
    """

    name: str
    value: float | None
    weight: float
    reason: str


@dataclass(frozen=True)
class Baseline(Value, message=outcome_pb2.Baseline):
    """The best objective value known for a task, with which answers are compared.

    No answer is better than `bound`, which equals `value` if `value` is optimal.
    """

    value: float
    bound: float
    proof: Proof


@dataclass(frozen=True)
class AnswerSpan(Value, message=outcome_pb2.AnswerSpan):
    """A marked answer: `completion[start:end]`, without its marks. `marked_end`: end of the closing mark, or 0.

    `marked_end` is set only under reward schemes that look for the first right answer, e.g. "vcc".
    """

    start: int
    end: int
    verdict: Verdict
    solved: bool
    marked_end: int


@dataclass(frozen=True)
class Commit(Value, message=outcome_pb2.Commit):
    """The first right answer of a completion.

    Its fields are the index of the answer, the index of its span in `Outcome.spans`, and the end of its closing mark.
    """

    answer: int
    span: int
    end: int


@dataclass(frozen=True)
class ContrastPair(Value, message=outcome_pb2.ContrastPair):
    """A pair for a contrastive loss: the first `preferred_end` characters of one completion beat another."""

    preferred_sample_index: int
    preferred_end: int
    rejected_sample_index: int
    rejected_end: int


def _messages(proto: Any) -> list[ChatMessage]:
    return [*map(message_from, proto.messages)]


def _rewards(proto: Any) -> tuple[float | None, ...]:
    return tuple(each.reward if each.HasField("reward") else None for each in proto.messages)


@dataclass(frozen=True)
class Turn(Value, message=outcome_pb2.Turn):
    """Next turn of an episode that is not over.

    Attributes
    ----------
    task_id
        Id of the task for the next completion of this sample.
    messages
        Replies to append to the conversation, one for each call, in order.
    turn_reward
        Sum of the rewards of the completion's calls, without discount; None: calls have no rewards of their own.
    calls_left
        Number of calls that are left.
    rewards
        (n,), reward of the call that each message answers; None: the call has no reward of its own.

    """

    task_id: str
    messages: Annotated[list[ChatMessage], Derived(_messages, "messages")]
    turn_reward: float | None
    calls_left: int
    rewards: Annotated[tuple[float | None, ...], Derived(_rewards, "messages")] = ()


# These two functions are written by hand for speed, because each outcome has several components and spans.
def _component(proto: Any) -> RewardComponent:
    value = proto.value if proto.HasField("value") else None
    return RewardComponent(proto.name, value, proto.weight, proto.reason)


def _span(proto: Any) -> AnswerSpan:
    verdict = name_in(_VERDICT, proto.verdict)
    return AnswerSpan(proto.start, proto.end, verdict, proto.solved, proto.marked_end)


@dataclass(frozen=True)
class Outcome(Lazy):
    """Outcome of one completion: a reward, or `no_reward` with the reason for which there is none.

    After a failure that is not the policy's, `reward` is None, never 0. `verdict` and `solved` are None too, because
    nothing is known about the answer. Leave the sample out, or send it again after `no_reward.retry_delay`.

    Attributes
    ----------
    reward
        Weighted sum of the components, within the range of the reward scheme (`RewardSchemeInfo`).
    solved
        Whether the answer reaches the goal (exact, or equal to a proven optimum).
    violation
        Error in the answer, in words; "": there is none.
    components
        Parts of the reward, by name.
    objective, ratio
        Value of a feasible answer, and its ratio to `baseline`, in [0, 1]; None: there is none.
    spans
        The last marked answers in the completion, in order; at most 16.
    answers
        Number of marked answers in the completion; 0 unless the reward scheme looks for the first right one, e.g.
        "vcc".
    terminated, truncated
        Whether the episode has ended, and whether the completion was cut at its maximum length.
    info
        Further facts from the environment, by name.
    rloo_advantage, grpo_advantage
        Advantages among the group's samples with a reward; None unless the message had the whole group.
    feedback, feedback_detail
        Status of the score in the task's run, and the reason if it was not recorded; None outside of runs.
    turn
        Next turn of the episode; None: the episode is over, or the task has no turns.
    stop_reason, calls
        Reason why the episode ended, and its number of calls; None and 0 if the task has no turns.

    """

    sample_index: int
    reward: float | None
    no_reward: NoReward | None
    verdict: Verdict | None
    solved: bool | None
    violation: str
    components: Mapping[str, RewardComponent]
    objective: float | None
    ratio: float | None
    baseline: Baseline | None
    spans: tuple[AnswerSpan, ...]
    commit: Commit | None
    answers: int
    terminated: bool
    truncated: bool
    info: Mapping[str, str]
    rloo_advantage: float | None
    grpo_advantage: float | None
    feedback: FeedbackStatus | None
    feedback_detail: str
    turn: Turn | None
    stop_reason: StopReason | None
    calls: int

    @staticmethod
    def from_proto(proto: Any) -> Outcome:
        """Returns the dataclass of a protobuf message. Each field is read when it is first used."""
        return Outcome.of_message(proto)


def _reward(proto: Any) -> float | None:
    return proto.score.reward if proto.HasField("score") else None


def _solved(proto: Any) -> bool | None:
    return proto.score.solved if proto.HasField("score") else None


def _verdict(proto: Any) -> Verdict | None:
    return name_in(_VERDICT, proto.score.verdict) if proto.HasField("score") else None


def _optional(name: str, read: Read) -> Read:
    """Returns a function that reads a field of the score, if it is set."""
    return lambda proto: read(getattr(proto.score, name)) if proto.score.HasField(name) else None


def _advantage(name: str) -> Read:
    return lambda proto: getattr(proto, name) if proto.HasField(name) else None


def feedback_in(proto: Any) -> FeedbackStatus | None:
    """Returns the feedback status in a message; None: the task is outside of a run."""
    return name_in(_STATUS, proto.feedback.status) if proto.HasField("feedback") else None


def _no_reward(proto: Any) -> NoReward | None:
    has_other = proto.HasField("score") or proto.HasField("turn")
    return None if has_other else NoReward.from_proto(proto.no_reward)


read_late(
    Outcome,
    {
        "sample_index": lambda proto: proto.sample_index,
        "reward": _reward,
        "no_reward": _no_reward,
        "verdict": _verdict,
        "solved": _solved,
        "violation": lambda proto: proto.score.violation,
        "components": lambda proto: {each.name: _component(each) for each in proto.score.components},
        "objective": _optional("objective", float),
        "ratio": _optional("ratio", float),
        "baseline": _optional("baseline", Baseline.from_proto),
        "spans": lambda proto: tuple(map(_span, proto.score.spans)),
        "commit": _optional("commit", Commit.from_proto),
        "answers": lambda proto: proto.score.answers,
        "terminated": lambda proto: proto.score.terminated,
        "truncated": lambda proto: proto.score.truncated,
        "info": lambda proto: dict(proto.score.info),
        "rloo_advantage": _advantage("rloo_advantage"),
        "grpo_advantage": _advantage("grpo_advantage"),
        "feedback": feedback_in,
        "feedback_detail": lambda proto: proto.feedback.detail,
        "turn": lambda proto: Turn.from_proto(proto.turn) if proto.HasField("turn") else None,
        "stop_reason": lambda proto: name_in(_STOP, proto.score.stop_reason) if proto.score.stop_reason else None,
        "calls": lambda proto: proto.score.calls,
    },
)


class Reward(NamedTuple):
    """The fields of an `Outcome` that a reward function needs."""

    sample_index: int
    reward: float | None
    solved: bool | None
    no_reward: NoReward | None
    feedback: FeedbackStatus | None
    feedback_detail: str


def rewards_of(group: Any) -> tuple[Reward, ...]:
    """Reads only the rewards of a group's outcomes, in a tenth of the time of reading whole outcomes."""
    return tuple(map(_reward_of, group.outcomes))


def _reward_of(proto: Any) -> Reward:
    reward: float | None = None
    solved: bool | None = None
    no_reward: NoReward | None = None
    if proto.HasField("score"):
        score = proto.score
        reward, solved = score.reward, score.solved
    elif not proto.HasField("turn"):
        no_reward = NoReward.from_proto(proto.no_reward)
    if not proto.HasField("feedback"):
        return Reward(proto.sample_index, reward, solved, no_reward, None, "")
    feedback = proto.feedback
    status = name_in(_STATUS, feedback.status)
    return Reward(proto.sample_index, reward, solved, no_reward, status, feedback.detail)


@dataclass(frozen=True)
class GroupOutcome(Lazy):
    """Outcomes of a group's completions, in the order in which they were sent.

    Attributes
    ----------
    mean, std
        Mean and population standard deviation of the known rewards; None unless the message had the whole group.
    contrast_pairs
        Pairs for a contrastive loss, under the reward scheme "vcc". Empty unless the message had the whole group.

    """

    group_id: str
    outcomes: tuple[Outcome, ...]
    mean: float | None
    std: float | None
    contrast_pairs: tuple[ContrastPair, ...]

    @staticmethod
    def from_proto(proto: Any) -> GroupOutcome:
        """Returns the dataclass of a protobuf message. Each field is read when it is first used."""
        return GroupOutcome.of_message(proto)

    @property
    def rewards(self) -> list[float | None]:
        """Returns the reward of each completion, (n,); None: it has none, which is not 0."""
        message = self.__dict__.get(MESSAGE)
        return [each.reward for each in self.outcomes] if message is None else [*map(_reward, message.outcomes)]

    def statuses(self) -> list[FeedbackStatus]:
        """Returns the feedback status of each score, for counting, without reading whole outcomes."""
        message = self.__dict__.get(MESSAGE)
        found = (each.feedback for each in self.outcomes) if message is None else map(feedback_in, message.outcomes)
        return [each for each in found if each is not None]


def _outcome(proto: Any) -> Outcome:
    """Makes an outcome and reads at once the fields that most callers use: twice as fast as reading them one by one."""
    if not proto.HasField("score"):
        return Outcome.of_message(proto)
    score = proto.score
    return Outcome.of_message(proto, reward=score.reward, solved=score.solved, truncated=score.truncated)


def _statistic(name: str) -> Read:
    return lambda proto: getattr(proto.statistics, name) if proto.HasField("statistics") else None


read_late(
    GroupOutcome,
    {
        "group_id": lambda proto: proto.group_id,
        "outcomes": lambda proto: tuple([_outcome(each) for each in proto.outcomes]),
        "mean": _statistic("mean"),
        "std": _statistic("std"),
        "contrast_pairs": lambda proto: tuple(map(ContrastPair.from_proto, proto.contrast_pairs)),
    },
)


@dataclass(frozen=True)
class StreamResult:
    """Result of one group of a stream: exactly one of `outcome` and `error` is set."""

    group: CompletionGroup
    outcome: GroupOutcome | None
    error: GradusError | None

    def result(self) -> GroupOutcome:
        """Returns the outcome, or raises the error if there is none."""
        if self.outcome is None:
            raise self.error or AssertionError("a result has an outcome or an error")
        return self.outcome
