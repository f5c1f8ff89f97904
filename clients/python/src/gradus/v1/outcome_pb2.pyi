from gradus.v1 import task_pb2 as _task_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    VERDICT_UNSPECIFIED: _ClassVar[Verdict]
    VERDICT_MALFORMED: _ClassVar[Verdict]
    VERDICT_INFEASIBLE: _ClassVar[Verdict]
    VERDICT_FEASIBLE: _ClassVar[Verdict]
    VERDICT_GRADED: _ClassVar[Verdict]

class Proof(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    PROOF_UNSPECIFIED: _ClassVar[Proof]
    PROOF_OPTIMAL: _ClassVar[Proof]
    PROOF_BOUNDED: _ClassVar[Proof]

class NoRewardReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    NO_REWARD_REASON_UNSPECIFIED: _ClassVar[NoRewardReason]
    NO_REWARD_REASON_INVALID_TASK_ID: _ClassVar[NoRewardReason]
    NO_REWARD_REASON_TOO_LARGE: _ClassVar[NoRewardReason]
    NO_REWARD_REASON_TIMEOUT: _ClassVar[NoRewardReason]
    NO_REWARD_REASON_JUDGE_UNAVAILABLE: _ClassVar[NoRewardReason]
    NO_REWARD_REASON_SANDBOX_FAILED: _ClassVar[NoRewardReason]
    NO_REWARD_REASON_OVERLOADED: _ClassVar[NoRewardReason]
    NO_REWARD_REASON_INTERNAL: _ClassVar[NoRewardReason]
    NO_REWARD_REASON_RESOURCE_UNAVAILABLE: _ClassVar[NoRewardReason]
    NO_REWARD_REASON_FAILED_PRECONDITION: _ClassVar[NoRewardReason]

class FeedbackStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    FEEDBACK_STATUS_UNSPECIFIED: _ClassVar[FeedbackStatus]
    FEEDBACK_STATUS_RECORDED: _ClassVar[FeedbackStatus]
    FEEDBACK_STATUS_DUPLICATE: _ClassVar[FeedbackStatus]
    FEEDBACK_STATUS_CONFLICTING_COMPLETION: _ClassVar[FeedbackStatus]
    FEEDBACK_STATUS_STALE_EPOCH: _ClassVar[FeedbackStatus]
    FEEDBACK_STATUS_NOT_RECORDED: _ClassVar[FeedbackStatus]

class StopReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    STOP_REASON_UNSPECIFIED: _ClassVar[StopReason]
    STOP_REASON_GOAL: _ClassVar[StopReason]
    STOP_REASON_BUDGET: _ClassVar[StopReason]
    STOP_REASON_ENDED: _ClassVar[StopReason]
    STOP_REASON_TRUNCATED: _ClassVar[StopReason]
VERDICT_UNSPECIFIED: Verdict
VERDICT_MALFORMED: Verdict
VERDICT_INFEASIBLE: Verdict
VERDICT_FEASIBLE: Verdict
VERDICT_GRADED: Verdict
PROOF_UNSPECIFIED: Proof
PROOF_OPTIMAL: Proof
PROOF_BOUNDED: Proof
NO_REWARD_REASON_UNSPECIFIED: NoRewardReason
NO_REWARD_REASON_INVALID_TASK_ID: NoRewardReason
NO_REWARD_REASON_TOO_LARGE: NoRewardReason
NO_REWARD_REASON_TIMEOUT: NoRewardReason
NO_REWARD_REASON_JUDGE_UNAVAILABLE: NoRewardReason
NO_REWARD_REASON_SANDBOX_FAILED: NoRewardReason
NO_REWARD_REASON_OVERLOADED: NoRewardReason
NO_REWARD_REASON_INTERNAL: NoRewardReason
NO_REWARD_REASON_RESOURCE_UNAVAILABLE: NoRewardReason
NO_REWARD_REASON_FAILED_PRECONDITION: NoRewardReason
FEEDBACK_STATUS_UNSPECIFIED: FeedbackStatus
FEEDBACK_STATUS_RECORDED: FeedbackStatus
FEEDBACK_STATUS_DUPLICATE: FeedbackStatus
FEEDBACK_STATUS_CONFLICTING_COMPLETION: FeedbackStatus
FEEDBACK_STATUS_STALE_EPOCH: FeedbackStatus
FEEDBACK_STATUS_NOT_RECORDED: FeedbackStatus
STOP_REASON_UNSPECIFIED: StopReason
STOP_REASON_GOAL: StopReason
STOP_REASON_BUDGET: StopReason
STOP_REASON_ENDED: StopReason
STOP_REASON_TRUNCATED: StopReason

class Feedback(_message.Message):
    STATUS_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    status: FeedbackStatus
    detail: str
    sample_index: int
    def __init__(self, status: _Optional[_Union[FeedbackStatus, str]] = ..., detail: _Optional[str] = ..., sample_index: _Optional[int] = ...) -> None: ...

class RewardComponent(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: float
    weight: float
    reason: str
    def __init__(self, name: _Optional[str] = ..., value: _Optional[float] = ..., weight: _Optional[float] = ..., reason: _Optional[str] = ...) -> None: ...

class Baseline(_message.Message):
    VALUE_FIELD_NUMBER: _ClassVar[int]
    BOUND_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    value: float
    bound: float
    proof: Proof
    def __init__(self, value: _Optional[float] = ..., bound: _Optional[float] = ..., proof: _Optional[_Union[Proof, str]] = ...) -> None: ...

class AnswerSpan(_message.Message):
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    SOLVED_FIELD_NUMBER: _ClassVar[int]
    MARKED_END_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    verdict: Verdict
    solved: bool
    marked_end: int
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ..., verdict: _Optional[_Union[Verdict, str]] = ..., solved: bool = ..., marked_end: _Optional[int] = ...) -> None: ...

class Commit(_message.Message):
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    answer: int
    span: int
    end: int
    def __init__(self, answer: _Optional[int] = ..., span: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class Score(_message.Message):
    class InfoEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    REWARD_FIELD_NUMBER: _ClassVar[int]
    COMPONENTS_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    SOLVED_FIELD_NUMBER: _ClassVar[int]
    OBJECTIVE_FIELD_NUMBER: _ClassVar[int]
    BASELINE_FIELD_NUMBER: _ClassVar[int]
    RATIO_FIELD_NUMBER: _ClassVar[int]
    VIOLATION_FIELD_NUMBER: _ClassVar[int]
    TERMINATED_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    reward: float
    components: _containers.RepeatedCompositeFieldContainer[RewardComponent]
    verdict: Verdict
    solved: bool
    objective: float
    baseline: Baseline
    ratio: float
    violation: str
    terminated: bool
    truncated: bool
    spans: _containers.RepeatedCompositeFieldContainer[AnswerSpan]
    info: _containers.ScalarMap[str, str]
    commit: Commit
    answers: int
    stop_reason: StopReason
    calls: int
    def __init__(self, reward: _Optional[float] = ..., components: _Optional[_Iterable[_Union[RewardComponent, _Mapping]]] = ..., verdict: _Optional[_Union[Verdict, str]] = ..., solved: bool = ..., objective: _Optional[float] = ..., baseline: _Optional[_Union[Baseline, _Mapping]] = ..., ratio: _Optional[float] = ..., violation: _Optional[str] = ..., terminated: bool = ..., truncated: bool = ..., spans: _Optional[_Iterable[_Union[AnswerSpan, _Mapping]]] = ..., info: _Optional[_Mapping[str, str]] = ..., commit: _Optional[_Union[Commit, _Mapping]] = ..., answers: _Optional[int] = ..., stop_reason: _Optional[_Union[StopReason, str]] = ..., calls: _Optional[int] = ...) -> None: ...

class Turn(_message.Message):
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TURN_REWARD_FIELD_NUMBER: _ClassVar[int]
    CALLS_LEFT_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    messages: _containers.RepeatedCompositeFieldContainer[_task_pb2.ChatMessage]
    turn_reward: float
    calls_left: int
    def __init__(self, task_id: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[_task_pb2.ChatMessage, _Mapping]]] = ..., turn_reward: _Optional[float] = ..., calls_left: _Optional[int] = ...) -> None: ...

