"""Outcomes: what a completion was worth, or why there is no telling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from gradus._enums import FeedbackStatus, NoRewardReason, Proof, Verdict, name_in
from gradus._values import Derived, Value
from gradus.errors import GradusError
from gradus.tasks import CompletionGroup
from gradus.v1 import outcome_pb2

_STATUS = outcome_pb2.Feedback.DESCRIPTOR.fields_by_name["status"].enum_type
_VERDICT = outcome_pb2.Score.DESCRIPTOR.fields_by_name["verdict"].enum_type


def _retry_delay(proto: outcome_pb2.NoReward) -> float | None:
    return proto.retry_delay_ms / 1000 or None


@dataclass(frozen=True)
class NoReward(Value, message=outcome_pb2.NoReward):
    """Why a sample has no reward: nothing that the policy did. `retry_delay` in seconds; None: final."""

    reason: NoRewardReason
    detail: str
    retry_delay: Annotated[float | None, Derived(_retry_delay, "retry_delay_ms")]


@dataclass(frozen=True)
class RewardComponent(Value, message=outcome_pb2.RewardComponent):
    """A part of a reward. `value`, before weighting, is None where it is undefined, and `reason` says why."""

    name: str
    value: float | None
    weight: float
    reason: str


@dataclass(frozen=True)
class Baseline(Value, message=outcome_pb2.Baseline):
    """What answers are measured against: no answer is better than `bound`, which is `value` if that is optimal."""

    value: float
    bound: float
    proof: Proof


@dataclass(frozen=True)
class AnswerSpan(Value, message=outcome_pb2.AnswerSpan):
    """A marked answer: `completion[start:end]`, without its marks. `marked_end` is 0 unless commits are scanned for."""

    start: int
    end: int
    verdict: Verdict
    solved: bool
    marked_end: int


@dataclass(frozen=True)
class Commit(Value, message=outcome_pb2.Commit):
    """The first right answer of a completion: which answer, which of `Outcome.spans`, and where its mark ends."""

    answer: int
    span: int
    end: int


@dataclass(frozen=True)
class ContrastPair(Value, message=outcome_pb2.ContrastPair):
    """A pair for a contrastive loss: the first `preferred_end` characters of one completion over those of another."""

    preferred_sample_index: int
    preferred_end: int
    rejected_sample_index: int
    rejected_end: int


# By hand as well, for each outcome has some of both.
def _component(proto: Any) -> RewardComponent:
    value = proto.value if proto.HasField("value") else None
    return RewardComponent(proto.name, value, proto.weight, proto.reason)


def _span(proto: Any) -> AnswerSpan:
    verdict = name_in(_VERDICT, proto.verdict)
    return AnswerSpan(proto.start, proto.end, verdict, proto.solved, proto.marked_end)


@dataclass(frozen=True)
class Outcome:
    """What became of one completion: a reward, or `no_reward` says why there is none.

    A failure that is not the policy's has `reward` None, never 0, and says nothing of the answer: `verdict` and
    `solved` are None too. Leave the sample out, or send it again after `no_reward.retry_delay`.

    Attributes
    ----------
    reward
        The weighted sum of the components; within the scheme's range (`RewardSchemeInfo`).
    solved
        Whether the answer reaches the goal (exact, or equal to a proven optimum).
    violation
        What is wrong with the answer, in words; "" where nothing is.
    components
        The reward's parts, by name.
    objective, ratio
        A feasible answer's value, and its quality against `baseline`, in [0, 1]; None where there is none.
    spans
        Marked answers found, in order; at most 16, the last ones.
    answers
        Marked answers in the whole completion; 0 unless the scheme scans for commits, as does `commit`.
    terminated, truncated
        The episode is over; the completion was cut before it was done.
    info
        Facts of the environment's own.
    rloo_advantage, grpo_advantage
        Over the group's samples with a reward; None unless the message held the whole group.
    feedback, feedback_detail
        What the score did to the task's run, and why where it was not recorded; None outside of runs.

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

    @staticmethod
    def from_proto(proto: Any) -> Outcome:
        """Reads the message of `gradus.v1`; by hand, for there are thousands in a second."""
        scored = proto.WhichOneof("result") == "score"
        score = proto.score
        return Outcome(
            sample_index=proto.sample_index,
            reward=score.reward if scored else None,
            no_reward=None if scored else NoReward.from_proto(proto.no_reward),
            verdict=name_in(_VERDICT, score.verdict) if scored else None,
            solved=score.solved if scored else None,
            violation=score.violation,
            components={each.name: _component(each) for each in score.components},
            objective=score.objective if score.HasField("objective") else None,
            ratio=score.ratio if score.HasField("ratio") else None,
            baseline=Baseline.from_proto(score.baseline) if score.HasField("baseline") else None,
            spans=tuple(map(_span, score.spans)),
            commit=Commit.from_proto(score.commit) if score.HasField("commit") else None,
            answers=score.answers,
            terminated=score.terminated,
            truncated=score.truncated,
            info=dict(score.info),
            rloo_advantage=proto.rloo_advantage if proto.HasField("rloo_advantage") else None,
            grpo_advantage=proto.grpo_advantage if proto.HasField("grpo_advantage") else None,
            feedback=name_in(_STATUS, proto.feedback.status) if proto.HasField("feedback") else None,
            feedback_detail=proto.feedback.detail,
        )


