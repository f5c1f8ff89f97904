"""What comes and goes, as small frozen values. `proto` of each holds the message with all of its fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from gradus._enums import name_of, value_of
from gradus.errors import GradusError
from gradus.v1 import curriculum_pb2, environment_pb2, outcome_pb2, task_pb2


class ChatMessage(TypedDict):
    """One message of a prompt, in the form that chat templates take."""

    role: str
    content: str


@dataclass(frozen=True)
class Completion:
    """One completion of a task: its place in the group, from 0, and its text without the prompt.

    `finish_reason` says why generation ended ("length": the completion is truncated), `policy_version` which policy
    wrote it, e.g. its number of updates; None: not known.
    """

    sample_index: int
    text: str
    finish_reason: Literal["stop", "length"] | None = None
    policy_version: int | None = None


@dataclass(frozen=True)
class CompletionGroup:
    """Completions of one prompt, all or some. `num_generations` is the whole group's size; 0: see the contract."""

    task_id: str
    group_id: str
    completions: tuple[Completion, ...]
    num_generations: int = 0

    def to_proto(self) -> environment_pb2.CompletionGroup:
        """The message."""
        return environment_pb2.CompletionGroup(
            task_id=self.task_id,
            group_id=self.group_id,
            completions=[
                environment_pb2.Completion(
                    sample_index=each.sample_index,
                    text=each.text,
                    finish_reason=value_of("FINISH_REASON_", each.finish_reason),
                    policy_version=each.policy_version,
                )
                for each in self.completions
            ],
            num_generations=self.num_generations,
        )


@dataclass(frozen=True)
class Task:
    """One task, ready for a policy. `metadata` never gives the answer away, but is no part of the prompt."""

    task_id: str
    group_id: str
    prompt: list[ChatMessage]
    environment: str
    version: int
    level: str
    split: str
    source: str
    answer_format: str
    thinking: str
    stop: tuple[str, ...]
    kl_coefficient: float | None
    metadata: Mapping[str, str]
    run_id: str
    arm_id: str
    cursor: int
    instance_hash: str
    update_batch: int
    epoch: int
    arm_probability: float
    proto: task_pb2.Task = field(repr=False, compare=False)

    @staticmethod
    def from_proto(proto: task_pb2.Task) -> Task:
        """Reads the message."""
        hints = proto.hints
        return Task(
            task_id=proto.task_id,
            group_id=proto.group_id,
            prompt=[{"role": each.role, "content": each.content} for each in proto.prompt],
            environment=proto.environment,
            version=proto.version,
            level=proto.level,
            split=name_of("SPLIT_", proto.split),
            source=name_of("SOURCE_", proto.source),
            answer_format=name_of("ANSWER_FORMAT_", proto.answer_format),
            thinking=name_of("THINKING_", proto.thinking),
            stop=tuple(hints.stop),
            kl_coefficient=hints.kl_coefficient if hints.HasField("kl_coefficient") else None,
            metadata=dict(hints.metadata),
            run_id=proto.run_id,
            arm_id=proto.arm_id,
            cursor=proto.cursor,
            instance_hash=proto.instance_hash,
            update_batch=proto.update_batch,
            epoch=proto.epoch,
            arm_probability=proto.arm_probability,
            proto=proto,
        )

    def group(self, texts: Iterable[str], first_index: int = 0, num_generations: int = 0) -> CompletionGroup:
        """Completions of this task, with sample indices from `first_index` on."""
        completions = tuple(Completion(index, text) for index, text in enumerate(texts, first_index))
        return CompletionGroup(self.task_id, self.group_id, completions, num_generations)


@dataclass(frozen=True)
class NoReward:
    """Why a sample has no reward: nothing that the policy did. `retry_delay` in seconds; None: final."""

    reason: str
    detail: str
    retry_delay: float | None


