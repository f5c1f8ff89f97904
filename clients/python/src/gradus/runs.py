"""Runs: their configuration, their state, and their tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from gradus._values import Derived, Named, Value, message_of
from gradus.enums import AlikeOutcomes, AnswerFormat, FeedbackSource
from gradus.lengths import CompletionLengths
from gradus.policy_values import Policy
from gradus.tasks import RewardScheme, Task, TaskSpec
from gradus.v1 import curriculum_pb2 as cur
from gradus.v1 import outcome_pb2


@dataclass(frozen=True)
class RowLearnability(Value, message=cur.RowLearnability):
    """Rule that prefers rows with a pass rate p near one half: the interest in a row is (4p(1 - p)) to a power."""

    sharpness: int | None = None


@dataclass(frozen=True)
class RowTarget(Value, message=cur.RowTarget):
    """Rule that prefers rows near a target pass rate, which moves from `start` to `end` over the run.

    The interest in a row is a bell curve around the target. `end` None: the target stays at `start`.
    """

    start: float | None = None
    end: float | None = None
    width: float | None = None


@dataclass(frozen=True)
class RowCurriculum(Value, message=cur.RowCurriculum):
    """Rule by which an arm chooses its rows by their pass rates; `gradus.rows` makes one."""

    learnability: RowLearnability | None
    target: RowTarget | None
    floor: float | None
    kept: float | None
    retire_after: int
    count: int
    column_samples: float | None


@dataclass(frozen=True)
class Growth(Value, message=cur.Growth):
    """Growth of an arm along an axis of its environment; `gradus.grow` makes one.

    `start` 0: the axis's first value; `step` 0: 1; `cap` 0: the axis's last value.
    """

    axis: str
    start: int = 0
    step: int = 0
    cap: int = 0


@dataclass(frozen=True)
class GrownLevel(Value, message=cur.GrownLevel):
    """A level of an arm that grows.

    Attributes
    ----------
    value
        Value of the axis.
    share
        Share of the level in the arm's tasks of the next update batch.
    success
        Expected success of the level's next group of completions, in [0, 1]; 0: the level has had no group.
    retired
        The level is solved, and drawn only seldom.

    """

    value: int
    share: float
    success: float
    retired: bool


@dataclass(frozen=True)
class ArmGrowth(Value, message=cur.ArmGrowth):
    """Levels of an arm that grows. `frontier`: value of the highest open level. `cap`: greatest value that may open."""

    axis: str
    frontier: int
    cap: int
    levels: tuple[GrownLevel, ...]


@dataclass(frozen=True)
class RowState(Value, message=cur.RowState):
    """A row of an arm (e.g. of its data pool), with the pass rate that a run expects of it.

    Attributes
    ----------
    row
        Number of the row in the pool's file, from 0, or index of a generated task.
    pass_rate, samples
        Expected pass rate, in [0, 1], and the number of samples that it counts for.
    solved_streak, retired
        Number of successive groups with all samples solved, and whether the row is therefore no longer drawn.
    gone
        The pool no longer has the row. It is not drawn until it comes back, and `row` means nothing.

    """

    row: int
    pass_rate: float
    samples: float
    solved_streak: int
    retired: bool
    gone: bool = False


@dataclass(frozen=True)
class RunPool(Value, message=cur.RunPool):
    """A pool as a run knows it: digest, number of rows, and number of rows gone since the run first saw them."""

    name: str
    digest: str
    rows: int
    gone: int


@dataclass(frozen=True)
class Arm(Value, message=cur.Arm):
    """An arm: a set of tasks, one of those among which a run's policy chooses; `gradus.arm` makes one.

    `weight` None means 1. `kl_coefficient` None: the trainer uses its own. Rows of all arms with the same `rank_group`
    are ranked together; "": with those of all arms without a group. `rows` None: the arm goes through its rows in turn.
    `grow` None: the arm has one level.
    """

    arm_id: Annotated[str, Named("id")]
    spec: TaskSpec
    weight: float | None
    hard: bool
    kl_coefficient: float | None = None
    rank_group: str = ""
    rows: RowCurriculum | None = None
    grow: Growth | None = None


@dataclass(frozen=True)
class EvaluationArm(Value, message=cur.EvaluationArm):
    """A set of tasks on which a run is evaluated beside training; `gradus.evaluation_arm` makes one."""

    arm_id: Annotated[str, Named("id")]
    spec: TaskSpec
    tasks: int
    num_generations: int


@dataclass(frozen=True)
class DynamicSampling(Value, message=cur.DynamicSampling):
    """Settings of dynamic sampling (DAPO 3.2): updates train only on groups whose outcomes differ.

    Attributes
    ----------
    oversample_max
        Maximum number of tasks drawn for each task to train on, in [1, 16].
    alike
        Groups to leave out: those with equal rewards ("rewards"; also None), or those with all samples or none solved
        ("solved").

    """

    oversample_max: float
    alike: AlikeOutcomes | None = None


@dataclass(frozen=True)
class LateFeedback(Value, message=cur.LateFeedback):
    """Groups that are more than `batches_max` update batches late count with `weight`, in [0, 1] (None: 0)."""

    batches_max: int
    weight: float | None = None


@dataclass(frozen=True)
class PromptTemplate(Value, message=cur.PromptTemplate):
    """Text around prompts: a system message, and a user message that has {prompt} exactly once.

    `system` None: the task's own system message, if any. `user` "": the task's message alone.
    """

    system: str | None = None
    user: str = ""


@dataclass(frozen=True)
class TrainerSettings(Value, message=cur.TrainerSettings):
    """Settings for the run's trainer, as run files have them under `trainer:`. The server does not use them.

    None and "": the trainer's own default. The contract states the ranges (TrainerSettings in curriculum.proto).

    Attributes
    ----------
    algorithm, optimizer, schedule
        Names in lower case, e.g. "grpo", "adamw", "constant".
    model
        Model with which training begins, e.g. "Qwen/Qwen2.5-7B-Instruct-1M".
    batch_size
        Number of prompts in a batch. `gradient_accumulation_steps` batches make one optimizer step.
    mini_batch_size, micro_batch_size
        Numbers of samples in one optimizer step within a batch, and in one forward pass.
    gradient_clip
        Maximum norm of the gradient; 0: it is not clipped.
    epochs, checkpoint_every
        Number of passes over the rows, and of update batches between two checkpoints.
    kl_coefficient
        KL coefficient of arms without one of their own.
    clip
        Maximum distance of the ratio of probabilities from 1.
    importance_level
        "token" or "sequence".
    temperature, top_p, top_k
        Sampling of rollouts; `top_k` 0: all tokens. `evaluation_*`: sampling of evaluations.
    prompt_length_max, completion_length_max
        Maximum tokens of a prompt, and of a completion.
    judge_model, judge_temperature
        Model and temperature of the judge, kept as a record only: the server's own options set its judge.
    contrast_beta, contrast_coefficient
        Settings of the loss over contrast pairs.

    """

    algorithm: str = ""
    model: str = ""
    optimizer: str = ""
    schedule: str = ""
    learning_rate: float | None = None
    batch_size: int | None = None
    mini_batch_size: int | None = None
    micro_batch_size: int | None = None
    gradient_accumulation_steps: int | None = None
    gradient_clip: float | None = None
    epochs: int | None = None
    checkpoint_every: int | None = None
    kl_coefficient: float | None = None
    clip: float | None = None
    importance_level: str = ""
    entropy_coefficient: float | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    prompt_length_max: int | None = None
    completion_length_max: int | None = None
    evaluation_temperature: float | None = None
    evaluation_top_p: float | None = None
    evaluation_top_k: int | None = None
    evaluation_samples: int | None = None
    judge_model: str = ""
    judge_temperature: float | None = None
    contrast_beta: float | None = None
    contrast_coefficient: float | None = None


FeedbackLag: TypeAlias = int | Literal["unbounded"]
"""Number of update batches that draws may run ahead of feedback."""


def _lag(proto: cur.RunConfig) -> Any:
    kind = proto.WhichOneof("lag")
    return {None: None, "feedback_lag": proto.feedback_lag, "feedback_unbounded": "unbounded"}[kind]


@dataclass(frozen=True)
class RunConfig(Value, message=cur.RunConfig):
    """Configuration with which a run is created. Times are in seconds.

    `Run.update_policy`, `Run.update_shape` and `Run.set_weights` change a run later, and RunState shows the changes.
    None: the default of `Run.create`.
    """

    arms: tuple[Arm, ...]
    policy: Policy
    num_generations: int
    prompts_per_update: int
    length: int = 0
    seed: int = 0
    reward_scheme: RewardScheme | None = None
    answer_format: AnswerFormat | None = None
    feedback_lag: Annotated[FeedbackLag | None, Derived(_lag, "feedback_lag", "feedback_unbounded")] = None
    feedback_source: FeedbackSource | None = None
    group_timeout: float | None = None
    time_to_live: float | None = None
    dynamic_sampling: DynamicSampling | None = None
    late_feedback: LateFeedback | None = None
    prompt_template: PromptTemplate | None = None
    evaluation_arms: tuple[EvaluationArm, ...] = ()
    train_on_evaluated: bool = False
    trainer: TrainerSettings | None = None

    def to_proto(self) -> cur.RunConfig:
        """Converts the configuration to the protobuf message RunConfig."""
        proto: cur.RunConfig = super().to_proto()
        if self.feedback_lag == "unbounded":
            proto.feedback_unbounded = True
        elif self.feedback_lag is not None:
            proto.MergeFrom(message_of(cur.RunConfig, feedback_lag=self.feedback_lag))
        return proto


@dataclass(frozen=True)
class ArmState(Value, message=cur.ArmState):
    """State of an arm.

    Attributes
    ----------
    probability
        Probability of the arm in the last update batch drawn, before constraints.
    value
        Value that a bandit or the frontier policy gives the arm; 0 under other policies.
    issued, repeats
        Number of tasks issued, and of those that repeat an instance of the run.
    groups
        Number of closed groups with at least one reward.
    recent_reward_mean, recent_solved_share
        Mean reward and share of solved samples in the last 256 of those groups; None: there is none yet.
    masked_reason
        Reason why the arm is not drawn although its weight is above 0; None: it is drawn.
    lengths
        Lengths of the completions in the arm's closed groups; None: not known.
    growth
        Levels of an arm that grows; None: it does not.
    rise, practice
        How fast the arm's success rises, in [0, 1], and how many groups it was practised for without progress; None:
        the policy is not `frontier`.

    """

    arm_id: str
    probability: float
    value: float
    weight: float
    issued: int
    repeats: int
    groups: int
    recent_reward_mean: float | None
    recent_solved_share: float | None
    masked_reason: str | None
    removed: bool
    lengths: CompletionLengths | None = None
    growth: ArmGrowth | None = None
    rise: float | None = None
    practice: float | None = None


@dataclass(frozen=True)
class EvaluationRecord(Value, message=cur.EvaluationRecord):
    """A round of an evaluation arm. The means are over samples with a reward; None: there is none yet."""

    arm_id: str
    evaluation_round: Annotated[int, Named("round")]
    cursor: int
    tasks: int
    samples: int
    samples_without_reward: int
    reward_mean: float | None
    solved_share: float | None
    closed: bool


@dataclass(frozen=True)
class RunShape(Value, message=cur.RunShape):
    """Size of a run and of its update batches; `Run.update_shape` changes it. `length` is in tasks; 0: no end."""

    num_generations: int
    prompts_per_update: int
    length: int


@dataclass(frozen=True)
class FormatWarning(Value, message=outcome_pb2.FormatWarning):
    """Nearly all of a run's samples are malformed; `violation` is the most frequent reason."""

    samples: int
    malformed: int
    violation: str


