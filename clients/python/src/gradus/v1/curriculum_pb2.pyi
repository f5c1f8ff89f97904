from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from gradus.v1 import environment_pb2 as _environment_pb2
from gradus.v1 import outcome_pb2 as _outcome_pb2
from gradus.v1 import task_pb2 as _task_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class BanditSignal(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    BANDIT_SIGNAL_UNSPECIFIED: _ClassVar[BanditSignal]
    BANDIT_SIGNAL_ABSOLUTE_ADVANTAGE: _ClassVar[BanditSignal]
    BANDIT_SIGNAL_SOLVED_VARIANCE: _ClassVar[BanditSignal]
    BANDIT_SIGNAL_LEARNING_PROGRESS: _ClassVar[BanditSignal]
    BANDIT_SIGNAL_MIXED_OUTCOMES: _ClassVar[BanditSignal]

class ReplayInstances(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    REPLAY_INSTANCES_UNSPECIFIED: _ClassVar[ReplayInstances]
    REPLAY_INSTANCES_FRESH: _ClassVar[ReplayInstances]
    REPLAY_INSTANCES_SAME: _ClassVar[ReplayInstances]

class SuccessMeasure(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    SUCCESS_MEASURE_UNSPECIFIED: _ClassVar[SuccessMeasure]
    SUCCESS_MEASURE_QUALITY: _ClassVar[SuccessMeasure]
    SUCCESS_MEASURE_SOLVED: _ClassVar[SuccessMeasure]
    SUCCESS_MEASURE_REWARD: _ClassVar[SuccessMeasure]
    SUCCESS_MEASURE_IMPROVEMENT: _ClassVar[SuccessMeasure]

class CompetenceStep(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    COMPETENCE_STEP_UNSPECIFIED: _ClassVar[CompetenceStep]
    COMPETENCE_STEP_WIDEN: _ClassVar[CompetenceStep]
    COMPETENCE_STEP_MOVE_ON: _ClassVar[CompetenceStep]

class FeedbackSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    FEEDBACK_SOURCE_UNSPECIFIED: _ClassVar[FeedbackSource]
    FEEDBACK_SOURCE_STEP: _ClassVar[FeedbackSource]
    FEEDBACK_SOURCE_REPORTED: _ClassVar[FeedbackSource]

class AlikeOutcomes(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    ALIKE_OUTCOMES_UNSPECIFIED: _ClassVar[AlikeOutcomes]
    ALIKE_OUTCOMES_REWARDS: _ClassVar[AlikeOutcomes]
    ALIKE_OUTCOMES_SOLVED: _ClassVar[AlikeOutcomes]

class CloseCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    CLOSE_CAUSE_UNSPECIFIED: _ClassVar[CloseCause]
    CLOSE_CAUSE_TOO_MANY_OPEN: _ClassVar[CloseCause]
    CLOSE_CAUSE_ROW_GONE: _ClassVar[CloseCause]
    CLOSE_CAUSE_REPLACED: _ClassVar[CloseCause]

class HackingSignKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    HACKING_SIGN_KIND_UNSPECIFIED: _ClassVar[HackingSignKind]
    HACKING_SIGN_KIND_REWARD_WITHOUT_SOLVED: _ClassVar[HackingSignKind]
    HACKING_SIGN_KIND_VIOLATION_DOMINATES: _ClassVar[HackingSignKind]
    HACKING_SIGN_KIND_LENGTH_RUNS_AWAY: _ClassVar[HackingSignKind]
    HACKING_SIGN_KIND_COMPONENT_SATURATES: _ClassVar[HackingSignKind]
BANDIT_SIGNAL_UNSPECIFIED: BanditSignal
BANDIT_SIGNAL_ABSOLUTE_ADVANTAGE: BanditSignal
BANDIT_SIGNAL_SOLVED_VARIANCE: BanditSignal
BANDIT_SIGNAL_LEARNING_PROGRESS: BanditSignal
BANDIT_SIGNAL_MIXED_OUTCOMES: BanditSignal
REPLAY_INSTANCES_UNSPECIFIED: ReplayInstances
REPLAY_INSTANCES_FRESH: ReplayInstances
REPLAY_INSTANCES_SAME: ReplayInstances
SUCCESS_MEASURE_UNSPECIFIED: SuccessMeasure
SUCCESS_MEASURE_QUALITY: SuccessMeasure
SUCCESS_MEASURE_SOLVED: SuccessMeasure
SUCCESS_MEASURE_REWARD: SuccessMeasure
SUCCESS_MEASURE_IMPROVEMENT: SuccessMeasure
COMPETENCE_STEP_UNSPECIFIED: CompetenceStep
COMPETENCE_STEP_WIDEN: CompetenceStep
COMPETENCE_STEP_MOVE_ON: CompetenceStep
FEEDBACK_SOURCE_UNSPECIFIED: FeedbackSource
FEEDBACK_SOURCE_STEP: FeedbackSource
FEEDBACK_SOURCE_REPORTED: FeedbackSource
ALIKE_OUTCOMES_UNSPECIFIED: AlikeOutcomes
ALIKE_OUTCOMES_REWARDS: AlikeOutcomes
ALIKE_OUTCOMES_SOLVED: AlikeOutcomes
CLOSE_CAUSE_UNSPECIFIED: CloseCause
CLOSE_CAUSE_TOO_MANY_OPEN: CloseCause
CLOSE_CAUSE_ROW_GONE: CloseCause
CLOSE_CAUSE_REPLACED: CloseCause
HACKING_SIGN_KIND_UNSPECIFIED: HackingSignKind
HACKING_SIGN_KIND_REWARD_WITHOUT_SOLVED: HackingSignKind
HACKING_SIGN_KIND_VIOLATION_DOMINATES: HackingSignKind
HACKING_SIGN_KIND_LENGTH_RUNS_AWAY: HackingSignKind
HACKING_SIGN_KIND_COMPONENT_SATURATES: HackingSignKind

class Arm(_message.Message):
    ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    HARD_FIELD_NUMBER: _ClassVar[int]
    KL_COEFFICIENT_FIELD_NUMBER: _ClassVar[int]
    RANK_GROUP_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    GROW_FIELD_NUMBER: _ClassVar[int]
    id: str
    spec: _task_pb2.TaskSpec
    weight: float
    hard: bool
    kl_coefficient: float
    rank_group: str
    rows: RowCurriculum
    grow: Growth
    def __init__(self, id: _Optional[str] = ..., spec: _Optional[_Union[_task_pb2.TaskSpec, _Mapping]] = ..., weight: _Optional[float] = ..., hard: bool = ..., kl_coefficient: _Optional[float] = ..., rank_group: _Optional[str] = ..., rows: _Optional[_Union[RowCurriculum, _Mapping]] = ..., grow: _Optional[_Union[Growth, _Mapping]] = ...) -> None: ...

class Growth(_message.Message):
    AXIS_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    CAP_FIELD_NUMBER: _ClassVar[int]
    axis: str
    start: int
    step: int
    cap: int
    def __init__(self, axis: _Optional[str] = ..., start: _Optional[int] = ..., step: _Optional[int] = ..., cap: _Optional[int] = ...) -> None: ...

class RowCurriculum(_message.Message):
    LEARNABILITY_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    RETIRE_AFTER_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    COLUMN_SAMPLES_FIELD_NUMBER: _ClassVar[int]
    learnability: RowLearnability
    target: RowTarget
    floor: float
    kept: float
    retire_after: int
    count: int
    column_samples: float
    def __init__(self, learnability: _Optional[_Union[RowLearnability, _Mapping]] = ..., target: _Optional[_Union[RowTarget, _Mapping]] = ..., floor: _Optional[float] = ..., kept: _Optional[float] = ..., retire_after: _Optional[int] = ..., count: _Optional[int] = ..., column_samples: _Optional[float] = ...) -> None: ...

class RowLearnability(_message.Message):
    SHARPNESS_FIELD_NUMBER: _ClassVar[int]
    sharpness: int
    def __init__(self, sharpness: _Optional[int] = ...) -> None: ...

class RowTarget(_message.Message):
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    start: float
    end: float
    width: float
    def __init__(self, start: _Optional[float] = ..., end: _Optional[float] = ..., width: _Optional[float] = ...) -> None: ...

class EvaluationArm(_message.Message):
    ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    NUM_GENERATIONS_FIELD_NUMBER: _ClassVar[int]
    id: str
    spec: _task_pb2.TaskSpec
    tasks: int
    num_generations: int
    def __init__(self, id: _Optional[str] = ..., spec: _Optional[_Union[_task_pb2.TaskSpec, _Mapping]] = ..., tasks: _Optional[int] = ..., num_generations: _Optional[int] = ...) -> None: ...

class MixturePolicy(_message.Message):
    def __init__(self) -> None: ...

class SignalRescale(_message.Message):
    LOW_QUANTILE_FIELD_NUMBER: _ClassVar[int]
    HIGH_QUANTILE_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    low_quantile: float
    high_quantile: float
    window: int
    def __init__(self, low_quantile: _Optional[float] = ..., high_quantile: _Optional[float] = ..., window: _Optional[int] = ...) -> None: ...

class BatchConstraints(_message.Message):
    REAL_SHARE_MIN_FIELD_NUMBER: _ClassVar[int]
    SYNTHETIC_SHARE_MAX_FIELD_NUMBER: _ClassVar[int]
    HARD_SHARE_MIN_FIELD_NUMBER: _ClassVar[int]
    HARD_WARMUP_BATCHES_FIELD_NUMBER: _ClassVar[int]
    real_share_min: float
    synthetic_share_max: float
    hard_share_min: float
    hard_warmup_batches: int
    def __init__(self, real_share_min: _Optional[float] = ..., synthetic_share_max: _Optional[float] = ..., hard_share_min: _Optional[float] = ..., hard_warmup_batches: _Optional[int] = ...) -> None: ...

class EmaSoftmaxRule(_message.Message):
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    TAU_FIELD_NUMBER: _ClassVar[int]
    alpha: float
    tau: float
    def __init__(self, alpha: _Optional[float] = ..., tau: _Optional[float] = ...) -> None: ...

class Exp3SRule(_message.Message):
    RATE_FIELD_NUMBER: _ClassVar[int]
    SHARE_FIELD_NUMBER: _ClassVar[int]
    rate: float
    share: float
    def __init__(self, rate: _Optional[float] = ..., share: _Optional[float] = ...) -> None: ...

class ThompsonRule(_message.Message):
    DISCOUNT_FIELD_NUMBER: _ClassVar[int]
    EXPLORATION_FIELD_NUMBER: _ClassVar[int]
    discount: float
    exploration: float
    def __init__(self, discount: _Optional[float] = ..., exploration: _Optional[float] = ...) -> None: ...

class UcbRule(_message.Message):
    DISCOUNT_FIELD_NUMBER: _ClassVar[int]
    EXPLORATION_FIELD_NUMBER: _ClassVar[int]
    discount: float
    exploration: float
    def __init__(self, discount: _Optional[float] = ..., exploration: _Optional[float] = ...) -> None: ...

class LearningProgress(_message.Message):
    FAST_RATE_FIELD_NUMBER: _ClassVar[int]
    SLOW_RATE_FIELD_NUMBER: _ClassVar[int]
    fast_rate: float
    slow_rate: float
    def __init__(self, fast_rate: _Optional[float] = ..., slow_rate: _Optional[float] = ...) -> None: ...

class BanditPolicy(_message.Message):
    EMA_SOFTMAX_FIELD_NUMBER: _ClassVar[int]
    EXP3_S_FIELD_NUMBER: _ClassVar[int]
    THOMPSON_FIELD_NUMBER: _ClassVar[int]
    UCB_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    LEARNING_PROGRESS_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    RESCALE_FIELD_NUMBER: _ClassVar[int]
    ema_softmax: EmaSoftmaxRule
    exp3_s: Exp3SRule
    thompson: ThompsonRule
    ucb: UcbRule
    signal: BanditSignal
    learning_progress: LearningProgress
    epsilon: float
    rescale: SignalRescale
    def __init__(self, ema_softmax: _Optional[_Union[EmaSoftmaxRule, _Mapping]] = ..., exp3_s: _Optional[_Union[Exp3SRule, _Mapping]] = ..., thompson: _Optional[_Union[ThompsonRule, _Mapping]] = ..., ucb: _Optional[_Union[UcbRule, _Mapping]] = ..., signal: _Optional[_Union[BanditSignal, str]] = ..., learning_progress: _Optional[_Union[LearningProgress, _Mapping]] = ..., epsilon: _Optional[float] = ..., rescale: _Optional[_Union[SignalRescale, _Mapping]] = ...) -> None: ...

class Stage(_message.Message):
    class WeightsEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    SHARE_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    share: float
    tasks: int
    weights: _containers.ScalarMap[str, float]
    ranks: RankRange
    def __init__(self, share: _Optional[float] = ..., tasks: _Optional[int] = ..., weights: _Optional[_Mapping[str, float]] = ..., ranks: _Optional[_Union[RankRange, _Mapping]] = ...) -> None: ...

class RankRange(_message.Message):
    class RowsEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    min: float
    max: float
    by: str
    rows: _containers.ScalarMap[str, int]
    def __init__(self, min: _Optional[float] = ..., max: _Optional[float] = ..., by: _Optional[str] = ..., rows: _Optional[_Mapping[str, int]] = ...) -> None: ...

class StagedPolicy(_message.Message):
    STAGES_FIELD_NUMBER: _ClassVar[int]
    stages: _containers.RepeatedCompositeFieldContainer[Stage]
    def __init__(self, stages: _Optional[_Iterable[_Union[Stage, _Mapping]]] = ...) -> None: ...

class ReplayPolicy(_message.Message):
    STAGES_FIELD_NUMBER: _ClassVar[int]
    CYCLES_FIELD_NUMBER: _ClassVar[int]
    CYCLE_TASKS_FIELD_NUMBER: _ClassVar[int]
    INSTANCES_FIELD_NUMBER: _ClassVar[int]
    stages: _containers.RepeatedCompositeFieldContainer[Stage]
    cycles: int
    cycle_tasks: int
    instances: ReplayInstances
    def __init__(self, stages: _Optional[_Iterable[_Union[Stage, _Mapping]]] = ..., cycles: _Optional[int] = ..., cycle_tasks: _Optional[int] = ..., instances: _Optional[_Union[ReplayInstances, str]] = ...) -> None: ...

class FrontierPolicy(_message.Message):
    class ArmMeasuresEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: SuccessMeasure
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[SuccessMeasure, str]] = ...) -> None: ...
    MEASURE_FIELD_NUMBER: _ClassVar[int]
    ARM_MEASURES_FIELD_NUMBER: _ClassVar[int]
    EXPLORATION_FIELD_NUMBER: _ClassVar[int]
    PRACTICE_SCALE_FIELD_NUMBER: _ClassVar[int]
    measure: SuccessMeasure
    arm_measures: _containers.ScalarMap[str, SuccessMeasure]
    exploration: float
    practice_scale: float
    def __init__(self, measure: _Optional[_Union[SuccessMeasure, str]] = ..., arm_measures: _Optional[_Mapping[str, SuccessMeasure]] = ..., exploration: _Optional[float] = ..., practice_scale: _Optional[float] = ...) -> None: ...

class Tier(_message.Message):
    class WeightsEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    weights: _containers.ScalarMap[str, float]
    def __init__(self, weights: _Optional[_Mapping[str, float]] = ...) -> None: ...

class CompetencePolicy(_message.Message):
    TIERS_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    NEWEST_SHARE_FIELD_NUMBER: _ClassVar[int]
    tiers: _containers.RepeatedCompositeFieldContainer[Tier]
    step: CompetenceStep
    threshold: float
    window: int
    floor: float
    newest_share: float
    def __init__(self, tiers: _Optional[_Iterable[_Union[Tier, _Mapping]]] = ..., step: _Optional[_Union[CompetenceStep, str]] = ..., threshold: _Optional[float] = ..., window: _Optional[int] = ..., floor: _Optional[float] = ..., newest_share: _Optional[float] = ...) -> None: ...

class Domain(_message.Message):
    class WeightsEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    SHARE_FIELD_NUMBER: _ClassVar[int]
    name: str
    weights: _containers.ScalarMap[str, float]
    share: float
    def __init__(self, name: _Optional[str] = ..., weights: _Optional[_Mapping[str, float]] = ..., share: _Optional[float] = ...) -> None: ...

class BackwardTransfer(_message.Message):
    class ChangesEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    TRAINED_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    trained: str
    changes: _containers.ScalarMap[str, float]
    def __init__(self, trained: _Optional[str] = ..., changes: _Optional[_Mapping[str, float]] = ...) -> None: ...

class ForgettingPolicy(_message.Message):
    DOMAINS_FIELD_NUMBER: _ClassVar[int]
    TRANSFERS_FIELD_NUMBER: _ClassVar[int]
    REVERSED_FIELD_NUMBER: _ClassVar[int]
    domains: _containers.RepeatedCompositeFieldContainer[Domain]
    transfers: _containers.RepeatedCompositeFieldContainer[BackwardTransfer]
    reversed: bool
    def __init__(self, domains: _Optional[_Iterable[_Union[Domain, _Mapping]]] = ..., transfers: _Optional[_Iterable[_Union[BackwardTransfer, _Mapping]]] = ..., reversed: bool = ...) -> None: ...

class TaskFilter(_message.Message):
    SKIP_SOLVED_FIELD_NUMBER: _ClassVar[int]
    SKIP_FAILED_AFTER_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    skip_solved: bool
    skip_failed_after: int
    ranks: RankRange
    def __init__(self, skip_solved: bool = ..., skip_failed_after: _Optional[int] = ..., ranks: _Optional[_Union[RankRange, _Mapping]] = ...) -> None: ...

class NamedPolicy(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    name: str
    parameters: _struct_pb2.Struct
    def __init__(self, name: _Optional[str] = ..., parameters: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class Policy(_message.Message):
    MIXTURE_FIELD_NUMBER: _ClassVar[int]
    BANDIT_FIELD_NUMBER: _ClassVar[int]
    STAGED_FIELD_NUMBER: _ClassVar[int]
    REPLAY_FIELD_NUMBER: _ClassVar[int]
    COMPETENCE_FIELD_NUMBER: _ClassVar[int]
    FORGETTING_FIELD_NUMBER: _ClassVar[int]
    NAMED_FIELD_NUMBER: _ClassVar[int]
    FRONTIER_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    mixture: MixturePolicy
    bandit: BanditPolicy
    staged: StagedPolicy
    replay: ReplayPolicy
    competence: CompetencePolicy
    forgetting: ForgettingPolicy
    named: NamedPolicy
    frontier: FrontierPolicy
    constraints: BatchConstraints
    filter: TaskFilter
    def __init__(self, mixture: _Optional[_Union[MixturePolicy, _Mapping]] = ..., bandit: _Optional[_Union[BanditPolicy, _Mapping]] = ..., staged: _Optional[_Union[StagedPolicy, _Mapping]] = ..., replay: _Optional[_Union[ReplayPolicy, _Mapping]] = ..., competence: _Optional[_Union[CompetencePolicy, _Mapping]] = ..., forgetting: _Optional[_Union[ForgettingPolicy, _Mapping]] = ..., named: _Optional[_Union[NamedPolicy, _Mapping]] = ..., frontier: _Optional[_Union[FrontierPolicy, _Mapping]] = ..., constraints: _Optional[_Union[BatchConstraints, _Mapping]] = ..., filter: _Optional[_Union[TaskFilter, _Mapping]] = ...) -> None: ...

class DynamicSampling(_message.Message):
    OVERSAMPLE_MAX_FIELD_NUMBER: _ClassVar[int]
    ALIKE_FIELD_NUMBER: _ClassVar[int]
    oversample_max: float
    alike: AlikeOutcomes
    def __init__(self, oversample_max: _Optional[float] = ..., alike: _Optional[_Union[AlikeOutcomes, str]] = ...) -> None: ...

class LateFeedback(_message.Message):
    BATCHES_MAX_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    batches_max: int
    weight: float
    def __init__(self, batches_max: _Optional[int] = ..., weight: _Optional[float] = ...) -> None: ...

class PromptTemplate(_message.Message):
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    system: str
    user: str
    def __init__(self, system: _Optional[str] = ..., user: _Optional[str] = ...) -> None: ...

class RunConfig(_message.Message):
    ARMS_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    REWARD_SCHEME_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FORMAT_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    NUM_GENERATIONS_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    PROMPTS_PER_UPDATE_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_LAG_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_UNBOUNDED_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_SOURCE_FIELD_NUMBER: _ClassVar[int]
    GROUP_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    TIME_TO_LIVE_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_SAMPLING_FIELD_NUMBER: _ClassVar[int]
    LATE_FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TEMPLATE_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_ARMS_FIELD_NUMBER: _ClassVar[int]
    TRAIN_ON_EVALUATED_FIELD_NUMBER: _ClassVar[int]
    TRAINER_FIELD_NUMBER: _ClassVar[int]
    arms: _containers.RepeatedCompositeFieldContainer[Arm]
    policy: Policy
    reward_scheme: _task_pb2.RewardScheme
    answer_format: _task_pb2.AnswerFormat
    seed: int
    num_generations: int
    length: int
    prompts_per_update: int
    feedback_lag: int
    feedback_unbounded: bool
    feedback_source: FeedbackSource
    group_timeout: _duration_pb2.Duration
    time_to_live: _duration_pb2.Duration
    dynamic_sampling: DynamicSampling
    late_feedback: LateFeedback
    prompt_template: PromptTemplate
    evaluation_arms: _containers.RepeatedCompositeFieldContainer[EvaluationArm]
    train_on_evaluated: bool
    trainer: TrainerSettings
    def __init__(self, arms: _Optional[_Iterable[_Union[Arm, _Mapping]]] = ..., policy: _Optional[_Union[Policy, _Mapping]] = ..., reward_scheme: _Optional[_Union[_task_pb2.RewardScheme, _Mapping]] = ..., answer_format: _Optional[_Union[_task_pb2.AnswerFormat, str]] = ..., seed: _Optional[int] = ..., num_generations: _Optional[int] = ..., length: _Optional[int] = ..., prompts_per_update: _Optional[int] = ..., feedback_lag: _Optional[int] = ..., feedback_unbounded: bool = ..., feedback_source: _Optional[_Union[FeedbackSource, str]] = ..., group_timeout: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., time_to_live: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., dynamic_sampling: _Optional[_Union[DynamicSampling, _Mapping]] = ..., late_feedback: _Optional[_Union[LateFeedback, _Mapping]] = ..., prompt_template: _Optional[_Union[PromptTemplate, _Mapping]] = ..., evaluation_arms: _Optional[_Iterable[_Union[EvaluationArm, _Mapping]]] = ..., train_on_evaluated: bool = ..., trainer: _Optional[_Union[TrainerSettings, _Mapping]] = ...) -> None: ...

class TrainerSettings(_message.Message):
    ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    OPTIMIZER_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    LEARNING_RATE_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    MINI_BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    MICRO_BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    GRADIENT_ACCUMULATION_STEPS_FIELD_NUMBER: _ClassVar[int]
    GRADIENT_CLIP_FIELD_NUMBER: _ClassVar[int]
    EPOCHS_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_EVERY_FIELD_NUMBER: _ClassVar[int]
    KL_COEFFICIENT_FIELD_NUMBER: _ClassVar[int]
    CLIP_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_LEVEL_FIELD_NUMBER: _ClassVar[int]
    ENTROPY_COEFFICIENT_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    PROMPT_LENGTH_MAX_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_LENGTH_MAX_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_TOP_P_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_TOP_K_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_SAMPLES_FIELD_NUMBER: _ClassVar[int]
    JUDGE_MODEL_FIELD_NUMBER: _ClassVar[int]
    JUDGE_TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    CONTRAST_BETA_FIELD_NUMBER: _ClassVar[int]
    CONTRAST_COEFFICIENT_FIELD_NUMBER: _ClassVar[int]
    algorithm: str
    model: str
    optimizer: str
    schedule: str
    learning_rate: float
    batch_size: int
    mini_batch_size: int
    micro_batch_size: int
    gradient_accumulation_steps: int
    gradient_clip: float
    epochs: int
    checkpoint_every: int
    kl_coefficient: float
    clip: float
    importance_level: str
    entropy_coefficient: float
    temperature: float
    top_p: float
    top_k: int
    prompt_length_max: int
    completion_length_max: int
    evaluation_temperature: float
    evaluation_top_p: float
    evaluation_top_k: int
    evaluation_samples: int
    judge_model: str
    judge_temperature: float
    contrast_beta: float
    contrast_coefficient: float
    def __init__(self, algorithm: _Optional[str] = ..., model: _Optional[str] = ..., optimizer: _Optional[str] = ..., schedule: _Optional[str] = ..., learning_rate: _Optional[float] = ..., batch_size: _Optional[int] = ..., mini_batch_size: _Optional[int] = ..., micro_batch_size: _Optional[int] = ..., gradient_accumulation_steps: _Optional[int] = ..., gradient_clip: _Optional[float] = ..., epochs: _Optional[int] = ..., checkpoint_every: _Optional[int] = ..., kl_coefficient: _Optional[float] = ..., clip: _Optional[float] = ..., importance_level: _Optional[str] = ..., entropy_coefficient: _Optional[float] = ..., temperature: _Optional[float] = ..., top_p: _Optional[float] = ..., top_k: _Optional[int] = ..., prompt_length_max: _Optional[int] = ..., completion_length_max: _Optional[int] = ..., evaluation_temperature: _Optional[float] = ..., evaluation_top_p: _Optional[float] = ..., evaluation_top_k: _Optional[int] = ..., evaluation_samples: _Optional[int] = ..., judge_model: _Optional[str] = ..., judge_temperature: _Optional[float] = ..., contrast_beta: _Optional[float] = ..., contrast_coefficient: _Optional[float] = ...) -> None: ...

class ArmState(_message.Message):
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    ISSUED_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    RECENT_REWARD_MEAN_FIELD_NUMBER: _ClassVar[int]
    RECENT_SOLVED_SHARE_FIELD_NUMBER: _ClassVar[int]
    REPEATS_FIELD_NUMBER: _ClassVar[int]
    MASKED_REASON_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    GROWTH_FIELD_NUMBER: _ClassVar[int]
    LENGTHS_FIELD_NUMBER: _ClassVar[int]
    RISE_FIELD_NUMBER: _ClassVar[int]
    PRACTICE_FIELD_NUMBER: _ClassVar[int]
    arm_id: str
    probability: float
    value: float
    weight: float
    issued: int
    groups: int
    recent_reward_mean: float
    recent_solved_share: float
    repeats: int
    masked_reason: str
    removed: bool
    growth: ArmGrowth
    lengths: CompletionLengths
    rise: float
    practice: float
    def __init__(self, arm_id: _Optional[str] = ..., probability: _Optional[float] = ..., value: _Optional[float] = ..., weight: _Optional[float] = ..., issued: _Optional[int] = ..., groups: _Optional[int] = ..., recent_reward_mean: _Optional[float] = ..., recent_solved_share: _Optional[float] = ..., repeats: _Optional[int] = ..., masked_reason: _Optional[str] = ..., removed: bool = ..., growth: _Optional[_Union[ArmGrowth, _Mapping]] = ..., lengths: _Optional[_Union[CompletionLengths, _Mapping]] = ..., rise: _Optional[float] = ..., practice: _Optional[float] = ...) -> None: ...

class ArmGrowth(_message.Message):
    AXIS_FIELD_NUMBER: _ClassVar[int]
    FRONTIER_FIELD_NUMBER: _ClassVar[int]
    CAP_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    axis: str
    frontier: int
    cap: int
    levels: _containers.RepeatedCompositeFieldContainer[GrownLevel]
    def __init__(self, axis: _Optional[str] = ..., frontier: _Optional[int] = ..., cap: _Optional[int] = ..., levels: _Optional[_Iterable[_Union[GrownLevel, _Mapping]]] = ...) -> None: ...

class GrownLevel(_message.Message):
    VALUE_FIELD_NUMBER: _ClassVar[int]
    SHARE_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    RETIRED_FIELD_NUMBER: _ClassVar[int]
    value: int
    share: float
    success: float
    retired: bool
    def __init__(self, value: _Optional[int] = ..., share: _Optional[float] = ..., success: _Optional[float] = ..., retired: bool = ...) -> None: ...

class CompletionLengths(_message.Message):
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_SAMPLES_FIELD_NUMBER: _ClassVar[int]
    CHARACTERS_FIELD_NUMBER: _ClassVar[int]
    CHARACTER_SAMPLES_FIELD_NUMBER: _ClassVar[int]
    tokens: int
    token_samples: int
    characters: int
    character_samples: int
    def __init__(self, tokens: _Optional[int] = ..., token_samples: _Optional[int] = ..., characters: _Optional[int] = ..., character_samples: _Optional[int] = ...) -> None: ...

class EvaluationRecord(_message.Message):
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_WITHOUT_REWARD_FIELD_NUMBER: _ClassVar[int]
    REWARD_MEAN_FIELD_NUMBER: _ClassVar[int]
    SOLVED_SHARE_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    arm_id: str
    round: int
    cursor: int
    tasks: int
    samples: int
    samples_without_reward: int
    reward_mean: float
    solved_share: float
    closed: bool
    def __init__(self, arm_id: _Optional[str] = ..., round: _Optional[int] = ..., cursor: _Optional[int] = ..., tasks: _Optional[int] = ..., samples: _Optional[int] = ..., samples_without_reward: _Optional[int] = ..., reward_mean: _Optional[float] = ..., solved_share: _Optional[float] = ..., closed: bool = ...) -> None: ...

class RunState(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    BATCHES_DRAWN_FIELD_NUMBER: _ClassVar[int]
    BATCHES_CLOSED_FIELD_NUMBER: _ClassVar[int]
    GROUPS_OUTSTANDING_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_RECORDED_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    ARMS_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    FIRST_OPEN_CURSOR_FIELD_NUMBER: _ClassVar[int]
    EVALUATIONS_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    PAUSED_BY_FIELD_NUMBER: _ClassVar[int]
    PAUSED_AT_FIELD_NUMBER: _ClassVar[int]
    POOLS_FIELD_NUMBER: _ClassVar[int]
    FORMAT_WARNING_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    epoch: int
    version: int
    cursor: int
    batches_drawn: int
    batches_closed: int
    groups_outstanding: int
    samples_recorded: int
    paused: bool
    done: bool
    policy: Policy
    arms: _containers.RepeatedCompositeFieldContainer[ArmState]
    incarnation: str
    first_open_cursor: int
    evaluations: _containers.RepeatedCompositeFieldContainer[EvaluationRecord]
    shape: RunShape
    paused_by: str
    paused_at: _timestamp_pb2.Timestamp
    pools: _containers.RepeatedCompositeFieldContainer[RunPool]
    format_warning: _outcome_pb2.FormatWarning
    note: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, run_id: _Optional[str] = ..., epoch: _Optional[int] = ..., version: _Optional[int] = ..., cursor: _Optional[int] = ..., batches_drawn: _Optional[int] = ..., batches_closed: _Optional[int] = ..., groups_outstanding: _Optional[int] = ..., samples_recorded: _Optional[int] = ..., paused: bool = ..., done: bool = ..., policy: _Optional[_Union[Policy, _Mapping]] = ..., arms: _Optional[_Iterable[_Union[ArmState, _Mapping]]] = ..., incarnation: _Optional[str] = ..., first_open_cursor: _Optional[int] = ..., evaluations: _Optional[_Iterable[_Union[EvaluationRecord, _Mapping]]] = ..., shape: _Optional[_Union[RunShape, _Mapping]] = ..., paused_by: _Optional[str] = ..., paused_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., pools: _Optional[_Iterable[_Union[RunPool, _Mapping]]] = ..., format_warning: _Optional[_Union[_outcome_pb2.FormatWarning, _Mapping]] = ..., note: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ...) -> None: ...

class RunPool(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    GONE_FIELD_NUMBER: _ClassVar[int]
    name: str
    digest: str
    rows: int
    gone: int
    def __init__(self, name: _Optional[str] = ..., digest: _Optional[str] = ..., rows: _Optional[int] = ..., gone: _Optional[int] = ...) -> None: ...

class RunShape(_message.Message):
    NUM_GENERATIONS_FIELD_NUMBER: _ClassVar[int]
    PROMPTS_PER_UPDATE_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    num_generations: int
    prompts_per_update: int
    length: int
    def __init__(self, num_generations: _Optional[int] = ..., prompts_per_update: _Optional[int] = ..., length: _Optional[int] = ...) -> None: ...

class Run(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    config: RunConfig
    state: RunState
    create_time: _timestamp_pb2.Timestamp
    unreadable: str
    def __init__(self, run_id: _Optional[str] = ..., config: _Optional[_Union[RunConfig, _Mapping]] = ..., state: _Optional[_Union[RunState, _Mapping]] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., unreadable: _Optional[str] = ...) -> None: ...

class CreateRunRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    config: RunConfig
    def __init__(self, run_id: _Optional[str] = ..., config: _Optional[_Union[RunConfig, _Mapping]] = ...) -> None: ...

class CreateRunResponse(_message.Message):
    RUN_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    run: Run
    created: bool
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ..., created: bool = ...) -> None: ...

class CheckRunRequest(_message.Message):
    FILE_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    file: str
    config: RunConfig
    def __init__(self, file: _Optional[str] = ..., config: _Optional[_Union[RunConfig, _Mapping]] = ...) -> None: ...

class RunRemark(_message.Message):
    FIELD_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    field: str
    message: str
    line: int
    def __init__(self, field: _Optional[str] = ..., message: _Optional[str] = ..., line: _Optional[int] = ...) -> None: ...

class CheckRunResponse(_message.Message):
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    problems: _containers.RepeatedCompositeFieldContainer[RunRemark]
    warnings: _containers.RepeatedCompositeFieldContainer[RunRemark]
    config: RunConfig
    run_id: str
    created: RunConfig
    def __init__(self, problems: _Optional[_Iterable[_Union[RunRemark, _Mapping]]] = ..., warnings: _Optional[_Iterable[_Union[RunRemark, _Mapping]]] = ..., config: _Optional[_Union[RunConfig, _Mapping]] = ..., run_id: _Optional[str] = ..., created: _Optional[_Union[RunConfig, _Mapping]] = ...) -> None: ...

class SimulateRunRequest(_message.Message):
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    STUDENT_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    UPDATES_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    config: RunConfig
    student: str
    seed: int
    updates: int
    points: int
    def __init__(self, config: _Optional[_Union[RunConfig, _Mapping]] = ..., student: _Optional[str] = ..., seed: _Optional[int] = ..., updates: _Optional[int] = ..., points: _Optional[int] = ...) -> None: ...

class SimulatedOutcome(_message.Message):
    ROLLOUTS_TO_TARGET_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_MEAN_FIELD_NUMBER: _ClassVar[int]
    WASTED_FIELD_NUMBER: _ClassVar[int]
    USEFUL_FIELD_NUMBER: _ClassVar[int]
    rollouts_to_target: int
    success: float
    success_mean: float
    wasted: float
    useful: float
    def __init__(self, rollouts_to_target: _Optional[int] = ..., success: _Optional[float] = ..., success_mean: _Optional[float] = ..., wasted: _Optional[float] = ..., useful: _Optional[float] = ...) -> None: ...

class SimulatedPoint(_message.Message):
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    PROBABILITIES_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    SOLVED_SHARE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    cursor: int
    counts: _containers.RepeatedScalarFieldContainer[int]
    probabilities: _containers.RepeatedScalarFieldContainer[float]
    success: _containers.RepeatedScalarFieldContainer[float]
    solved_share: float
    score: float
    def __init__(self, cursor: _Optional[int] = ..., counts: _Optional[_Iterable[int]] = ..., probabilities: _Optional[_Iterable[float]] = ..., success: _Optional[_Iterable[float]] = ..., solved_share: _Optional[float] = ..., score: _Optional[float] = ...) -> None: ...

class SimulateRunResponse(_message.Message):
    POINTS_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    EQUAL_SHARES_FIELD_NUMBER: _ClassVar[int]
    ARM_IDS_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    points: _containers.RepeatedCompositeFieldContainer[SimulatedPoint]
    outcome: SimulatedOutcome
    equal_shares: SimulatedOutcome
    arm_ids: _containers.RepeatedScalarFieldContainer[str]
    target: float
    def __init__(self, points: _Optional[_Iterable[_Union[SimulatedPoint, _Mapping]]] = ..., outcome: _Optional[_Union[SimulatedOutcome, _Mapping]] = ..., equal_shares: _Optional[_Union[SimulatedOutcome, _Mapping]] = ..., arm_ids: _Optional[_Iterable[str]] = ..., target: _Optional[float] = ...) -> None: ...

class GetRunRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class GetRunResponse(_message.Message):
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: Run
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ...) -> None: ...

class ListRunsRequest(_message.Message):
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRunsResponse(_message.Message):
    RUNS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[Run]
    next_page_token: str
    def __init__(self, runs: _Optional[_Iterable[_Union[Run, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeleteRunRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class DeleteRunResponse(_message.Message):
    def __init__(self) -> None: ...

class NextBatchRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    cursor: int
    count: int
    wait: _duration_pb2.Duration
    def __init__(self, run_id: _Optional[str] = ..., cursor: _Optional[int] = ..., count: _Optional[int] = ..., wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class NextBatchResponse(_message.Message):
    TASKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    tasks: _containers.RepeatedCompositeFieldContainer[_task_pb2.Task]
    next_cursor: int
    done: bool
    epoch: int
    def __init__(self, tasks: _Optional[_Iterable[_Union[_task_pb2.Task, _Mapping]]] = ..., next_cursor: _Optional[int] = ..., done: bool = ..., epoch: _Optional[int] = ...) -> None: ...

class NextEvaluationRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    arm_id: str
    round: int
    cursor: int
    count: int
    def __init__(self, run_id: _Optional[str] = ..., arm_id: _Optional[str] = ..., round: _Optional[int] = ..., cursor: _Optional[int] = ..., count: _Optional[int] = ...) -> None: ...

class NextEvaluationResponse(_message.Message):
    TASKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    tasks: _containers.RepeatedCompositeFieldContainer[_task_pb2.Task]
    next_cursor: int
    done: bool
    epoch: int
    def __init__(self, tasks: _Optional[_Iterable[_Union[_task_pb2.Task, _Mapping]]] = ..., next_cursor: _Optional[int] = ..., done: bool = ..., epoch: _Optional[int] = ...) -> None: ...

class GroupAdvantages(_message.Message):
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    ADVANTAGES_FIELD_NUMBER: _ClassVar[int]
    REWARD_MEAN_FIELD_NUMBER: _ClassVar[int]
    group_id: str
    advantages: _containers.RepeatedScalarFieldContainer[float]
    reward_mean: float
    def __init__(self, group_id: _Optional[str] = ..., advantages: _Optional[_Iterable[float]] = ..., reward_mean: _Optional[float] = ...) -> None: ...

class ReportAdvantagesRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    groups: _containers.RepeatedCompositeFieldContainer[GroupAdvantages]
    def __init__(self, run_id: _Optional[str] = ..., groups: _Optional[_Iterable[_Union[GroupAdvantages, _Mapping]]] = ...) -> None: ...

class GroupFeedback(_message.Message):
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    group_id: str
    feedback: _outcome_pb2.Feedback
    def __init__(self, group_id: _Optional[str] = ..., feedback: _Optional[_Union[_outcome_pb2.Feedback, _Mapping]] = ...) -> None: ...

class ReportAdvantagesResponse(_message.Message):
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[GroupFeedback]
    def __init__(self, groups: _Optional[_Iterable[_Union[GroupFeedback, _Mapping]]] = ...) -> None: ...

class CloseGroupsRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    GROUP_IDS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    group_ids: _containers.RepeatedScalarFieldContainer[str]
    reason: str
    validate_only: bool
    def __init__(self, run_id: _Optional[str] = ..., group_ids: _Optional[_Iterable[str]] = ..., reason: _Optional[str] = ..., validate_only: bool = ...) -> None: ...

class CloseGroupsResponse(_message.Message):
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[GroupFeedback]
    def __init__(self, groups: _Optional[_Iterable[_Union[GroupFeedback, _Mapping]]] = ...) -> None: ...

class GetGroupsRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    UPDATE_BATCH_FIELD_NUMBER: _ClassVar[int]
    GROUP_IDS_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    open: bool
    update_batch: int
    group_ids: _containers.RepeatedScalarFieldContainer[str]
    tasks: bool
    wait: _duration_pb2.Duration
    page_size: int
    page_token: str
    def __init__(self, run_id: _Optional[str] = ..., open: bool = ..., update_batch: _Optional[int] = ..., group_ids: _Optional[_Iterable[str]] = ..., tasks: bool = ..., wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class RecordedSample(_message.Message):
    SAMPLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    REWARD_FIELD_NUMBER: _ClassVar[int]
    SOLVED_FIELD_NUMBER: _ClassVar[int]
    NO_REWARD_FIELD_NUMBER: _ClassVar[int]
    RLOO_ADVANTAGE_FIELD_NUMBER: _ClassVar[int]
    GRPO_ADVANTAGE_FIELD_NUMBER: _ClassVar[int]
    POLICY_VERSION_FIELD_NUMBER: _ClassVar[int]
    sample_index: int
    reward: float
    solved: bool
    no_reward: str
    rloo_advantage: float
    grpo_advantage: float
    policy_version: int
    def __init__(self, sample_index: _Optional[int] = ..., reward: _Optional[float] = ..., solved: bool = ..., no_reward: _Optional[str] = ..., rloo_advantage: _Optional[float] = ..., grpo_advantage: _Optional[float] = ..., policy_version: _Optional[int] = ...) -> None: ...

class RunGroup(_message.Message):
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    UPDATE_BATCH_FIELD_NUMBER: _ClassVar[int]
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_FIELD_NUMBER: _ClassVar[int]
    USEFUL_FIELD_NUMBER: _ClassVar[int]
    SELECTED_FIELD_NUMBER: _ClassVar[int]
    CONTRAST_PAIRS_FIELD_NUMBER: _ClassVar[int]
    ISSUE_TIME_FIELD_NUMBER: _ClassVar[int]
    group_id: str
    cursor: int
    update_batch: int
    arm_id: str
    task: _task_pb2.Task
    closed: bool
    missing: _containers.RepeatedScalarFieldContainer[int]
    samples: _containers.RepeatedCompositeFieldContainer[RecordedSample]
    statistics: _outcome_pb2.GroupStatistics
    useful: bool
    selected: bool
    contrast_pairs: _containers.RepeatedCompositeFieldContainer[_outcome_pb2.ContrastPair]
    issue_time: _timestamp_pb2.Timestamp
    def __init__(self, group_id: _Optional[str] = ..., cursor: _Optional[int] = ..., update_batch: _Optional[int] = ..., arm_id: _Optional[str] = ..., task: _Optional[_Union[_task_pb2.Task, _Mapping]] = ..., closed: bool = ..., missing: _Optional[_Iterable[int]] = ..., samples: _Optional[_Iterable[_Union[RecordedSample, _Mapping]]] = ..., statistics: _Optional[_Union[_outcome_pb2.GroupStatistics, _Mapping]] = ..., useful: bool = ..., selected: bool = ..., contrast_pairs: _Optional[_Iterable[_Union[_outcome_pb2.ContrastPair, _Mapping]]] = ..., issue_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GetGroupsResponse(_message.Message):
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[RunGroup]
    next_page_token: str
    closed: bool
    def __init__(self, groups: _Optional[_Iterable[_Union[RunGroup, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., closed: bool = ...) -> None: ...

class RateRowsRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    POOL_DIGEST_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    arm_id: str
    rows: _containers.RepeatedCompositeFieldContainer[RowRating]
    samples: float
    validate_only: bool
    pool_digest: str
    def __init__(self, run_id: _Optional[str] = ..., arm_id: _Optional[str] = ..., rows: _Optional[_Iterable[_Union[RowRating, _Mapping]]] = ..., samples: _Optional[float] = ..., validate_only: bool = ..., pool_digest: _Optional[str] = ...) -> None: ...

class RowRating(_message.Message):
    ROW_FIELD_NUMBER: _ClassVar[int]
    PASS_RATE_FIELD_NUMBER: _ClassVar[int]
    row: int
    pass_rate: float
    def __init__(self, row: _Optional[int] = ..., pass_rate: _Optional[float] = ...) -> None: ...

class RateRowsResponse(_message.Message):
    APPLIES_FROM_CURSOR_FIELD_NUMBER: _ClassVar[int]
    applies_from_cursor: int
    def __init__(self, applies_from_cursor: _Optional[int] = ...) -> None: ...

class ListRowsRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    arm_id: str
    page_size: int
    page_token: str
    def __init__(self, run_id: _Optional[str] = ..., arm_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRowsResponse(_message.Message):
    ROWS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    HISTOGRAM_FIELD_NUMBER: _ClassVar[int]
    RETIRED_FIELD_NUMBER: _ClassVar[int]
    POOL_DIGEST_FIELD_NUMBER: _ClassVar[int]
    GONE_FIELD_NUMBER: _ClassVar[int]
    rows: _containers.RepeatedCompositeFieldContainer[RowState]
    next_page_token: str
    histogram: _containers.RepeatedScalarFieldContainer[int]
    retired: int
    pool_digest: str
    gone: int
    def __init__(self, rows: _Optional[_Iterable[_Union[RowState, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., histogram: _Optional[_Iterable[int]] = ..., retired: _Optional[int] = ..., pool_digest: _Optional[str] = ..., gone: _Optional[int] = ...) -> None: ...

class RowState(_message.Message):
    ROW_FIELD_NUMBER: _ClassVar[int]
    PASS_RATE_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    SOLVED_STREAK_FIELD_NUMBER: _ClassVar[int]
    RETIRED_FIELD_NUMBER: _ClassVar[int]
    GONE_FIELD_NUMBER: _ClassVar[int]
    row: int
    pass_rate: float
    samples: float
    solved_streak: int
    retired: bool
    gone: bool
    def __init__(self, row: _Optional[int] = ..., pass_rate: _Optional[float] = ..., samples: _Optional[float] = ..., solved_streak: _Optional[int] = ..., retired: bool = ..., gone: bool = ...) -> None: ...

class ReopenGroupsRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    GROUP_IDS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    group_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, run_id: _Optional[str] = ..., group_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ReopenGroupsResponse(_message.Message):
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[GroupFeedback]
    def __init__(self, groups: _Optional[_Iterable[_Union[GroupFeedback, _Mapping]]] = ...) -> None: ...

class UpdateShapeRequest(_message.Message):
    class GrowArmsEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Growth
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Growth, _Mapping]] = ...) -> None: ...
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    ADD_ARMS_FIELD_NUMBER: _ClassVar[int]
    REMOVE_ARMS_FIELD_NUMBER: _ClassVar[int]
    NUM_GENERATIONS_FIELD_NUMBER: _ClassVar[int]
    PROMPTS_PER_UPDATE_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    GROW_ARMS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    add_arms: _containers.RepeatedCompositeFieldContainer[Arm]
    remove_arms: _containers.RepeatedScalarFieldContainer[str]
    num_generations: int
    prompts_per_update: int
    length: int
    policy: Policy
    validate_only: bool
    grow_arms: _containers.MessageMap[str, Growth]
    def __init__(self, run_id: _Optional[str] = ..., add_arms: _Optional[_Iterable[_Union[Arm, _Mapping]]] = ..., remove_arms: _Optional[_Iterable[str]] = ..., num_generations: _Optional[int] = ..., prompts_per_update: _Optional[int] = ..., length: _Optional[int] = ..., policy: _Optional[_Union[Policy, _Mapping]] = ..., validate_only: bool = ..., grow_arms: _Optional[_Mapping[str, Growth]] = ...) -> None: ...

class UpdateShapeResponse(_message.Message):
    APPLIES_FROM_CURSOR_FIELD_NUMBER: _ClassVar[int]
    NO_EFFECT_FIELD_NUMBER: _ClassVar[int]
    applies_from_cursor: int
    no_effect: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, applies_from_cursor: _Optional[int] = ..., no_effect: _Optional[_Iterable[str]] = ...) -> None: ...

class UpdatePolicyRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    policy: Policy
    validate_only: bool
    def __init__(self, run_id: _Optional[str] = ..., policy: _Optional[_Union[Policy, _Mapping]] = ..., validate_only: bool = ...) -> None: ...

class UpdatePolicyResponse(_message.Message):
    APPLIES_FROM_CURSOR_FIELD_NUMBER: _ClassVar[int]
    NO_EFFECT_FIELD_NUMBER: _ClassVar[int]
    applies_from_cursor: int
    no_effect: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, applies_from_cursor: _Optional[int] = ..., no_effect: _Optional[_Iterable[str]] = ...) -> None: ...

class ComparePolicyRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    policy: Policy
    def __init__(self, run_id: _Optional[str] = ..., policy: _Optional[_Union[Policy, _Mapping]] = ...) -> None: ...

class ComparedDraw(_message.Message):
    UPDATE_BATCH_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    RECORDED_FIELD_NUMBER: _ClassVar[int]
    PROBABILITIES_FIELD_NUMBER: _ClassVar[int]
    update_batch: int
    cursor: int
    recorded: _containers.RepeatedScalarFieldContainer[float]
    probabilities: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, update_batch: _Optional[int] = ..., cursor: _Optional[int] = ..., recorded: _Optional[_Iterable[float]] = ..., probabilities: _Optional[_Iterable[float]] = ...) -> None: ...

class ComparePolicyResponse(_message.Message):
    DRAWS_FIELD_NUMBER: _ClassVar[int]
    draws: _containers.RepeatedCompositeFieldContainer[ComparedDraw]
    def __init__(self, draws: _Optional[_Iterable[_Union[ComparedDraw, _Mapping]]] = ...) -> None: ...

class SetWeightsRequest(_message.Message):
    class WeightsEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    weights: _containers.ScalarMap[str, float]
    validate_only: bool
    def __init__(self, run_id: _Optional[str] = ..., weights: _Optional[_Mapping[str, float]] = ..., validate_only: bool = ...) -> None: ...

class SetWeightsResponse(_message.Message):
    APPLIES_FROM_CURSOR_FIELD_NUMBER: _ClassVar[int]
    NO_EFFECT_FIELD_NUMBER: _ClassVar[int]
    applies_from_cursor: int
    no_effect: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, applies_from_cursor: _Optional[int] = ..., no_effect: _Optional[_Iterable[str]] = ...) -> None: ...

class AdvanceRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    validate_only: bool
    arm_id: str
    def __init__(self, run_id: _Optional[str] = ..., validate_only: bool = ..., arm_id: _Optional[str] = ...) -> None: ...

class AdvanceResponse(_message.Message):
    APPLIES_FROM_CURSOR_FIELD_NUMBER: _ClassVar[int]
    NO_EFFECT_FIELD_NUMBER: _ClassVar[int]
    applies_from_cursor: int
    no_effect: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, applies_from_cursor: _Optional[int] = ..., no_effect: _Optional[_Iterable[str]] = ...) -> None: ...

class PauseRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    validate_only: bool
    def __init__(self, run_id: _Optional[str] = ..., validate_only: bool = ...) -> None: ...

class PauseResponse(_message.Message):
    APPLIES_FROM_CURSOR_FIELD_NUMBER: _ClassVar[int]
    NO_EFFECT_FIELD_NUMBER: _ClassVar[int]
    applies_from_cursor: int
    no_effect: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, applies_from_cursor: _Optional[int] = ..., no_effect: _Optional[_Iterable[str]] = ...) -> None: ...

class ResumeRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    validate_only: bool
    def __init__(self, run_id: _Optional[str] = ..., validate_only: bool = ...) -> None: ...

class ResumeResponse(_message.Message):
    APPLIES_FROM_CURSOR_FIELD_NUMBER: _ClassVar[int]
    NO_EFFECT_FIELD_NUMBER: _ClassVar[int]
    applies_from_cursor: int
    no_effect: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, applies_from_cursor: _Optional[int] = ..., no_effect: _Optional[_Iterable[str]] = ...) -> None: ...

class AnnotateRunRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    ADD_TAGS_FIELD_NUMBER: _ClassVar[int]
    REMOVE_TAGS_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    note: str
    add_tags: _containers.RepeatedScalarFieldContainer[str]
    remove_tags: _containers.RepeatedScalarFieldContainer[str]
    validate_only: bool
    def __init__(self, run_id: _Optional[str] = ..., note: _Optional[str] = ..., add_tags: _Optional[_Iterable[str]] = ..., remove_tags: _Optional[_Iterable[str]] = ..., validate_only: bool = ...) -> None: ...

class AnnotateRunResponse(_message.Message):
    NOTE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    NO_EFFECT_FIELD_NUMBER: _ClassVar[int]
    note: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    no_effect: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, note: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., no_effect: _Optional[_Iterable[str]] = ...) -> None: ...

class ExportRunRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class ExportRunResponse(_message.Message):
    STATE_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    state: bytes
    epoch: int
    cursor: int
    def __init__(self, state: _Optional[bytes] = ..., epoch: _Optional[int] = ..., cursor: _Optional[int] = ...) -> None: ...

class ImportRunRequest(_message.Message):
    STATE_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    RESTORE_CONTROL_FIELD_NUMBER: _ClassVar[int]
    state: bytes
    run_id: str
    restore_control: bool
    def __init__(self, state: _Optional[bytes] = ..., run_id: _Optional[str] = ..., restore_control: bool = ...) -> None: ...

class ImportRunResponse(_message.Message):
    RUN_FIELD_NUMBER: _ClassVar[int]
    OUTSTANDING_FIELD_NUMBER: _ClassVar[int]
    run: Run
    outstanding: _containers.RepeatedCompositeFieldContainer[_task_pb2.Task]
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ..., outstanding: _Optional[_Iterable[_Union[_task_pb2.Task, _Mapping]]] = ...) -> None: ...

class WatchRunRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    interval_ms: int
    def __init__(self, run_id: _Optional[str] = ..., interval_ms: _Optional[int] = ...) -> None: ...

class WatchRunResponse(_message.Message):
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: RunState
    def __init__(self, state: _Optional[_Union[RunState, _Mapping]] = ...) -> None: ...

class GetHistoryRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    MERGE_BATCHES_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_ARMS_FIELD_NUMBER: _ClassVar[int]
    ARM_GROUPS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    page_size: int
    page_token: str
    merge_batches: int
    without_arms: bool
    arm_groups: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, run_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., merge_batches: _Optional[int] = ..., without_arms: bool = ..., arm_groups: _Optional[_Iterable[int]] = ...) -> None: ...

class BatchRecord(_message.Message):
    BATCH_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    PROBABILITIES_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    REWARD_MEAN_FIELD_NUMBER: _ClassVar[int]
    SOLVED_SHARE_FIELD_NUMBER: _ClassVar[int]
    PROMPTS_FIELD_NUMBER: _ClassVar[int]
    RELEASED_FIELD_NUMBER: _ClassVar[int]
    USEFUL_FIELD_NUMBER: _ClassVar[int]
    MERGED_FIELD_NUMBER: _ClassVar[int]
    REWARD_SUMS_FIELD_NUMBER: _ClassVar[int]
    REWARD_COUNTS_FIELD_NUMBER: _ClassVar[int]
    FRONTIERS_FIELD_NUMBER: _ClassVar[int]
    LENGTHS_FIELD_NUMBER: _ClassVar[int]
    SOLVED_COUNTS_FIELD_NUMBER: _ClassVar[int]
    batch: int
    cursor: int
    probabilities: _containers.RepeatedScalarFieldContainer[float]
    values: _containers.RepeatedScalarFieldContainer[float]
    counts: _containers.RepeatedScalarFieldContainer[int]
    closed: bool
    reward_mean: float
    solved_share: float
    prompts: int
    released: int
    useful: int
    merged: int
    reward_sums: _containers.RepeatedScalarFieldContainer[float]
    reward_counts: _containers.RepeatedScalarFieldContainer[int]
    frontiers: _containers.RepeatedScalarFieldContainer[int]
    lengths: CompletionLengths
    solved_counts: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, batch: _Optional[int] = ..., cursor: _Optional[int] = ..., probabilities: _Optional[_Iterable[float]] = ..., values: _Optional[_Iterable[float]] = ..., counts: _Optional[_Iterable[int]] = ..., closed: bool = ..., reward_mean: _Optional[float] = ..., solved_share: _Optional[float] = ..., prompts: _Optional[int] = ..., released: _Optional[int] = ..., useful: _Optional[int] = ..., merged: _Optional[int] = ..., reward_sums: _Optional[_Iterable[float]] = ..., reward_counts: _Optional[_Iterable[int]] = ..., frontiers: _Optional[_Iterable[int]] = ..., lengths: _Optional[_Union[CompletionLengths, _Mapping]] = ..., solved_counts: _Optional[_Iterable[int]] = ...) -> None: ...

class ControlRecord(_message.Message):
    class WeightsEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    KIND_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    CLOSE_CAUSE_FIELD_NUMBER: _ClassVar[int]
    kind: str
    cursor: int
    policy: Policy
    weights: _containers.ScalarMap[str, float]
    reason: str
    arm_id: str
    by: str
    shape: RunShape
    close_cause: CloseCause
    def __init__(self, kind: _Optional[str] = ..., cursor: _Optional[int] = ..., policy: _Optional[_Union[Policy, _Mapping]] = ..., weights: _Optional[_Mapping[str, float]] = ..., reason: _Optional[str] = ..., arm_id: _Optional[str] = ..., by: _Optional[str] = ..., shape: _Optional[_Union[RunShape, _Mapping]] = ..., close_cause: _Optional[_Union[CloseCause, str]] = ...) -> None: ...

class HistoryRecord(_message.Message):
    BATCH_FIELD_NUMBER: _ClassVar[int]
    CONTROL_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    ROLLED_BACK_FIELD_NUMBER: _ClassVar[int]
    batch: BatchRecord
    control: ControlRecord
    evaluation: EvaluationRecord
    epoch: int
    time: _timestamp_pb2.Timestamp
    rolled_back: bool
    def __init__(self, batch: _Optional[_Union[BatchRecord, _Mapping]] = ..., control: _Optional[_Union[ControlRecord, _Mapping]] = ..., evaluation: _Optional[_Union[EvaluationRecord, _Mapping]] = ..., epoch: _Optional[int] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., rolled_back: bool = ...) -> None: ...

class GetHistoryResponse(_message.Message):
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    RESUME_RECORDS_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[HistoryRecord]
    next_page_token: str
    resume_token: str
    resume_records: int
    def __init__(self, records: _Optional[_Iterable[_Union[HistoryRecord, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., resume_token: _Optional[str] = ..., resume_records: _Optional[int] = ...) -> None: ...

class ListRunSamplesRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    BRIEF_FIELD_NUMBER: _ClassVar[int]
    UPDATE_BATCH_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    page_size: int
    page_token: str
    filter: _outcome_pb2.SampleFilter
    arm_id: str
    group_id: str
    tasks: bool
    brief: bool
    update_batch: int
    def __init__(self, run_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., filter: _Optional[_Union[_outcome_pb2.SampleFilter, _Mapping]] = ..., arm_id: _Optional[str] = ..., group_id: _Optional[str] = ..., tasks: bool = ..., brief: bool = ..., update_batch: _Optional[int] = ...) -> None: ...

class RunSample(_message.Message):
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_ROUND_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    POLICY_VERSION_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    number: int
    task_id: str
    group_id: str
    sample_index: int
    arm_id: str
    cursor: int
    evaluation_round: int
    completion: str
    outcome: _outcome_pb2.Outcome
    policy_version: int
    time: _timestamp_pb2.Timestamp
    task: _task_pb2.Task
    transcript: _containers.RepeatedCompositeFieldContainer[_task_pb2.ChatMessage]
    tool_calls: _containers.RepeatedCompositeFieldContainer[_task_pb2.ToolCall]
    tokens: int
    finish_reason: _environment_pb2.FinishReason
    answer: str
    def __init__(self, number: _Optional[int] = ..., task_id: _Optional[str] = ..., group_id: _Optional[str] = ..., sample_index: _Optional[int] = ..., arm_id: _Optional[str] = ..., cursor: _Optional[int] = ..., evaluation_round: _Optional[int] = ..., completion: _Optional[str] = ..., outcome: _Optional[_Union[_outcome_pb2.Outcome, _Mapping]] = ..., policy_version: _Optional[int] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., task: _Optional[_Union[_task_pb2.Task, _Mapping]] = ..., transcript: _Optional[_Iterable[_Union[_task_pb2.ChatMessage, _Mapping]]] = ..., tool_calls: _Optional[_Iterable[_Union[_task_pb2.ToolCall, _Mapping]]] = ..., tokens: _Optional[int] = ..., finish_reason: _Optional[_Union[_environment_pb2.FinishReason, str]] = ..., answer: _Optional[str] = ...) -> None: ...

class ListRunSamplesResponse(_message.Message):
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    samples: _containers.RepeatedCompositeFieldContainer[RunSample]
    next_page_token: str
    kept: bool
    def __init__(self, samples: _Optional[_Iterable[_Union[RunSample, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., kept: bool = ...) -> None: ...

class GetViolationsRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    arm_id: str
    def __init__(self, run_id: _Optional[str] = ..., arm_id: _Optional[str] = ...) -> None: ...

class SampleSums(_message.Message):
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    SCORED_FIELD_NUMBER: _ClassVar[int]
    SOLVED_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    REWARD_MEAN_FIELD_NUMBER: _ClassVar[int]
    QUALITY_MEAN_FIELD_NUMBER: _ClassVar[int]
    LENGTHS_FIELD_NUMBER: _ClassVar[int]
    samples: int
    scored: int
    solved: int
    truncated: int
    reward_mean: float
    quality_mean: float
    lengths: CompletionLengths
    def __init__(self, samples: _Optional[int] = ..., scored: _Optional[int] = ..., solved: _Optional[int] = ..., truncated: _Optional[int] = ..., reward_mean: _Optional[float] = ..., quality_mean: _Optional[float] = ..., lengths: _Optional[_Union[CompletionLengths, _Mapping]] = ...) -> None: ...

class ViolationCount(_message.Message):
    TEMPLATE_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    STRETCHES_FIELD_NUMBER: _ClassVar[int]
    SEARCH_FIELD_NUMBER: _ClassVar[int]
    template: str
    verdict: _outcome_pb2.Verdict
    count: int
    stretches: _containers.RepeatedScalarFieldContainer[int]
    search: str
    def __init__(self, template: _Optional[str] = ..., verdict: _Optional[_Union[_outcome_pb2.Verdict, str]] = ..., count: _Optional[int] = ..., stretches: _Optional[_Iterable[int]] = ..., search: _Optional[str] = ...) -> None: ...

class MissingRewards(_message.Message):
    REASON_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    reason: _outcome_pb2.NoRewardReason
    count: int
    def __init__(self, reason: _Optional[_Union[_outcome_pb2.NoRewardReason, str]] = ..., count: _Optional[int] = ...) -> None: ...

class RewardBin(_message.Message):
    LOWER_FIELD_NUMBER: _ClassVar[int]
    UPPER_FIELD_NUMBER: _ClassVar[int]
    SUMS_FIELD_NUMBER: _ClassVar[int]
    lower: float
    upper: float
    sums: SampleSums
    def __init__(self, lower: _Optional[float] = ..., upper: _Optional[float] = ..., sums: _Optional[_Union[SampleSums, _Mapping]] = ...) -> None: ...

class SampleStretch(_message.Message):
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    SUMS_FIELD_NUMBER: _ClassVar[int]
    cursor: int
    sums: SampleSums
    def __init__(self, cursor: _Optional[int] = ..., sums: _Optional[_Union[SampleSums, _Mapping]] = ...) -> None: ...

class HackingSign(_message.Message):
    KIND_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    kind: HackingSignKind
    subject: str
    before: float
    now: float
    def __init__(self, kind: _Optional[_Union[HackingSignKind, str]] = ..., subject: _Optional[str] = ..., before: _Optional[float] = ..., now: _Optional[float] = ...) -> None: ...

class ArmViolations(_message.Message):
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    SUMS_FIELD_NUMBER: _ClassVar[int]
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    OTHER_VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    MISSING_REWARDS_FIELD_NUMBER: _ClassVar[int]
    REWARDS_FIELD_NUMBER: _ClassVar[int]
    STRETCHES_FIELD_NUMBER: _ClassVar[int]
    SIGNS_FIELD_NUMBER: _ClassVar[int]
    arm_id: str
    sums: SampleSums
    violations: _containers.RepeatedCompositeFieldContainer[ViolationCount]
    other_violations: int
    missing_rewards: _containers.RepeatedCompositeFieldContainer[MissingRewards]
    rewards: _containers.RepeatedCompositeFieldContainer[RewardBin]
    stretches: _containers.RepeatedCompositeFieldContainer[SampleStretch]
    signs: _containers.RepeatedCompositeFieldContainer[HackingSign]
    def __init__(self, arm_id: _Optional[str] = ..., sums: _Optional[_Union[SampleSums, _Mapping]] = ..., violations: _Optional[_Iterable[_Union[ViolationCount, _Mapping]]] = ..., other_violations: _Optional[int] = ..., missing_rewards: _Optional[_Iterable[_Union[MissingRewards, _Mapping]]] = ..., rewards: _Optional[_Iterable[_Union[RewardBin, _Mapping]]] = ..., stretches: _Optional[_Iterable[_Union[SampleStretch, _Mapping]]] = ..., signs: _Optional[_Iterable[_Union[HackingSign, _Mapping]]] = ...) -> None: ...

class GetViolationsResponse(_message.Message):
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    ARMS_FIELD_NUMBER: _ClassVar[int]
    STRETCH_TASKS_FIELD_NUMBER: _ClassVar[int]
    COUNTED_FIELD_NUMBER: _ClassVar[int]
    total: ArmViolations
    arms: _containers.RepeatedCompositeFieldContainer[ArmViolations]
    stretch_tasks: int
    counted: bool
    def __init__(self, total: _Optional[_Union[ArmViolations, _Mapping]] = ..., arms: _Optional[_Iterable[_Union[ArmViolations, _Mapping]]] = ..., stretch_tasks: _Optional[int] = ..., counted: bool = ...) -> None: ...

class DeleteRunSamplesRequest(_message.Message):
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class DeleteRunSamplesResponse(_message.Message):
    def __init__(self) -> None: ...
