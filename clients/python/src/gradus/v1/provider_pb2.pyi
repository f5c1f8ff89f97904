from gradus.v1 import environment_pb2 as _environment_pb2
from gradus.v1 import outcome_pb2 as _outcome_pb2
from gradus.v1 import task_pb2 as _task_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ProviderFailureKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    PROVIDER_FAILURE_KIND_UNSPECIFIED: _ClassVar[ProviderFailureKind]
    PROVIDER_FAILURE_KIND_RAISED: _ClassVar[ProviderFailureKind]
    PROVIDER_FAILURE_KIND_TIMEOUT: _ClassVar[ProviderFailureKind]
    PROVIDER_FAILURE_KIND_CRASHED: _ClassVar[ProviderFailureKind]
    PROVIDER_FAILURE_KIND_MEMORY: _ClassVar[ProviderFailureKind]
    PROVIDER_FAILURE_KIND_UNAVAILABLE: _ClassVar[ProviderFailureKind]
PROVIDER_FAILURE_KIND_UNSPECIFIED: ProviderFailureKind
PROVIDER_FAILURE_KIND_RAISED: ProviderFailureKind
PROVIDER_FAILURE_KIND_TIMEOUT: ProviderFailureKind
PROVIDER_FAILURE_KIND_CRASHED: ProviderFailureKind
PROVIDER_FAILURE_KIND_MEMORY: ProviderFailureKind
PROVIDER_FAILURE_KIND_UNAVAILABLE: ProviderFailureKind

class ProviderFailure(_message.Message):
    KIND_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    kind: ProviderFailureKind
    detail: str
    def __init__(self, kind: _Optional[_Union[ProviderFailureKind, str]] = ..., detail: _Optional[str] = ...) -> None: ...

class ProviderLevel(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_JSON_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_ONLY_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    parameters_json: str
    rows: int
    evaluation_only: bool
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., parameters_json: _Optional[str] = ..., rows: _Optional[int] = ..., evaluation_only: bool = ...) -> None: ...

class ProviderComponent(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    weight: float
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., weight: _Optional[float] = ...) -> None: ...

class ProviderLimits(_message.Message):
    GENERATE_MS_FIELD_NUMBER: _ClassVar[int]
    VERIFY_MS_FIELD_NUMBER: _ClassVar[int]
    ANSWER_BYTES_FIELD_NUMBER: _ClassVar[int]
    ADVANCE_MS_FIELD_NUMBER: _ClassVar[int]
    generate_ms: int
    verify_ms: int
    answer_bytes: int
    advance_ms: int
    def __init__(self, generate_ms: _Optional[int] = ..., verify_ms: _Optional[int] = ..., answer_bytes: _Optional[int] = ..., advance_ms: _Optional[int] = ...) -> None: ...

class ProvidedTool(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_JSON_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    parameters_json: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., parameters_json: _Optional[str] = ...) -> None: ...

class ProvidedTurns(_message.Message):
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    STATE_BYTES_FIELD_NUMBER: _ClassVar[int]
    ACTION_BYTES_FIELD_NUMBER: _ClassVar[int]
    NONDETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    NEEDS_TOOLS_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[ProvidedTool]
    calls: int
    state_bytes: int
    action_bytes: int
    nondeterministic: bool
    needs_tools: bool
    def __init__(self, tools: _Optional[_Iterable[_Union[ProvidedTool, _Mapping]]] = ..., calls: _Optional[int] = ..., state_bytes: _Optional[int] = ..., action_bytes: _Optional[int] = ..., nondeterministic: bool = ..., needs_tools: bool = ...) -> None: ...

