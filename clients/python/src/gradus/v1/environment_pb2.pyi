from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from gradus.v1 import outcome_pb2 as _outcome_pb2
from gradus.v1 import task_pb2 as _task_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Goal(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    GOAL_UNSPECIFIED: _ClassVar[Goal]
    GOAL_SATISFY: _ClassVar[Goal]
    GOAL_MINIMIZE: _ClassVar[Goal]
    GOAL_MAXIMIZE: _ClassVar[Goal]

class FinishReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    FINISH_REASON_UNSPECIFIED: _ClassVar[FinishReason]
    FINISH_REASON_STOP: _ClassVar[FinishReason]
    FINISH_REASON_LENGTH: _ClassVar[FinishReason]
GOAL_UNSPECIFIED: Goal
GOAL_SATISFY: Goal
GOAL_MINIMIZE: Goal
GOAL_MAXIMIZE: Goal
FINISH_REASON_UNSPECIFIED: FinishReason
FINISH_REASON_STOP: FinishReason
FINISH_REASON_LENGTH: FinishReason

class PortInfo(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    DOWN_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    name: str
    missing: str
    down: str
    running: int
    waiting: int
    def __init__(self, name: _Optional[str] = ..., missing: _Optional[str] = ..., down: _Optional[str] = ..., running: _Optional[int] = ..., waiting: _Optional[int] = ...) -> None: ...

class QueueInfo(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    WAITING_MAX_FIELD_NUMBER: _ClassVar[int]
    name: str
    running: int
    waiting: int
    waiting_max: int
    def __init__(self, name: _Optional[str] = ..., running: _Optional[int] = ..., waiting: _Optional[int] = ..., waiting_max: _Optional[int] = ...) -> None: ...

class NoRewardCount(_message.Message):
    REASON_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    reason: _outcome_pb2.NoRewardReason
    resource: str
    count: int
    def __init__(self, reason: _Optional[_Union[_outcome_pb2.NoRewardReason, str]] = ..., resource: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class ReplicaInfo(_message.Message):
    ID_FIELD_NUMBER: _ClassVar[int]
    AGE_FIELD_NUMBER: _ClassVar[int]
    id: str
    age: _duration_pb2.Duration
    def __init__(self, id: _Optional[str] = ..., age: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class StudentInfo(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    name: str
    models: str
    def __init__(self, name: _Optional[str] = ..., models: _Optional[str] = ...) -> None: ...

class CallerInfo(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    name: str
    role: str
    def __init__(self, name: _Optional[str] = ..., role: _Optional[str] = ...) -> None: ...

class ServerLimits(_message.Message):
    MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    COMPLETIONS_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_BYTES_FIELD_NUMBER: _ClassVar[int]
    BATCH_SEEDS_FIELD_NUMBER: _ClassVar[int]
    message_bytes: int
    groups: int
    completions: int
    completion_bytes: int
    batch_seeds: int
    def __init__(self, message_bytes: _Optional[int] = ..., groups: _Optional[int] = ..., completions: _Optional[int] = ..., completion_bytes: _Optional[int] = ..., batch_seeds: _Optional[int] = ...) -> None: ...

class ServerInfo(_message.Message):
    VERSION_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    CONTRACT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENTS_FIELD_NUMBER: _ClassVar[int]
    PORTS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    STORE_FIELD_NUMBER: _ClassVar[int]
    REPLICA_ID_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    REPLICAS_FIELD_NUMBER: _ClassVar[int]
    NO_REWARDS_FIELD_NUMBER: _ClassVar[int]
    KEEP_SAMPLES_BYTES_FIELD_NUMBER: _ClassVar[int]
    KEEP_SAMPLES_FOR_FIELD_NUMBER: _ClassVar[int]
    STUDENTS_FIELD_NUMBER: _ClassVar[int]
    version: str
    commit: str
    contract: str
    environments: int
    ports: _containers.RepeatedCompositeFieldContainer[PortInfo]
    limits: ServerLimits
    store: str
    replica_id: str
    start_time: _timestamp_pb2.Timestamp
    queues: _containers.RepeatedCompositeFieldContainer[QueueInfo]
    replicas: _containers.RepeatedCompositeFieldContainer[ReplicaInfo]
    no_rewards: _containers.RepeatedCompositeFieldContainer[NoRewardCount]
    keep_samples_bytes: int
    keep_samples_for: _duration_pb2.Duration
    students: _containers.RepeatedCompositeFieldContainer[StudentInfo]
    def __init__(self, version: _Optional[str] = ..., commit: _Optional[str] = ..., contract: _Optional[str] = ..., environments: _Optional[int] = ..., ports: _Optional[_Iterable[_Union[PortInfo, _Mapping]]] = ..., limits: _Optional[_Union[ServerLimits, _Mapping]] = ..., store: _Optional[str] = ..., replica_id: _Optional[str] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., queues: _Optional[_Iterable[_Union[QueueInfo, _Mapping]]] = ..., replicas: _Optional[_Iterable[_Union[ReplicaInfo, _Mapping]]] = ..., no_rewards: _Optional[_Iterable[_Union[NoRewardCount, _Mapping]]] = ..., keep_samples_bytes: _Optional[int] = ..., keep_samples_for: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., students: _Optional[_Iterable[_Union[StudentInfo, _Mapping]]] = ...) -> None: ...

class GetServerInfoRequest(_message.Message):
    def __init__(self) -> None: ...

class GetServerInfoResponse(_message.Message):
    SERVER_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    server: ServerInfo
    caller: CallerInfo
    def __init__(self, server: _Optional[_Union[ServerInfo, _Mapping]] = ..., caller: _Optional[_Union[CallerInfo, _Mapping]] = ...) -> None: ...

class MethodStatus(_message.Message):
    METHOD_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    P50_MS_FIELD_NUMBER: _ClassVar[int]
    P99_MS_FIELD_NUMBER: _ClassVar[int]
    method: str
    count: int
    running: int
    p50_ms: float
    p99_ms: float
    def __init__(self, method: _Optional[str] = ..., count: _Optional[int] = ..., running: _Optional[int] = ..., p50_ms: _Optional[float] = ..., p99_ms: _Optional[float] = ...) -> None: ...

class ErrorCount(_message.Message):
    METHOD_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    RECENT_FIELD_NUMBER: _ClassVar[int]
    method: str
    code: str
    count: int
    recent: int
    def __init__(self, method: _Optional[str] = ..., code: _Optional[str] = ..., count: _Optional[int] = ..., recent: _Optional[int] = ...) -> None: ...

class LoggedError(_message.Message):
    TIME_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    time: _timestamp_pb2.Timestamp
    method: str
    request_id: str
    message: str
    def __init__(self, time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., method: _Optional[str] = ..., request_id: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class ServerStatus(_message.Message):
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    EVENT_LOOP_UTILIZATION_FIELD_NUMBER: _ClassVar[int]
    CORES_USED_FIELD_NUMBER: _ClassVar[int]
    CORES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    START_MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    METHODS_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    LAST_ERRORS_FIELD_NUMBER: _ClassVar[int]
    problem: str
    window: _duration_pb2.Duration
    event_loop_utilization: float
    cores_used: float
    cores: int
    memory_bytes: int
    start_memory_bytes: int
    memory_max_bytes: int
    methods: _containers.RepeatedCompositeFieldContainer[MethodStatus]
    errors: _containers.RepeatedCompositeFieldContainer[ErrorCount]
    last_errors: _containers.RepeatedCompositeFieldContainer[LoggedError]
    def __init__(self, problem: _Optional[str] = ..., window: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., event_loop_utilization: _Optional[float] = ..., cores_used: _Optional[float] = ..., cores: _Optional[int] = ..., memory_bytes: _Optional[int] = ..., start_memory_bytes: _Optional[int] = ..., memory_max_bytes: _Optional[int] = ..., methods: _Optional[_Iterable[_Union[MethodStatus, _Mapping]]] = ..., errors: _Optional[_Iterable[_Union[ErrorCount, _Mapping]]] = ..., last_errors: _Optional[_Iterable[_Union[LoggedError, _Mapping]]] = ...) -> None: ...

class GetServerStatusRequest(_message.Message):
    def __init__(self) -> None: ...

class GetServerStatusResponse(_message.Message):
    STATUS_FIELD_NUMBER: _ClassVar[int]
    status: ServerStatus
    def __init__(self, status: _Optional[_Union[ServerStatus, _Mapping]] = ...) -> None: ...

class ParameterInfo(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_VALUE_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    min: float
    max: float
    default_value: float
    integer: bool
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., min: _Optional[float] = ..., max: _Optional[float] = ..., default_value: _Optional[float] = ..., integer: bool = ...) -> None: ...

class LevelInfo(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_ONLY_FIELD_NUMBER: _ClassVar[int]
    SMALL_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    parameters: _task_pb2.Parameters
    evaluation_only: bool
    small: bool
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., parameters: _Optional[_Union[_task_pb2.Parameters, _Mapping]] = ..., evaluation_only: bool = ..., small: bool = ...) -> None: ...

class RewardSchemeInfo(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    REWARD_MIN_FIELD_NUMBER: _ClassVar[int]
    REWARD_MAX_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    reward_min: float
    reward_max: float
    parameters: _containers.RepeatedCompositeFieldContainer[ParameterInfo]
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., reward_min: _Optional[float] = ..., reward_max: _Optional[float] = ..., parameters: _Optional[_Iterable[_Union[ParameterInfo, _Mapping]]] = ...) -> None: ...

class PoolGroup(_message.Message):
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    SPLIT_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    level: str
    split: _task_pb2.Split
    rows: int
    def __init__(self, level: _Optional[str] = ..., split: _Optional[_Union[_task_pb2.Split, str]] = ..., rows: _Optional[int] = ...) -> None: ...

class PoolInfo(_message.Message):
    class RowsEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    REJECTED_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    UNCHECKED_FIELD_NUMBER: _ClassVar[int]
    SHIPPED_FIELD_NUMBER: _ClassVar[int]
    RANKED_BY_FIELD_NUMBER: _ClassVar[int]
    RANK_MEASURE_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    name: str
    rows: _containers.ScalarMap[str, int]
    groups: _containers.RepeatedCompositeFieldContainer[PoolGroup]
    rejected: int
    left_out: int
    unchecked: int
    shipped: bool
    ranked_by: str
    rank_measure: str
    digest: str
    def __init__(self, name: _Optional[str] = ..., rows: _Optional[_Mapping[str, int]] = ..., groups: _Optional[_Iterable[_Union[PoolGroup, _Mapping]]] = ..., rejected: _Optional[int] = ..., left_out: _Optional[int] = ..., unchecked: _Optional[int] = ..., shipped: bool = ..., ranked_by: _Optional[str] = ..., rank_measure: _Optional[str] = ..., digest: _Optional[str] = ...) -> None: ...

class Environment(_message.Message):
    ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    GOAL_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FORMATS_FIELD_NUMBER: _ClassVar[int]
    REWARD_SCHEMES_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    POOLS_FIELD_NUMBER: _ClassVar[int]
    EARLIER_VERSIONS_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    CALLS_MAX_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    NONDETERMINISTIC_TOOLS_FIELD_NUMBER: _ClassVar[int]
    AXES_FIELD_NUMBER: _ClassVar[int]
    id: str
    version: int
    description: str
    category: str
    goal: Goal
    levels: _containers.RepeatedCompositeFieldContainer[LevelInfo]
    parameters: _containers.RepeatedCompositeFieldContainer[ParameterInfo]
    answer_formats: _containers.RepeatedScalarFieldContainer[_task_pb2.AnswerFormat]
    reward_schemes: _containers.RepeatedCompositeFieldContainer[RewardSchemeInfo]
    sources: _containers.RepeatedScalarFieldContainer[_task_pb2.Source]
    pools: _containers.RepeatedCompositeFieldContainer[PoolInfo]
    earlier_versions: _containers.RepeatedScalarFieldContainer[int]
    calls: int
    calls_max: int
    tools: _containers.RepeatedCompositeFieldContainer[_task_pb2.Tool]
    deterministic: bool
    nondeterministic_tools: _containers.RepeatedScalarFieldContainer[str]
    axes: _containers.RepeatedCompositeFieldContainer[GrowthAxis]
    def __init__(self, id: _Optional[str] = ..., version: _Optional[int] = ..., description: _Optional[str] = ..., category: _Optional[str] = ..., goal: _Optional[_Union[Goal, str]] = ..., levels: _Optional[_Iterable[_Union[LevelInfo, _Mapping]]] = ..., parameters: _Optional[_Iterable[_Union[ParameterInfo, _Mapping]]] = ..., answer_formats: _Optional[_Iterable[_Union[_task_pb2.AnswerFormat, str]]] = ..., reward_schemes: _Optional[_Iterable[_Union[RewardSchemeInfo, _Mapping]]] = ..., sources: _Optional[_Iterable[_Union[_task_pb2.Source, str]]] = ..., pools: _Optional[_Iterable[_Union[PoolInfo, _Mapping]]] = ..., earlier_versions: _Optional[_Iterable[int]] = ..., calls: _Optional[int] = ..., calls_max: _Optional[int] = ..., tools: _Optional[_Iterable[_Union[_task_pb2.Tool, _Mapping]]] = ..., deterministic: bool = ..., nondeterministic_tools: _Optional[_Iterable[str]] = ..., axes: _Optional[_Iterable[_Union[GrowthAxis, _Mapping]]] = ...) -> None: ...

class AxisParameter(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    name: str
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, name: _Optional[str] = ..., values: _Optional[_Iterable[float]] = ...) -> None: ...

class GrowthAxis(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    GUESS_FIELD_NUMBER: _ClassVar[int]
    SMALL_THROUGH_FIELD_NUMBER: _ClassVar[int]
    name: str
    first: int
    last: int
    parameters: _containers.RepeatedCompositeFieldContainer[AxisParameter]
    guess: float
    small_through: int
    def __init__(self, name: _Optional[str] = ..., first: _Optional[int] = ..., last: _Optional[int] = ..., parameters: _Optional[_Iterable[_Union[AxisParameter, _Mapping]]] = ..., guess: _Optional[float] = ..., small_through: _Optional[int] = ...) -> None: ...

class ListEnvironmentsRequest(_message.Message):
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    category: str
    page_size: int
    page_token: str
    def __init__(self, category: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListEnvironmentsResponse(_message.Message):
    ENVIRONMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    MOUNTING_FIELD_NUMBER: _ClassVar[int]
    environments: _containers.RepeatedCompositeFieldContainer[Environment]
    next_page_token: str
    mounting: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, environments: _Optional[_Iterable[_Union[Environment, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., mounting: _Optional[_Iterable[str]] = ...) -> None: ...

class GetEnvironmentRequest(_message.Message):
    ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    id: str
    version: int
    def __init__(self, id: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class GetEnvironmentResponse(_message.Message):
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    environment: Environment
    def __init__(self, environment: _Optional[_Union[Environment, _Mapping]] = ...) -> None: ...

class ResetRequest(_message.Message):
    SPEC_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    spec: _task_pb2.TaskSpec
    seed: int
    def __init__(self, spec: _Optional[_Union[_task_pb2.TaskSpec, _Mapping]] = ..., seed: _Optional[int] = ...) -> None: ...

class ResetResponse(_message.Message):
    TASK_FIELD_NUMBER: _ClassVar[int]
    task: _task_pb2.Task
    def __init__(self, task: _Optional[_Union[_task_pb2.Task, _Mapping]] = ...) -> None: ...

class BatchResetRequest(_message.Message):
    SPEC_FIELD_NUMBER: _ClassVar[int]
    SEEDS_FIELD_NUMBER: _ClassVar[int]
    spec: _task_pb2.TaskSpec
    seeds: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, spec: _Optional[_Union[_task_pb2.TaskSpec, _Mapping]] = ..., seeds: _Optional[_Iterable[int]] = ...) -> None: ...

class ResetFailure(_message.Message):
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    code: int
    message: str
    retry_delay_ms: int
    def __init__(self, code: _Optional[int] = ..., message: _Optional[str] = ..., retry_delay_ms: _Optional[int] = ...) -> None: ...

class ResetResult(_message.Message):
    SEED_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    seed: int
    task: _task_pb2.Task
    failure: ResetFailure
    def __init__(self, seed: _Optional[int] = ..., task: _Optional[_Union[_task_pb2.Task, _Mapping]] = ..., failure: _Optional[_Union[ResetFailure, _Mapping]] = ...) -> None: ...

class BatchResetResponse(_message.Message):
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[ResetResult]
    def __init__(self, results: _Optional[_Iterable[_Union[ResetResult, _Mapping]]] = ...) -> None: ...

class RescoreSettings(_message.Message):
    VERSION_FIELD_NUMBER: _ClassVar[int]
    REWARD_SCHEME_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FORMAT_FIELD_NUMBER: _ClassVar[int]
    THINKING_FIELD_NUMBER: _ClassVar[int]
    version: int
    reward_scheme: _task_pb2.RewardScheme
    answer_format: _task_pb2.AnswerFormat
    thinking: _task_pb2.Thinking
    def __init__(self, version: _Optional[int] = ..., reward_scheme: _Optional[_Union[_task_pb2.RewardScheme, _Mapping]] = ..., answer_format: _Optional[_Union[_task_pb2.AnswerFormat, str]] = ..., thinking: _Optional[_Union[_task_pb2.Thinking, str]] = ...) -> None: ...

class ReissueTasksRequest(_message.Message):
    TASK_IDS_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    task_ids: _containers.RepeatedScalarFieldContainer[str]
    settings: RescoreSettings
    def __init__(self, task_ids: _Optional[_Iterable[str]] = ..., settings: _Optional[_Union[RescoreSettings, _Mapping]] = ...) -> None: ...

class ReissuedTask(_message.Message):
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    CALLS_MAX_FIELD_NUMBER: _ClassVar[int]
    NUM_GENERATIONS_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    group_id: str
    environment: str
    version: int
    level: str
    calls_max: int
    num_generations: int
    def __init__(self, task_id: _Optional[str] = ..., group_id: _Optional[str] = ..., environment: _Optional[str] = ..., version: _Optional[int] = ..., level: _Optional[str] = ..., calls_max: _Optional[int] = ..., num_generations: _Optional[int] = ...) -> None: ...

class ReissueResult(_message.Message):
    TASK_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    task: ReissuedTask
    failure: ResetFailure
    def __init__(self, task: _Optional[_Union[ReissuedTask, _Mapping]] = ..., failure: _Optional[_Union[ResetFailure, _Mapping]] = ...) -> None: ...

class ReissueTasksResponse(_message.Message):
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[ReissueResult]
    def __init__(self, results: _Optional[_Iterable[_Union[ReissueResult, _Mapping]]] = ...) -> None: ...

class StepRequest(_message.Message):
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    POLICY_VERSION_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_KEY_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TEXT_TOOLS_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    group_id: str
    sample_index: int
    completion: str
    finish_reason: FinishReason
    policy_version: int
    tool_calls: _containers.RepeatedCompositeFieldContainer[_task_pb2.ToolCall]
    sample_key: str
    end: bool
    text_tools: _task_pb2.TextTools
    transcript: _containers.RepeatedCompositeFieldContainer[_task_pb2.ChatMessage]
    tokens: int
    def __init__(self, task_id: _Optional[str] = ..., group_id: _Optional[str] = ..., sample_index: _Optional[int] = ..., completion: _Optional[str] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ..., policy_version: _Optional[int] = ..., tool_calls: _Optional[_Iterable[_Union[_task_pb2.ToolCall, _Mapping]]] = ..., sample_key: _Optional[str] = ..., end: bool = ..., text_tools: _Optional[_Union[_task_pb2.TextTools, str]] = ..., transcript: _Optional[_Iterable[_Union[_task_pb2.ChatMessage, _Mapping]]] = ..., tokens: _Optional[int] = ...) -> None: ...

class StepResponse(_message.Message):
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    outcome: _outcome_pb2.Outcome
    def __init__(self, outcome: _Optional[_Union[_outcome_pb2.Outcome, _Mapping]] = ...) -> None: ...

class TryAnswerRequest(_message.Message):
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_KEY_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TEXT_TOOLS_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    answer: str
    completion: str
    finish_reason: FinishReason
    tool_calls: _containers.RepeatedCompositeFieldContainer[_task_pb2.ToolCall]
    sample_key: str
    end: bool
    text_tools: _task_pb2.TextTools
    transcript: _containers.RepeatedCompositeFieldContainer[_task_pb2.ChatMessage]
    def __init__(self, task_id: _Optional[str] = ..., answer: _Optional[str] = ..., completion: _Optional[str] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ..., tool_calls: _Optional[_Iterable[_Union[_task_pb2.ToolCall, _Mapping]]] = ..., sample_key: _Optional[str] = ..., end: bool = ..., text_tools: _Optional[_Union[_task_pb2.TextTools, str]] = ..., transcript: _Optional[_Iterable[_Union[_task_pb2.ChatMessage, _Mapping]]] = ...) -> None: ...

class TryAnswerResponse(_message.Message):
    COMPLETION_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    completion: str
    outcome: _outcome_pb2.Outcome
    def __init__(self, completion: _Optional[str] = ..., outcome: _Optional[_Union[_outcome_pb2.Outcome, _Mapping]] = ...) -> None: ...

class DrawTaskRequest(_message.Message):
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    answer: str
    completion: str
    def __init__(self, task_id: _Optional[str] = ..., answer: _Optional[str] = ..., completion: _Optional[str] = ...) -> None: ...

class DrawTaskResponse(_message.Message):
    SVG_FIELD_NUMBER: _ClassVar[int]
    svg: str
    def __init__(self, svg: _Optional[str] = ...) -> None: ...

class SolveTaskRequest(_message.Message):
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    DRAW_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    draw: bool
    answer: str
    completion: str
    def __init__(self, task_id: _Optional[str] = ..., draw: bool = ..., answer: _Optional[str] = ..., completion: _Optional[str] = ...) -> None: ...

class SolveTaskResponse(_message.Message):
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_FIELD_NUMBER: _ClassVar[int]
    BASELINE_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    SVG_FIELD_NUMBER: _ClassVar[int]
    answer: str
    completion: str
    baseline: _outcome_pb2.Baseline
    nodes: int
    svg: str
    def __init__(self, answer: _Optional[str] = ..., completion: _Optional[str] = ..., baseline: _Optional[_Union[_outcome_pb2.Baseline, _Mapping]] = ..., nodes: _Optional[int] = ..., svg: _Optional[str] = ...) -> None: ...

class Completion(_message.Message):
    SAMPLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    POLICY_VERSION_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_KEY_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TEXT_TOOLS_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    sample_index: int
    text: str
    finish_reason: FinishReason
    policy_version: int
    tool_calls: _containers.RepeatedCompositeFieldContainer[_task_pb2.ToolCall]
    task_id: str
    sample_key: str
    end: bool
    text_tools: _task_pb2.TextTools
    transcript: _containers.RepeatedCompositeFieldContainer[_task_pb2.ChatMessage]
    tokens: int
    def __init__(self, sample_index: _Optional[int] = ..., text: _Optional[str] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ..., policy_version: _Optional[int] = ..., tool_calls: _Optional[_Iterable[_Union[_task_pb2.ToolCall, _Mapping]]] = ..., task_id: _Optional[str] = ..., sample_key: _Optional[str] = ..., end: bool = ..., text_tools: _Optional[_Union[_task_pb2.TextTools, str]] = ..., transcript: _Optional[_Iterable[_Union[_task_pb2.ChatMessage, _Mapping]]] = ..., tokens: _Optional[int] = ...) -> None: ...

class CompletionGroup(_message.Message):
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    COMPLETIONS_FIELD_NUMBER: _ClassVar[int]
    NUM_GENERATIONS_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    group_id: str
    completions: _containers.RepeatedCompositeFieldContainer[Completion]
    num_generations: int
    def __init__(self, task_id: _Optional[str] = ..., group_id: _Optional[str] = ..., completions: _Optional[_Iterable[_Union[Completion, _Mapping]]] = ..., num_generations: _Optional[int] = ...) -> None: ...

class BatchStepRequest(_message.Message):
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[CompletionGroup]
    def __init__(self, groups: _Optional[_Iterable[_Union[CompletionGroup, _Mapping]]] = ...) -> None: ...

class BatchStepResponse(_message.Message):
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[_outcome_pb2.GroupOutcome]
    def __init__(self, groups: _Optional[_Iterable[_Union[_outcome_pb2.GroupOutcome, _Mapping]]] = ...) -> None: ...

class StreamStepsRequest(_message.Message):
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    groups: _containers.RepeatedCompositeFieldContainer[CompletionGroup]
    more: _containers.RepeatedCompositeFieldContainer[StreamStepsRequest]
    def __init__(self, request_id: _Optional[str] = ..., groups: _Optional[_Iterable[_Union[CompletionGroup, _Mapping]]] = ..., more: _Optional[_Iterable[_Union[StreamStepsRequest, _Mapping]]] = ...) -> None: ...

class StreamStepsFailure(_message.Message):
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    code: int
    message: str
    retry_delay_ms: int
    def __init__(self, code: _Optional[int] = ..., message: _Optional[str] = ..., retry_delay_ms: _Optional[int] = ...) -> None: ...

class StreamStepsResponse(_message.Message):
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    MORE_BYTES_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    groups: _containers.RepeatedCompositeFieldContainer[_outcome_pb2.GroupOutcome]
    failure: StreamStepsFailure
    more: _containers.RepeatedCompositeFieldContainer[StreamStepsResponse]
    more_bytes: int
    def __init__(self, request_id: _Optional[str] = ..., groups: _Optional[_Iterable[_Union[_outcome_pb2.GroupOutcome, _Mapping]]] = ..., failure: _Optional[_Union[StreamStepsFailure, _Mapping]] = ..., more: _Optional[_Iterable[_Union[StreamStepsResponse, _Mapping]]] = ..., more_bytes: _Optional[int] = ...) -> None: ...