class NoReward(_message.Message):
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_FIELD_NUMBER: _ClassVar[int]
    reason: NoRewardReason
    detail: str
    retry_delay_ms: int
    resource: str
    def __init__(self, reason: _Optional[_Union[NoRewardReason, str]] = ..., detail: _Optional[str] = ..., retry_delay_ms: _Optional[int] = ..., resource: _Optional[str] = ...) -> None: ...

class Outcome(_message.Message):
    SAMPLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    NO_REWARD_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    RLOO_ADVANTAGE_FIELD_NUMBER: _ClassVar[int]
    GRPO_ADVANTAGE_FIELD_NUMBER: _ClassVar[int]
    sample_index: int
    score: Score
    no_reward: NoReward
    turn: Turn
    feedback: Feedback
    rloo_advantage: float
    grpo_advantage: float
    def __init__(self, sample_index: _Optional[int] = ..., score: _Optional[_Union[Score, _Mapping]] = ..., no_reward: _Optional[_Union[NoReward, _Mapping]] = ..., turn: _Optional[_Union[Turn, _Mapping]] = ..., feedback: _Optional[_Union[Feedback, _Mapping]] = ..., rloo_advantage: _Optional[float] = ..., grpo_advantage: _Optional[float] = ...) -> None: ...

class GroupStatistics(_message.Message):
    COUNT_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    STD_FIELD_NUMBER: _ClassVar[int]
    count: int
    mean: float
    std: float
    def __init__(self, count: _Optional[int] = ..., mean: _Optional[float] = ..., std: _Optional[float] = ...) -> None: ...

