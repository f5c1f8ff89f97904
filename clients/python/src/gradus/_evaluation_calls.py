"""The calls of EvaluationService; each function says what its call gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from google.protobuf.message import Message

from gradus._call import Call
from gradus._enums import AnswerFormat, Thinking, name_of, value_of
from gradus.errors import error_of_item
from gradus.types import Outcome, PendingTask, Sample, Submitted, Task
from gradus.v1 import evaluation_pb2 as ev

T = TypeVar("T")
R = TypeVar("R", bound=Message)


def list_suites(page_token: str) -> Call[tuple[list[ev.Suite], str]]:
    """A page of suites and the next page's token."""
    request = ev.ListSuitesRequest(page_token=page_token)
    return _call(
        "ListSuites",
        request,
        ev.ListSuitesResponse,
        lambda response: (list(response.suites), response.next_page_token),
    )


def create_evaluation(
    evaluation_id: str,
    suite: str,
    suite_version: int,
    samples_per_task: int,
    model: str,
    answer_format: AnswerFormat | None,
    thinking: Thinking | None,
) -> Call[ev.Evaluation]:
    """The evaluation, new or as it was."""
    request = ev.CreateEvaluationRequest(
        evaluation_id=evaluation_id,
        suite=suite,
        suite_version=suite_version,
        samples_per_task=samples_per_task,
        model=model,
        answer_format=value_of("ANSWER_FORMAT_", answer_format),
        thinking=value_of("THINKING_", thinking),
    )
    return _call("CreateEvaluation", request, ev.CreateEvaluationResponse, lambda response: response.evaluation)


def get_evaluation(evaluation_id: str) -> Call[ev.Evaluation]:
    """The evaluation."""
    request = ev.GetEvaluationRequest(evaluation_id=evaluation_id)
    return _call("GetEvaluation", request, ev.GetEvaluationResponse, lambda response: response.evaluation)


def pending(evaluation_id: str, page_size: int, page_token: str) -> Call[tuple[list[PendingTask], str]]:
    """A page of tasks with missing samples and the next page's token."""
    request = ev.ListPendingTasksRequest(evaluation_id=evaluation_id, page_size=page_size, page_token=page_token)
    return _call(
        "ListPendingTasks",
        request,
        ev.ListPendingTasksResponse,
        lambda response: ([_pending_task(each) for each in response.tasks], response.next_page_token),
    )


def _pending_task(proto: ev.PendingTask) -> PendingTask:
    return PendingTask(Task.from_proto(proto.task), tuple(proto.sample_indices))


def submit(evaluation_id: str, completions: Iterable[tuple[Task | str, int, str]]) -> Call[list[Submitted]]:
    """What became of each completion, in order."""
    protos = [
        ev.SubmitCompletionsRequest(
            evaluation_id=evaluation_id,
            task_id=task if isinstance(task, str) else task.task_id,
            sample_index=sample_index,
            completion=completion,
        )
        for task, sample_index, completion in completions
    ]
    request = ev.BatchSubmitCompletionsRequest(completions=protos)
    return _call(
        "BatchSubmitCompletions",
        request,
        ev.BatchSubmitCompletionsResponse,
        lambda response: [_submitted(each) for each in response.results],
    )


def _submitted(proto: ev.SubmitCompletionsResponse) -> Submitted:
    if proto.HasField("failure"):
        failure = proto.failure
        error = error_of_item(failure.code, failure.message, failure.retry_delay_ms)
        return Submitted(proto.sample_index, None, None, error)
    status = name_of("FEEDBACK_STATUS_", proto.feedback.status)
    return Submitted(proto.sample_index, Outcome.from_proto(proto.outcome), status, None)


def samples(evaluation_id: str, page_size: int, page_token: str) -> Call[tuple[list[Sample], str]]:
    """A page of what was submitted and the next page's token."""
    request = ev.ListSamplesRequest(evaluation_id=evaluation_id, page_size=page_size, page_token=page_token)
    return _call(
        "ListSamples",
        request,
        ev.ListSamplesResponse,
        lambda response: ([_sample(each) for each in response.samples], response.next_page_token),
    )


def _sample(proto: ev.Sample) -> Sample:
    return Sample(
        task=Task.from_proto(proto.task),
        sample_index=proto.sample_index,
        completion=proto.completion,
        outcome=Outcome.from_proto(proto.outcome),
        part=proto.part,
        category=proto.category,
    )


def report(evaluation_id: str) -> Call[ev.Report]:
    """The report so far."""
    request = ev.GetReportRequest(evaluation_id=evaluation_id)
    return _call("GetReport", request, ev.GetReportResponse, lambda response: response.report)


def _call(method: str, request: Message, response: type[R], read: Callable[[R], T]) -> Call[T]:
    return Call(f"/gradus.v1.EvaluationService/{method}", request, response, read)