@dataclass(frozen=True)
class Outcome:
    """What became of one completion: a reward, or `no_reward` says why there is none.

    `verdict` is "malformed", "infeasible" or "feasible"; `feedback` is what the score did to its run ("recorded",
    "duplicate", …), None outside runs. The advantages are set where the message held the whole group.
    """

    sample_index: int
    reward: float | None
    no_reward: NoReward | None
    verdict: str | None
    solved: bool
    violation: str
    components: Mapping[str, float | None]
    objective: float | None
    ratio: float | None
    rloo_advantage: float | None
    grpo_advantage: float | None
    feedback: str | None
    proto: outcome_pb2.Outcome = field(repr=False, compare=False)

    @staticmethod
    def from_proto(proto: outcome_pb2.Outcome) -> Outcome:
        """Reads the message."""
        scored = proto.WhichOneof("result") == "score"
        score = proto.score
        return Outcome(
            sample_index=proto.sample_index,
            reward=score.reward if scored else None,
            no_reward=None if scored else _no_reward(proto.no_reward),
            verdict=name_of("VERDICT_", score.verdict) if scored else None,
            solved=score.solved,
            violation=score.violation,
            components={each.name: each.value if each.HasField("value") else None for each in score.components},
            objective=score.objective if score.HasField("objective") else None,
            ratio=score.ratio if score.HasField("ratio") else None,
            rloo_advantage=proto.rloo_advantage if proto.HasField("rloo_advantage") else None,
            grpo_advantage=proto.grpo_advantage if proto.HasField("grpo_advantage") else None,
            feedback=name_of("FEEDBACK_STATUS_", proto.feedback.status) if proto.HasField("feedback") else None,
            proto=proto,
        )


@dataclass(frozen=True)
class PendingTask:
    """A task of an evaluation, and which of its samples are missing."""

    task: Task
    sample_indices: tuple[int, ...]


@dataclass(frozen=True)
class Submitted:
    """What became of a completion of an evaluation: an outcome, or `error` says why it was not taken.

    `status` is "recorded"; "duplicate" or "conflicting_completion" if the sample was there, when `outcome` is that of
    the first completion; or "not_recorded" if there is no reward yet: submit it again.
    """

    sample_index: int
    outcome: Outcome | None
    status: str | None
    error: GradusError | None


@dataclass(frozen=True)
class Sample:
    """A completion that an evaluation has, with its task, and the suite's part and category that this belongs to."""

    task: Task
    sample_index: int
    completion: str
    outcome: Outcome
    part: str
    category: str


def _no_reward(proto: outcome_pb2.NoReward) -> NoReward:
    delay = proto.retry_delay_ms / 1000 if proto.retry_delay_ms > 0 else None
    return NoReward(name_of("NO_REWARD_REASON_", proto.reason), proto.detail, delay)


@dataclass(frozen=True)
class GroupOutcome:
    """Outcomes of a group's completions, in the order they went. `mean` and `std` are set for a whole group."""

    group_id: str
    outcomes: tuple[Outcome, ...]
    mean: float | None
    std: float | None
    proto: outcome_pb2.GroupOutcome = field(repr=False, compare=False)

    @staticmethod
    def from_proto(proto: outcome_pb2.GroupOutcome) -> GroupOutcome:
        """Reads the message."""
        whole = proto.HasField("statistics")
        return GroupOutcome(
            group_id=proto.group_id,
            outcomes=tuple(Outcome.from_proto(each) for each in proto.outcomes),
            mean=proto.statistics.mean if whole else None,
            std=proto.statistics.std if whole else None,
            proto=proto,
        )

    @property
    def rewards(self) -> list[float | None]:
        """One for each completion; None: it has none."""
        return [each.reward for each in self.outcomes]


@dataclass(frozen=True)
class StreamResult:
    """What became of one group of a stream: exactly one of `outcome` and `error` is set."""

    group: CompletionGroup
    outcome: GroupOutcome | None
    error: GradusError | None

    def unwrap(self) -> GroupOutcome:
        """The outcome; raises the error if there is none."""
        if self.outcome is None:
            raise self.error or AssertionError("a result has an outcome or an error")
        return self.outcome


@dataclass(frozen=True)
class Batch:
    """Tasks of a run. `next_cursor` is what to ask for next; `done`: nothing will come from there on."""

    tasks: tuple[Task, ...]
    next_cursor: int
    done: bool
    epoch: int

    @staticmethod
    def from_proto(proto: curriculum_pb2.NextBatchResponse) -> Batch:
        """Reads the message."""
        tasks = tuple(Task.from_proto(each) for each in proto.tasks)
        return Batch(tasks, proto.next_cursor, proto.done, proto.epoch)


@dataclass(frozen=True)
class ResetResult:
    """One task of a batch, or why it could not be made: exactly one of `task` and `error` is set."""

    seed: int
    task: Task | None
    error: GradusError | None

    def unwrap(self) -> Task:
        """The task; raises the error if there is none."""
        if self.task is None:
            raise self.error or AssertionError("a result has a task or an error")
        return self.task


@dataclass(frozen=True)
class GroupAdvantages:
    """Advantages that the trainer computed for one group; none: the group gives no signal."""

    group_id: str
    advantages: Sequence[float]
    reward_mean: float | None = None