@dataclass(frozen=True)
class RunState(Value, message=cur.RunState):
    """State of a run.

    Attributes
    ----------
    epoch, version, incarnation
        Number of imports, number of changes, and name of the run's creation or last import.
    cursor
        Number of tasks issued, i.e. the position of the first task that is not issued yet.
    first_open_cursor
        Position of the first update batch that is not closed, from which a restarted trainer continues.
    batches_drawn, batches_closed
        Number of update batches drawn, and of those closed before the first open one.
    groups_outstanding
        Number of groups issued and not closed.
    evaluations
        Newest round of each evaluation arm that has had one.
    shape
        Shape of the next update batch; None: the server is older than this field.
    paused_by
        Name of the token that paused the run; "": the run is not paused, or the name is not known.
    paused_at
        Time of the pause, in UTC; None: the run is not paused, or the time is not known.
    pools
        Pools from which the run's arms draw, by name.
    format_warning
        Set while nearly all samples are malformed.
    note, tags
        Description by people, see `Run.annotate`.

    """

    run_id: str
    epoch: int
    version: int
    incarnation: str
    cursor: int
    first_open_cursor: int
    batches_drawn: int
    batches_closed: int
    groups_outstanding: int
    samples_recorded: int
    paused: bool
    done: bool
    policy: Policy
    arms: tuple[ArmState, ...]
    evaluations: tuple[EvaluationRecord, ...]
    shape: RunShape | None = None
    paused_by: str = ""
    paused_at: datetime | None = None
    pools: tuple[RunPool, ...] = ()
    format_warning: FormatWarning | None = None
    note: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Annotation(Value, message=cur.AnnotateRunResponse):
    """Note and tags with which people describe a run. Tags are sorted.

    `no_effect`: a sentence for each part of the change that had no effect. The client also warns of each by a
    NoEffectWarning.
    """

    note: str
    tags: tuple[str, ...]
    no_effect: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunInfo(Value, message=cur.Run):
    """Configuration of a run at its creation, and its current state.

    `unreadable`: set only in lists, the reason for which the server cannot read the run; only `run_id` is valid then.
    """

    run_id: str
    config: RunConfig
    state: RunState
    create_time: datetime
    unreadable: str

    @property
    def config_now(self) -> RunConfig:
        """Returns the configuration with the current `state.shape`. Arms and policy are those of the run's creation."""
        shape = self.state.shape
        return self.config if shape is None else replace(self.config, **vars(shape))


@dataclass(frozen=True)
class Batch(Value, message=cur.NextBatchResponse):
    """Tasks of a run, by cursor.

    `next_cursor` is the position of the next request. `done`: no tasks follow from there.
    """

    tasks: tuple[Task, ...]
    next_cursor: int
    done: bool
    epoch: int


@dataclass(frozen=True)
class ImportedRun(Value, message=cur.ImportRunResponse):
    """A run after an import.

    `outstanding`: tasks that the server issues again, by cursor. Their ids from before the import no longer count.
    """

    run: RunInfo
    outstanding: tuple[Task, ...]