class ProvidedAxis(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    GUESS_FIELD_NUMBER: _ClassVar[int]
    name: str
    first: int
    levels: _containers.RepeatedScalarFieldContainer[str]
    guess: float
    def __init__(self, name: _Optional[str] = ..., first: _Optional[int] = ..., levels: _Optional[_Iterable[str]] = ..., guess: _Optional[float] = ...) -> None: ...

class ProvidedEnvironment(_message.Message):
    ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    GOAL_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FORMATS_FIELD_NUMBER: _ClassVar[int]
    COMPONENTS_FIELD_NUMBER: _ClassVar[int]
    VERBATIM_FIELD_NUMBER: _ClassVar[int]
    DRAWS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    REMARKS_FIELD_NUMBER: _ClassVar[int]
    TURNS_MAX_FIELD_NUMBER: _ClassVar[int]
    RUNS_ANSWERS_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    AXES_FIELD_NUMBER: _ClassVar[int]
    id: str
    version: int
    digest: str
    description: str
    goal: _environment_pb2.Goal
    levels: _containers.RepeatedCompositeFieldContainer[ProviderLevel]
    answer_formats: _containers.RepeatedScalarFieldContainer[_task_pb2.AnswerFormat]
    components: _containers.RepeatedCompositeFieldContainer[ProviderComponent]
    verbatim: bool
    draws: bool
    limits: ProviderLimits
    remarks: _containers.RepeatedScalarFieldContainer[str]
    turns_max: int
    runs_answers: bool
    turns: ProvidedTurns
    axes: _containers.RepeatedCompositeFieldContainer[ProvidedAxis]
    def __init__(self, id: _Optional[str] = ..., version: _Optional[int] = ..., digest: _Optional[str] = ..., description: _Optional[str] = ..., goal: _Optional[_Union[_environment_pb2.Goal, str]] = ..., levels: _Optional[_Iterable[_Union[ProviderLevel, _Mapping]]] = ..., answer_formats: _Optional[_Iterable[_Union[_task_pb2.AnswerFormat, str]]] = ..., components: _Optional[_Iterable[_Union[ProviderComponent, _Mapping]]] = ..., verbatim: bool = ..., draws: bool = ..., limits: _Optional[_Union[ProviderLimits, _Mapping]] = ..., remarks: _Optional[_Iterable[str]] = ..., turns_max: _Optional[int] = ..., runs_answers: bool = ..., turns: _Optional[_Union[ProvidedTurns, _Mapping]] = ..., axes: _Optional[_Iterable[_Union[ProvidedAxis, _Mapping]]] = ...) -> None: ...

class LeftOut(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class DescribeRequest(_message.Message):
    def __init__(self) -> None: ...

class DescribeResponse(_message.Message):
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENTS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    host: str
    environments: _containers.RepeatedCompositeFieldContainer[ProvidedEnvironment]
    left_out: _containers.RepeatedCompositeFieldContainer[LeftOut]
    def __init__(self, protocol: _Optional[int] = ..., host: _Optional[str] = ..., environments: _Optional[_Iterable[_Union[ProvidedEnvironment, _Mapping]]] = ..., left_out: _Optional[_Iterable[_Union[LeftOut, _Mapping]]] = ...) -> None: ...

class GenerateRequest(_message.Message):
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_JSON_FIELD_NUMBER: _ClassVar[int]
    SEEDS_FIELD_NUMBER: _ClassVar[int]
    environment: str
    version: int
    digest: str
    level: str
    parameters_json: str
    seeds: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, environment: _Optional[str] = ..., version: _Optional[int] = ..., digest: _Optional[str] = ..., level: _Optional[str] = ..., parameters_json: _Optional[str] = ..., seeds: _Optional[_Iterable[int]] = ...) -> None: ...

class ProvidedInstance(_message.Message):
    class MetadataEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    BASELINE_FIELD_NUMBER: _ClassVar[int]
    BASELINE_BOUND_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    instance: bytes
    prompt: _containers.RepeatedCompositeFieldContainer[_task_pb2.ChatMessage]
    canonical: str
    reference: str
    baseline: float
    baseline_bound: float
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, instance: _Optional[bytes] = ..., prompt: _Optional[_Iterable[_Union[_task_pb2.ChatMessage, _Mapping]]] = ..., canonical: _Optional[str] = ..., reference: _Optional[str] = ..., baseline: _Optional[float] = ..., baseline_bound: _Optional[float] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class GenerateResponse(_message.Message):
    INDEX_FIELD_NUMBER: _ClassVar[int]
    MADE_FIELD_NUMBER: _ClassVar[int]
    EXHAUSTED_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    index: int
    made: ProvidedInstance
    exhausted: str
    failure: ProviderFailure
    def __init__(self, index: _Optional[int] = ..., made: _Optional[_Union[ProvidedInstance, _Mapping]] = ..., exhausted: _Optional[str] = ..., failure: _Optional[_Union[ProviderFailure, _Mapping]] = ...) -> None: ...

class ProvidedAnswer(_message.Message):
    INDEX_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    index: int
    text: str
    def __init__(self, index: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class VerifyRequest(_message.Message):
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    environment: str
    version: int
    digest: str
    instance: bytes
    answers: _containers.RepeatedCompositeFieldContainer[ProvidedAnswer]
    def __init__(self, environment: _Optional[str] = ..., version: _Optional[int] = ..., digest: _Optional[str] = ..., instance: _Optional[bytes] = ..., answers: _Optional[_Iterable[_Union[ProvidedAnswer, _Mapping]]] = ...) -> None: ...

class ProvidedComponent(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: float
    reason: str
    def __init__(self, name: _Optional[str] = ..., value: _Optional[float] = ..., reason: _Optional[str] = ...) -> None: ...

class ProvidedFacts(_message.Message):
    class InfoEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    VIOLATION_FIELD_NUMBER: _ClassVar[int]
    OBJECTIVE_FIELD_NUMBER: _ClassVar[int]
    COMPONENTS_FIELD_NUMBER: _ClassVar[int]
    SOLVED_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    verdict: _outcome_pb2.Verdict
    violation: str
    objective: float
    components: _containers.RepeatedCompositeFieldContainer[ProvidedComponent]
    solved: bool
    info: _containers.ScalarMap[str, str]
    def __init__(self, verdict: _Optional[_Union[_outcome_pb2.Verdict, str]] = ..., violation: _Optional[str] = ..., objective: _Optional[float] = ..., components: _Optional[_Iterable[_Union[ProvidedComponent, _Mapping]]] = ..., solved: bool = ..., info: _Optional[_Mapping[str, str]] = ...) -> None: ...

class VerifyResponse(_message.Message):
    INDEX_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    index: int
    facts: ProvidedFacts
    failure: ProviderFailure
    def __init__(self, index: _Optional[int] = ..., facts: _Optional[_Union[ProvidedFacts, _Mapping]] = ..., failure: _Optional[_Union[ProviderFailure, _Mapping]] = ...) -> None: ...

class ProvidedCall(_message.Message):
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    number: int
    tool: str
    text: str
    seed: int
    def __init__(self, number: _Optional[int] = ..., tool: _Optional[str] = ..., text: _Optional[str] = ..., seed: _Optional[int] = ...) -> None: ...

class EnvironmentProviderAdvanceRequest(_message.Message):
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    environment: str
    version: int
    digest: str
    instance: bytes
    state: bytes
    calls: _containers.RepeatedCompositeFieldContainer[ProvidedCall]
    def __init__(self, environment: _Optional[str] = ..., version: _Optional[int] = ..., digest: _Optional[str] = ..., instance: _Optional[bytes] = ..., state: _Optional[bytes] = ..., calls: _Optional[_Iterable[_Union[ProvidedCall, _Mapping]]] = ...) -> None: ...

class ProvidedTurn(_message.Message):
    REPLY_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    OVER_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    reply: str
    state: bytes
    over: bool
    facts: ProvidedFacts
    def __init__(self, reply: _Optional[str] = ..., state: _Optional[bytes] = ..., over: bool = ..., facts: _Optional[_Union[ProvidedFacts, _Mapping]] = ...) -> None: ...

class EnvironmentProviderAdvanceResponse(_message.Message):
    TURN_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    turn: ProvidedTurn
    failure: ProviderFailure
    def __init__(self, turn: _Optional[_Union[ProvidedTurn, _Mapping]] = ..., failure: _Optional[_Union[ProviderFailure, _Mapping]] = ...) -> None: ...

class VerifyResponses(_message.Message):
    INDEX_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    index: int
    results: _containers.RepeatedCompositeFieldContainer[VerifyResponse]
    places: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, index: _Optional[int] = ..., results: _Optional[_Iterable[_Union[VerifyResponse, _Mapping]]] = ..., places: _Optional[_Iterable[int]] = ...) -> None: ...

class DrawRequest(_message.Message):
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    environment: str
    version: int
    instance: bytes
    answer: str
    def __init__(self, environment: _Optional[str] = ..., version: _Optional[int] = ..., instance: _Optional[bytes] = ..., answer: _Optional[str] = ...) -> None: ...

class DrawResponse(_message.Message):
    SVG_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    svg: str
    failure: ProviderFailure
    def __init__(self, svg: _Optional[str] = ..., failure: _Optional[_Union[ProviderFailure, _Mapping]] = ...) -> None: ...

class HostAllowance(_message.Message):
    READ_FIELD_NUMBER: _ClassVar[int]
    NET_FIELD_NUMBER: _ClassVar[int]
    read: _containers.RepeatedScalarFieldContainer[str]
    net: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, read: _Optional[_Iterable[str]] = ..., net: _Optional[_Iterable[str]] = ...) -> None: ...

class HostStart(_message.Message):
    TARGET_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    ALLOW_FIELD_NUMBER: _ClassVar[int]
    MEMORY_MIB_FIELD_NUMBER: _ClassVar[int]
    SOCKET_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    GENERATE_MS_FIELD_NUMBER: _ClassVar[int]
    VERIFY_MS_FIELD_NUMBER: _ClassVar[int]
    HOLD_MS_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_FIELD_NUMBER: _ClassVar[int]
    START_FOLDER_FIELD_NUMBER: _ClassVar[int]
    target: str
    workers: int
    allow: HostAllowance
    memory_mib: int
    socket: str
    secret: bytes
    generate_ms: int
    verify_ms: int
    hold_ms: int
    hidden: _containers.RepeatedScalarFieldContainer[str]
    start_folder: str
    def __init__(self, target: _Optional[str] = ..., workers: _Optional[int] = ..., allow: _Optional[_Union[HostAllowance, _Mapping]] = ..., memory_mib: _Optional[int] = ..., socket: _Optional[str] = ..., secret: _Optional[bytes] = ..., generate_ms: _Optional[int] = ..., verify_ms: _Optional[int] = ..., hold_ms: _Optional[int] = ..., hidden: _Optional[_Iterable[str]] = ..., start_folder: _Optional[str] = ...) -> None: ...

class HostReady(_message.Message):
    DESCRIBED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    LOCKED_FIELD_NUMBER: _ClassVar[int]
    WALLS_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    described: DescribeResponse
    refused: str
    locked: str
    walls: int
    sources: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, described: _Optional[_Union[DescribeResponse, _Mapping]] = ..., refused: _Optional[str] = ..., locked: _Optional[str] = ..., walls: _Optional[int] = ..., sources: _Optional[_Iterable[str]] = ...) -> None: ...

