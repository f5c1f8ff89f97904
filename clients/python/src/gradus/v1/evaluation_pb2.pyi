from google.protobuf import timestamp_pb2 as _timestamp_pb2
from gradus.v1 import environment_pb2 as _environment_pb2
from gradus.v1 import outcome_pb2 as _outcome_pb2
from gradus.v1 import task_pb2 as _task_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Suite(_message.Message):
    ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    id: str
    version: int
    description: str
    tasks: int
    parts: _containers.RepeatedCompositeFieldContainer[SuitePart]
    def __init__(self, id: _Optional[str] = ..., version: _Optional[int] = ..., description: _Optional[str] = ..., tasks: _Optional[int] = ..., parts: _Optional[_Iterable[_Union[SuitePart, _Mapping]]] = ...) -> None: ...

class SuitePart(_message.Message):
    NAME_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    SPLIT_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    name: str
    tasks: int
    environment: str
    version: int
    level: str
    parameters: _task_pb2.Parameters
    split: _task_pb2.Split
    calls: int
    tools: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., tasks: _Optional[int] = ..., environment: _Optional[str] = ..., version: _Optional[int] = ..., level: _Optional[str] = ..., parameters: _Optional[_Union[_task_pb2.Parameters, _Mapping]] = ..., split: _Optional[_Union[_task_pb2.Split, str]] = ..., calls: _Optional[int] = ..., tools: _Optional[_Iterable[str]] = ...) -> None: ...

