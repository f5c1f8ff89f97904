"""The unary calls of EnvironmentService; each function says what its call gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from google.protobuf.message import Message

from gradus._call import Call
from gradus.errors import error_of_item
from gradus.types import CompletionGroup, GroupOutcome, Outcome, ResetResult, Task
from gradus.v1 import environment_pb2 as env
from gradus.v1 import task_pb2

T = TypeVar("T")
R = TypeVar("R", bound=Message)


def list_environments(category: str, page_token: str) -> Call[tuple[list[env.Environment], str]]:
    """A page of environments and the next page's token."""
    request = env.ListEnvironmentsRequest(category=category, page_token=page_token)
    return _call(
        "ListEnvironments",
        request,
        env.ListEnvironmentsResponse,
        lambda response: (list(response.environments), response.next_page_token),
    )


def get_environment(id: str, version: int) -> Call[env.Environment]:
    """One environment."""
    request = env.GetEnvironmentRequest(id=id, version=version)
    return _call("GetEnvironment", request, env.GetEnvironmentResponse, lambda response: response.environment)


def reset(spec: task_pb2.TaskSpec, seed: int) -> Call[Task]:
    """One task."""
    request = env.ResetRequest(spec=spec, seed=seed)
    return _call("Reset", request, env.ResetResponse, lambda response: Task.from_proto(response.task))


def batch_reset(spec: task_pb2.TaskSpec, seeds: Iterable[int]) -> Call[list[ResetResult]]:
    """One result for each seed, in order."""
    request = env.BatchResetRequest(spec=spec, seeds=seeds)
    return _call(
        "BatchReset",
        request,
        env.BatchResetResponse,
        lambda response: [_reset_result(each) for each in response.results],
    )


def _reset_result(proto: env.ResetResult) -> ResetResult:
    if proto.WhichOneof("result") == "task":
        return ResetResult(proto.seed, Task.from_proto(proto.task), None)
    failure = proto.failure
    return ResetResult(proto.seed, None, error_of_item(failure.code, failure.message, failure.retry_delay_ms))


def step(task: Task, completion: str, sample_index: int) -> Call[Outcome]:
    """One completion's outcome."""
    request = env.StepRequest(
        task_id=task.task_id, group_id=task.group_id, sample_index=sample_index, completion=completion
    )
    return _call("Step", request, env.StepResponse, lambda response: Outcome.from_proto(response.outcome))


def batch_step(groups: Iterable[CompletionGroup]) -> Call[list[GroupOutcome]]:
    """One outcome for each group, in order."""
    request = env.BatchStepRequest(groups=[each.to_proto() for each in groups])
    return _call(
        "BatchStep",
        request,
        env.BatchStepResponse,
        lambda response: [GroupOutcome.from_proto(g) for g in response.groups],
    )


def _call(method: str, request: Message, response: type[R], read: Callable[[R], T]) -> Call[T]:
    return Call(f"/gradus.v1.EnvironmentService/{method}", request, response, read)