class WorkerHello(_message.Message):
    SECRET_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    secret: bytes
    worker: int
    def __init__(self, secret: _Optional[bytes] = ..., worker: _Optional[int] = ...) -> None: ...

class KillWorker(_message.Message):
    WORKER_FIELD_NUMBER: _ClassVar[int]
    worker: int
    def __init__(self, worker: _Optional[int] = ...) -> None: ...

class TellHeld(_message.Message):
    WORKER_FIELD_NUMBER: _ClassVar[int]
    worker: int
    def __init__(self, worker: _Optional[int] = ...) -> None: ...

class WorkerHeld(_message.Message):
    WORKER_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    VERIFIED_FIELD_NUMBER: _ClassVar[int]
    worker: int
    call: int
    verified: VerifyResponses
    def __init__(self, worker: _Optional[int] = ..., call: _Optional[int] = ..., verified: _Optional[_Union[VerifyResponses, _Mapping]] = ...) -> None: ...

class WorkerEnded(_message.Message):
    WORKER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    HOW_FIELD_NUMBER: _ClassVar[int]
    worker: int
    kind: ProviderFailureKind
    how: str
    def __init__(self, worker: _Optional[int] = ..., kind: _Optional[_Union[ProviderFailureKind, str]] = ..., how: _Optional[str] = ...) -> None: ...