class ListSuitesRequest(_message.Message):
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSuitesResponse(_message.Message):
    SUITES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    suites: _containers.RepeatedCompositeFieldContainer[Suite]
    next_page_token: str
    def __init__(self, suites: _Optional[_Iterable[_Union[Suite, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Evaluation(_message.Message):
    EVALUATION_ID_FIELD_NUMBER: _ClassVar[int]
    SUITE_FIELD_NUMBER: _ClassVar[int]
    SUITE_VERSION_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_PER_TASK_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_TOTAL_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_SCORED_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FORMAT_FIELD_NUMBER: _ClassVar[int]
    THINKING_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    evaluation_id: str
    suite: str
    suite_version: int
    samples_per_task: int
    samples_total: int
    samples_scored: int
    model: str
    answer_format: _task_pb2.AnswerFormat
    thinking: _task_pb2.Thinking
    create_time: _timestamp_pb2.Timestamp
    unreadable: str
    def __init__(self, evaluation_id: _Optional[str] = ..., suite: _Optional[str] = ..., suite_version: _Optional[int] = ..., samples_per_task: _Optional[int] = ..., samples_total: _Optional[int] = ..., samples_scored: _Optional[int] = ..., model: _Optional[str] = ..., answer_format: _Optional[_Union[_task_pb2.AnswerFormat, str]] = ..., thinking: _Optional[_Union[_task_pb2.Thinking, str]] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., unreadable: _Optional[str] = ...) -> None: ...

class CreateEvaluationRequest(_message.Message):
    EVALUATION_ID_FIELD_NUMBER: _ClassVar[int]
    SUITE_FIELD_NUMBER: _ClassVar[int]
    SUITE_VERSION_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_PER_TASK_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FORMAT_FIELD_NUMBER: _ClassVar[int]
    THINKING_FIELD_NUMBER: _ClassVar[int]
    evaluation_id: str
    suite: str
    suite_version: int
    samples_per_task: int
    model: str
    answer_format: _task_pb2.AnswerFormat
    thinking: _task_pb2.Thinking
    def __init__(self, evaluation_id: _Optional[str] = ..., suite: _Optional[str] = ..., suite_version: _Optional[int] = ..., samples_per_task: _Optional[int] = ..., model: _Optional[str] = ..., answer_format: _Optional[_Union[_task_pb2.AnswerFormat, str]] = ..., thinking: _Optional[_Union[_task_pb2.Thinking, str]] = ...) -> None: ...

class CreateEvaluationResponse(_message.Message):
    EVALUATION_FIELD_NUMBER: _ClassVar[int]
    evaluation: Evaluation
    def __init__(self, evaluation: _Optional[_Union[Evaluation, _Mapping]] = ...) -> None: ...

class GetEvaluationRequest(_message.Message):
    EVALUATION_ID_FIELD_NUMBER: _ClassVar[int]
    evaluation_id: str
    def __init__(self, evaluation_id: _Optional[str] = ...) -> None: ...

class GetEvaluationResponse(_message.Message):
    EVALUATION_FIELD_NUMBER: _ClassVar[int]
    evaluation: Evaluation
    def __init__(self, evaluation: _Optional[_Union[Evaluation, _Mapping]] = ...) -> None: ...

class ListEvaluationsRequest(_message.Message):
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SUITE_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    suite: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., suite: _Optional[str] = ...) -> None: ...

class ListEvaluationsResponse(_message.Message):
    EVALUATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    evaluations: _containers.RepeatedCompositeFieldContainer[Evaluation]
    next_page_token: str
    def __init__(self, evaluations: _Optional[_Iterable[_Union[Evaluation, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeleteEvaluationRequest(_message.Message):
    EVALUATION_ID_FIELD_NUMBER: _ClassVar[int]
    evaluation_id: str
    def __init__(self, evaluation_id: _Optional[str] = ...) -> None: ...

class DeleteEvaluationResponse(_message.Message):
    def __init__(self) -> None: ...

class HoldEvaluationRequest(_message.Message):
    EVALUATION_ID_FIELD_NUMBER: _ClassVar[int]
    evaluation_id: str
    def __init__(self, evaluation_id: _Optional[str] = ...) -> None: ...

class HoldEvaluationResponse(_message.Message):
    def __init__(self) -> None: ...

class ListPendingTasksRequest(_message.Message):
    EVALUATION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    evaluation_id: str
    page_size: int
    page_token: str
    def __init__(self, evaluation_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class PendingTask(_message.Message):
    TASK_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_INDICES_FIELD_NUMBER: _ClassVar[int]
    task: _task_pb2.Task
    sample_indices: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, task: _Optional[_Union[_task_pb2.Task, _Mapping]] = ..., sample_indices: _Optional[_Iterable[int]] = ...) -> None: ...

class ListPendingTasksResponse(_message.Message):
    TASKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tasks: _containers.RepeatedCompositeFieldContainer[PendingTask]
    next_page_token: str
    def __init__(self, tasks: _Optional[_Iterable[_Union[PendingTask, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SubmitCompletionsRequest(_message.Message):
    EVALUATION_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_KEY_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TEXT_TOOLS_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    evaluation_id: str
    task_id: str
    sample_index: int
    completion: str
    finish_reason: _environment_pb2.FinishReason
    tool_calls: _containers.RepeatedCompositeFieldContainer[_task_pb2.ToolCall]
    sample_key: str
    end: bool
    text_tools: _task_pb2.TextTools
    transcript: _containers.RepeatedCompositeFieldContainer[_task_pb2.ChatMessage]
    def __init__(self, evaluation_id: _Optional[str] = ..., task_id: _Optional[str] = ..., sample_index: _Optional[int] = ..., completion: _Optional[str] = ..., finish_reason: _Optional[_Union[_environment_pb2.FinishReason, str]] = ..., tool_calls: _Optional[_Iterable[_Union[_task_pb2.ToolCall, _Mapping]]] = ..., sample_key: _Optional[str] = ..., end: bool = ..., text_tools: _Optional[_Union[_task_pb2.TextTools, str]] = ..., transcript: _Optional[_Iterable[_Union[_task_pb2.ChatMessage, _Mapping]]] = ...) -> None: ...

class SubmitFailure(_message.Message):
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    code: int
    message: str
    retry_delay_ms: int
    def __init__(self, code: _Optional[int] = ..., message: _Optional[str] = ..., retry_delay_ms: _Optional[int] = ...) -> None: ...

class SubmitCompletionsResponse(_message.Message):
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_KEY_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    outcome: _outcome_pb2.Outcome
    sample_index: int
    feedback: _outcome_pb2.Feedback
    failure: SubmitFailure
    sample_key: str
    def __init__(self, task_id: _Optional[str] = ..., outcome: _Optional[_Union[_outcome_pb2.Outcome, _Mapping]] = ..., sample_index: _Optional[int] = ..., feedback: _Optional[_Union[_outcome_pb2.Feedback, _Mapping]] = ..., failure: _Optional[_Union[SubmitFailure, _Mapping]] = ..., sample_key: _Optional[str] = ...) -> None: ...

class BatchSubmitCompletionsRequest(_message.Message):
    COMPLETIONS_FIELD_NUMBER: _ClassVar[int]
    completions: _containers.RepeatedCompositeFieldContainer[SubmitCompletionsRequest]
    def __init__(self, completions: _Optional[_Iterable[_Union[SubmitCompletionsRequest, _Mapping]]] = ...) -> None: ...

class BatchSubmitCompletionsResponse(_message.Message):
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[SubmitCompletionsResponse]
    def __init__(self, results: _Optional[_Iterable[_Union[SubmitCompletionsResponse, _Mapping]]] = ...) -> None: ...

class ListSamplesRequest(_message.Message):
    EVALUATION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_HASH_FIELD_NUMBER: _ClassVar[int]
    BRIEF_FIELD_NUMBER: _ClassVar[int]
    evaluation_id: str
    page_size: int
    page_token: str
    filter: _outcome_pb2.SampleFilter
    part: str
    category: str
    instance_hash: str
    brief: bool
    def __init__(self, evaluation_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., filter: _Optional[_Union[_outcome_pb2.SampleFilter, _Mapping]] = ..., part: _Optional[str] = ..., category: _Optional[str] = ..., instance_hash: _Optional[str] = ..., brief: bool = ...) -> None: ...

class Sample(_message.Message):
    TASK_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    ROW_FIELD_NUMBER: _ClassVar[int]
    POOL_DIGEST_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    task: _task_pb2.Task
    sample_index: int
    completion: str
    outcome: _outcome_pb2.Outcome
    part: str
    category: str
    pool: str
    row: int
    pool_digest: str
    transcript: _containers.RepeatedCompositeFieldContainer[_task_pb2.ChatMessage]
    tool_calls: _containers.RepeatedCompositeFieldContainer[_task_pb2.ToolCall]
    finish_reason: _environment_pb2.FinishReason
    answer: str
    def __init__(self, task: _Optional[_Union[_task_pb2.Task, _Mapping]] = ..., sample_index: _Optional[int] = ..., completion: _Optional[str] = ..., outcome: _Optional[_Union[_outcome_pb2.Outcome, _Mapping]] = ..., part: _Optional[str] = ..., category: _Optional[str] = ..., pool: _Optional[str] = ..., row: _Optional[int] = ..., pool_digest: _Optional[str] = ..., transcript: _Optional[_Iterable[_Union[_task_pb2.ChatMessage, _Mapping]]] = ..., tool_calls: _Optional[_Iterable[_Union[_task_pb2.ToolCall, _Mapping]]] = ..., finish_reason: _Optional[_Union[_environment_pb2.FinishReason, str]] = ..., answer: _Optional[str] = ...) -> None: ...

class ListSamplesResponse(_message.Message):
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    samples: _containers.RepeatedCompositeFieldContainer[Sample]
    next_page_token: str
    def __init__(self, samples: _Optional[_Iterable[_Union[Sample, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetReportRequest(_message.Message):
    EVALUATION_ID_FIELD_NUMBER: _ClassVar[int]
    evaluation_id: str
    def __init__(self, evaluation_id: _Optional[str] = ...) -> None: ...

class ReportRow(_message.Message):
    class FiguresEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    class StandardErrorsEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    class TasksLeftOutEntry(_message.Message):
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    FIGURES_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_EXPECTED_FIELD_NUMBER: _ClassVar[int]
    TASKS_IN_EVERY_SPLIT_FIELD_NUMBER: _ClassVar[int]
    STANDARD_ERRORS_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_WITHOUT_REWARD_FIELD_NUMBER: _ClassVar[int]
    TASKS_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    name: str
    samples: int
    figures: _containers.ScalarMap[str, float]
    tasks: int
    samples_expected: int
    tasks_in_every_split: int
    standard_errors: _containers.ScalarMap[str, float]
    samples_without_reward: int
    tasks_left_out: _containers.ScalarMap[str, int]
    def __init__(self, name: _Optional[str] = ..., samples: _Optional[int] = ..., figures: _Optional[_Mapping[str, float]] = ..., tasks: _Optional[int] = ..., samples_expected: _Optional[int] = ..., tasks_in_every_split: _Optional[int] = ..., standard_errors: _Optional[_Mapping[str, float]] = ..., samples_without_reward: _Optional[int] = ..., tasks_left_out: _Optional[_Mapping[str, int]] = ...) -> None: ...

class Report(_message.Message):
    EVALUATION_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENTS_FIELD_NUMBER: _ClassVar[int]
    CATEGORIES_FIELD_NUMBER: _ClassVar[int]
    OVERALL_FIELD_NUMBER: _ClassVar[int]
    BASELINE_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    SUITE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    evaluation: Evaluation
    environments: _containers.RepeatedCompositeFieldContainer[ReportRow]
    categories: _containers.RepeatedCompositeFieldContainer[ReportRow]
    overall: ReportRow
    baseline: str
    parts: _containers.RepeatedCompositeFieldContainer[ReportRow]
    suite: Suite
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, evaluation: _Optional[_Union[Evaluation, _Mapping]] = ..., environments: _Optional[_Iterable[_Union[ReportRow, _Mapping]]] = ..., categories: _Optional[_Iterable[_Union[ReportRow, _Mapping]]] = ..., overall: _Optional[_Union[ReportRow, _Mapping]] = ..., baseline: _Optional[str] = ..., parts: _Optional[_Iterable[_Union[ReportRow, _Mapping]]] = ..., suite: _Optional[_Union[Suite, _Mapping]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class GetReportResponse(_message.Message):
    REPORT_FIELD_NUMBER: _ClassVar[int]
    report: Report
    def __init__(self, report: _Optional[_Union[Report, _Mapping]] = ...) -> None: ...

class RescoreRequest(_message.Message):
    EVALUATION_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    ARM_IDS_FIELD_NUMBER: _ClassVar[int]
    evaluation_id: str
    run_id: str
    settings: _environment_pb2.RescoreSettings
    arm_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, evaluation_id: _Optional[str] = ..., run_id: _Optional[str] = ..., settings: _Optional[_Union[_environment_pb2.RescoreSettings, _Mapping]] = ..., arm_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RescoredGroup(_message.Message):
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_HASH_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    arm_id: str
    task: _environment_pb2.ReissuedTask
    outcome: _outcome_pb2.GroupOutcome
    before: _containers.RepeatedCompositeFieldContainer[_outcome_pb2.Outcome]
    missing: str
    instance_hash: str
    def __init__(self, task_id: _Optional[str] = ..., arm_id: _Optional[str] = ..., task: _Optional[_Union[_environment_pb2.ReissuedTask, _Mapping]] = ..., outcome: _Optional[_Union[_outcome_pb2.GroupOutcome, _Mapping]] = ..., before: _Optional[_Iterable[_Union[_outcome_pb2.Outcome, _Mapping]]] = ..., missing: _Optional[str] = ..., instance_hash: _Optional[str] = ...) -> None: ...

class RescoreResponse(_message.Message):
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[RescoredGroup]
    def __init__(self, groups: _Optional[_Iterable[_Union[RescoredGroup, _Mapping]]] = ...) -> None: ...
