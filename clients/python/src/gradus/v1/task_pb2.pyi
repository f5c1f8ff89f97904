from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Split(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    SPLIT_UNSPECIFIED: _ClassVar[Split]
    SPLIT_TRAIN: _ClassVar[Split]
    SPLIT_EVAL: _ClassVar[Split]
    SPLIT_BENCH: _ClassVar[Split]

class Source(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    SOURCE_UNSPECIFIED: _ClassVar[Source]
    SOURCE_SYNTHETIC: _ClassVar[Source]
    SOURCE_REAL: _ClassVar[Source]
    SOURCE_TEACHER: _ClassVar[Source]

class AnswerFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    ANSWER_FORMAT_UNSPECIFIED: _ClassVar[AnswerFormat]
    ANSWER_FORMAT_THINK_ANSWER: _ClassVar[AnswerFormat]
    ANSWER_FORMAT_ANSWER_LINE: _ClassVar[AnswerFormat]
    ANSWER_FORMAT_ANSWER_TAG: _ClassVar[AnswerFormat]
    ANSWER_FORMAT_BOXED: _ClassVar[AnswerFormat]

class Thinking(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    THINKING_UNSPECIFIED: _ClassVar[Thinking]
    THINKING_REQUIRED: _ClassVar[Thinking]
    THINKING_PREFILLED: _ClassVar[Thinking]
    THINKING_STRIPPED: _ClassVar[Thinking]

class TextTools(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    TEXT_TOOLS_UNSPECIFIED: _ClassVar[TextTools]
    TEXT_TOOLS_HERMES: _ClassVar[TextTools]
SPLIT_UNSPECIFIED: Split
SPLIT_TRAIN: Split
SPLIT_EVAL: Split
SPLIT_BENCH: Split
SOURCE_UNSPECIFIED: Source
SOURCE_SYNTHETIC: Source
SOURCE_REAL: Source
SOURCE_TEACHER: Source
ANSWER_FORMAT_UNSPECIFIED: AnswerFormat
ANSWER_FORMAT_THINK_ANSWER: AnswerFormat
ANSWER_FORMAT_ANSWER_LINE: AnswerFormat
ANSWER_FORMAT_ANSWER_TAG: AnswerFormat
ANSWER_FORMAT_BOXED: AnswerFormat
THINKING_UNSPECIFIED: Thinking
THINKING_REQUIRED: Thinking
THINKING_PREFILLED: Thinking
THINKING_STRIPPED: Thinking
TEXT_TOOLS_UNSPECIFIED: TextTools
TEXT_TOOLS_HERMES: TextTools

class ToolCall(_message.Message):
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    arguments_json: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., arguments_json: _Optional[str] = ...) -> None: ...

class Tool(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_JSON_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    parameters_json: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., parameters_json: _Optional[str] = ...) -> None: ...

class ChatMessage(_message.Message):
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REWARD_FIELD_NUMBER: _ClassVar[int]
    role: str
    content: str
    tool_calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    tool_call_id: str
    name: str
    reward: float
    def __init__(self, role: _Optional[str] = ..., content: _Optional[str] = ..., tool_calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ..., tool_call_id: _Optional[str] = ..., name: _Optional[str] = ..., reward: _Optional[float] = ...) -> None: ...

class RewardScheme(_message.Message):
    class ParametersEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    name: str
    parameters: _containers.ScalarMap[str, float]
    def __init__(self, name: _Optional[str] = ..., parameters: _Optional[_Mapping[str, float]] = ...) -> None: ...

class Parameters(_message.Message):
    class ValuesEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.ScalarMap[str, float]
    def __init__(self, values: _Optional[_Mapping[str, float]] = ...) -> None: ...

class TaskSpec(_message.Message):
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    SPLIT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FORMAT_FIELD_NUMBER: _ClassVar[int]
    REWARD_SCHEME_FIELD_NUMBER: _ClassVar[int]
    THINKING_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    REPLY_DETAIL_FIELD_NUMBER: _ClassVar[int]
    environment: str
    version: int
    level: str
    parameters: Parameters
    split: Split
    source: Source
    pool: str
    answer_format: AnswerFormat
    reward_scheme: RewardScheme
    thinking: Thinking
    calls: int
    tools: _containers.RepeatedScalarFieldContainer[str]
    reply_detail: str
    def __init__(self, environment: _Optional[str] = ..., version: _Optional[int] = ..., level: _Optional[str] = ..., parameters: _Optional[_Union[Parameters, _Mapping]] = ..., split: _Optional[_Union[Split, str]] = ..., source: _Optional[_Union[Source, str]] = ..., pool: _Optional[str] = ..., answer_format: _Optional[_Union[AnswerFormat, str]] = ..., reward_scheme: _Optional[_Union[RewardScheme, _Mapping]] = ..., thinking: _Optional[_Union[Thinking, str]] = ..., calls: _Optional[int] = ..., tools: _Optional[_Iterable[str]] = ..., reply_detail: _Optional[str] = ...) -> None: ...

class TaskHints(_message.Message):
    class MetadataEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    STOP_FIELD_NUMBER: _ClassVar[int]
    KL_COEFFICIENT_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    stop: _containers.RepeatedScalarFieldContainer[str]
    kl_coefficient: float
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, stop: _Optional[_Iterable[str]] = ..., kl_coefficient: _Optional[float] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class Task(_message.Message):
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    SPLIT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FORMAT_FIELD_NUMBER: _ClassVar[int]
    HINTS_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    THINKING_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_HASH_FIELD_NUMBER: _ClassVar[int]
    POOL_EPOCH_FIELD_NUMBER: _ClassVar[int]
    UPDATE_BATCH_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    ARM_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_ROUND_FIELD_NUMBER: _ClassVar[int]
    IN_EVERY_SPLIT_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    CALLS_MAX_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    group_id: str
    prompt: _containers.RepeatedCompositeFieldContainer[ChatMessage]
    environment: str
    version: int
    level: str
    split: Split
    source: Source
    answer_format: AnswerFormat
    hints: TaskHints
    run_id: str
    arm_id: str
    cursor: int
    thinking: Thinking
    instance_hash: str
    pool_epoch: int
    update_batch: int
    epoch: int
    arm_probability: float
    evaluation_round: int
    in_every_split: bool
    tools: _containers.RepeatedCompositeFieldContainer[Tool]
    calls_max: int
    def __init__(self, task_id: _Optional[str] = ..., group_id: _Optional[str] = ..., prompt: _Optional[_Iterable[_Union[ChatMessage, _Mapping]]] = ..., environment: _Optional[str] = ..., version: _Optional[int] = ..., level: _Optional[str] = ..., split: _Optional[_Union[Split, str]] = ..., source: _Optional[_Union[Source, str]] = ..., answer_format: _Optional[_Union[AnswerFormat, str]] = ..., hints: _Optional[_Union[TaskHints, _Mapping]] = ..., run_id: _Optional[str] = ..., arm_id: _Optional[str] = ..., cursor: _Optional[int] = ..., thinking: _Optional[_Union[Thinking, str]] = ..., instance_hash: _Optional[str] = ..., pool_epoch: _Optional[int] = ..., update_batch: _Optional[int] = ..., epoch: _Optional[int] = ..., arm_probability: _Optional[float] = ..., evaluation_round: _Optional[int] = ..., in_every_split: bool = ..., tools: _Optional[_Iterable[_Union[Tool, _Mapping]]] = ..., calls_max: _Optional[int] = ...) -> None: ...