class ProviderFrame(_message.Message):
    CALL_FIELD_NUMBER: _ClassVar[int]
    GENERATE_FIELD_NUMBER: _ClassVar[int]
    GENERATED_FIELD_NUMBER: _ClassVar[int]
    VERIFY_FIELD_NUMBER: _ClassVar[int]
    VERIFIED_FIELD_NUMBER: _ClassVar[int]
    DRAW_FIELD_NUMBER: _ClassVar[int]
    DRAWN_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    KILL_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    VERIFIED_TOGETHER_FIELD_NUMBER: _ClassVar[int]
    TELL_HELD_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    ADVANCE_FIELD_NUMBER: _ClassVar[int]
    ADVANCED_FIELD_NUMBER: _ClassVar[int]
    call: int
    generate: GenerateRequest
    generated: GenerateResponse
    verify: VerifyRequest
    verified: VerifyResponse
    draw: DrawRequest
    drawn: DrawResponse
    start: HostStart
    ready: HostReady
    hello: WorkerHello
    kill: KillWorker
    ended: WorkerEnded
    verified_together: VerifyResponses
    tell_held: TellHeld
    held: WorkerHeld
    advance: EnvironmentProviderAdvanceRequest
    advanced: EnvironmentProviderAdvanceResponse
    def __init__(self, call: _Optional[int] = ..., generate: _Optional[_Union[GenerateRequest, _Mapping]] = ..., generated: _Optional[_Union[GenerateResponse, _Mapping]] = ..., verify: _Optional[_Union[VerifyRequest, _Mapping]] = ..., verified: _Optional[_Union[VerifyResponse, _Mapping]] = ..., draw: _Optional[_Union[DrawRequest, _Mapping]] = ..., drawn: _Optional[_Union[DrawResponse, _Mapping]] = ..., start: _Optional[_Union[HostStart, _Mapping]] = ..., ready: _Optional[_Union[HostReady, _Mapping]] = ..., hello: _Optional[_Union[WorkerHello, _Mapping]] = ..., kill: _Optional[_Union[KillWorker, _Mapping]] = ..., ended: _Optional[_Union[WorkerEnded, _Mapping]] = ..., verified_together: _Optional[_Union[VerifyResponses, _Mapping]] = ..., tell_held: _Optional[_Union[TellHeld, _Mapping]] = ..., held: _Optional[_Union[WorkerHeld, _Mapping]] = ..., advance: _Optional[_Union[EnvironmentProviderAdvanceRequest, _Mapping]] = ..., advanced: _Optional[_Union[EnvironmentProviderAdvanceResponse, _Mapping]] = ...) -> None: ...