class ContrastPair(_message.Message):
    PREFERRED_SAMPLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    PREFERRED_END_FIELD_NUMBER: _ClassVar[int]
    REJECTED_SAMPLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    REJECTED_END_FIELD_NUMBER: _ClassVar[int]
    preferred_sample_index: int
    preferred_end: int
    rejected_sample_index: int
    rejected_end: int
    def __init__(self, preferred_sample_index: _Optional[int] = ..., preferred_end: _Optional[int] = ..., rejected_sample_index: _Optional[int] = ..., rejected_end: _Optional[int] = ...) -> None: ...

class GroupOutcome(_message.Message):
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_FIELD_NUMBER: _ClassVar[int]
    CONTRAST_PAIRS_FIELD_NUMBER: _ClassVar[int]
    group_id: str
    outcomes: _containers.RepeatedCompositeFieldContainer[Outcome]
    statistics: GroupStatistics
    contrast_pairs: _containers.RepeatedCompositeFieldContainer[ContrastPair]
    def __init__(self, group_id: _Optional[str] = ..., outcomes: _Optional[_Iterable[_Union[Outcome, _Mapping]]] = ..., statistics: _Optional[_Union[GroupStatistics, _Mapping]] = ..., contrast_pairs: _Optional[_Iterable[_Union[ContrastPair, _Mapping]]] = ...) -> None: ...

class FormatWarning(_message.Message):
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    MALFORMED_FIELD_NUMBER: _ClassVar[int]
    VIOLATION_FIELD_NUMBER: _ClassVar[int]
    samples: int
    malformed: int
    violation: str
    def __init__(self, samples: _Optional[int] = ..., malformed: _Optional[int] = ..., violation: _Optional[str] = ...) -> None: ...

class SampleFilter(_message.Message):
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    VIOLATION_FIELD_NUMBER: _ClassVar[int]
    REWARD_MIN_FIELD_NUMBER: _ClassVar[int]
    REWARD_MAX_FIELD_NUMBER: _ClassVar[int]
    SOLVED_FIELD_NUMBER: _ClassVar[int]
    NO_REWARD_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    NO_REWARD_REASONS_FIELD_NUMBER: _ClassVar[int]
    VIOLATION_TEMPLATE_FIELD_NUMBER: _ClassVar[int]
    verdicts: _containers.RepeatedScalarFieldContainer[Verdict]
    violation: str
    reward_min: float
    reward_max: float
    solved: bool
    no_reward: bool
    text: str
    truncated: bool
    no_reward_reasons: _containers.RepeatedScalarFieldContainer[NoRewardReason]
    violation_template: str
    def __init__(self, verdicts: _Optional[_Iterable[_Union[Verdict, str]]] = ..., violation: _Optional[str] = ..., reward_min: _Optional[float] = ..., reward_max: _Optional[float] = ..., solved: bool = ..., no_reward: bool = ..., text: _Optional[str] = ..., truncated: bool = ..., no_reward_reasons: _Optional[_Iterable[_Union[NoRewardReason, str]]] = ..., violation_template: _Optional[str] = ...) -> None: ...