class Reward(NamedTuple):
    """Of an outcome what a reward function wants; the fields are those of `Outcome`."""

    sample_index: int
    reward: float | None
    solved: bool | None
    no_reward: NoReward | None
    feedback: FeedbackStatus | None
    feedback_detail: str


def rewards_of(group: Any) -> tuple[Reward, ...]:
    """Reads of a group's outcomes only the rewards, in a tenth of the time."""
    return tuple(map(_reward_of, group.outcomes))


def _reward_of(proto: Any) -> Reward:
    reward: float | None = None
    solved: bool | None = None
    no_reward: NoReward | None = None
    if proto.HasField("score"):
        score = proto.score
        reward, solved = score.reward, score.solved
    else:
        no_reward = NoReward.from_proto(proto.no_reward)
    if not proto.HasField("feedback"):
        return Reward(proto.sample_index, reward, solved, no_reward, None, "")
    feedback = proto.feedback
    status = name_in(_STATUS, feedback.status)
    return Reward(proto.sample_index, reward, solved, no_reward, status, feedback.detail)


@dataclass(frozen=True)
class GroupOutcome:
    """Outcomes of a group's completions, in the order they went.

    Attributes
    ----------
    mean, std
        Mean and population standard deviation of the rewards there are; None unless the message held the whole group.
    contrast_pairs
        Pairs for a contrastive loss, where the scheme scans for commits and the message held the whole group.

    """

    group_id: str
    outcomes: tuple[Outcome, ...]
    mean: float | None
    std: float | None
    contrast_pairs: tuple[ContrastPair, ...]

    @staticmethod
    def from_proto(proto: Any) -> GroupOutcome:
        """Reads the message of `gradus.v1`."""
        whole = proto.HasField("statistics")
        return GroupOutcome(
            group_id=proto.group_id,
            outcomes=tuple(map(Outcome.from_proto, proto.outcomes)),
            mean=proto.statistics.mean if whole else None,
            std=proto.statistics.std if whole else None,
            contrast_pairs=tuple(map(ContrastPair.from_proto, proto.contrast_pairs)),
        )

    @property
    def rewards(self) -> list[float | None]:
        """One for each completion, (n,); None: it has none, which is not 0."""
        return [each.reward for each in self.outcomes]


@dataclass(frozen=True)
class StreamResult:
    """What became of one group of a stream: exactly one of `outcome` and `error` is set."""

    group: CompletionGroup
    outcome: GroupOutcome | None
    error: GradusError | None

    def result(self) -> GroupOutcome:
        """The outcome, as of a future: raises the error if there is none."""
        if self.outcome is None:
            raise self.error or AssertionError("a result has an outcome or an error")
        return self.outcome
