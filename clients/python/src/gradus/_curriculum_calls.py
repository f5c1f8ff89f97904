"""The unary calls of CurriculumService; each function says what its call gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Literal, TypedDict, TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from gradus._call import Call
from gradus._enums import AnswerFormat, FeedbackSource, name_of, value_of
from gradus._spec import reward_scheme_of
from gradus.types import Batch, GroupAdvantages, Task
from gradus.v1 import curriculum_pb2 as cur
from gradus.v1 import task_pb2

T = TypeVar("T")
R = TypeVar("R", bound=Message)


class RunOptions(TypedDict, total=False):
    """What else fixes a run; what is left out takes the contract's default.

    `length` counts tasks; 0 is no end.
    """

    seed: int
    length: int
    feedback_lag: int | Literal["unbounded"]
    feedback_source: FeedbackSource
    reward_scheme: str | task_pb2.RewardScheme
    answer_format: AnswerFormat
    group_timeout: timedelta
    time_to_live: timedelta
    dynamic_sampling: cur.DynamicSampling
    late_feedback: cur.LateFeedback
    prompt_template: cur.PromptTemplate


def _check_options(options: RunOptions) -> None:
    """Misspelled options are mistakes, and not to be passed over."""
    unknown = sorted(set(options) - set(RunOptions.__annotations__))
    if unknown:
        known = ", ".join(sorted(RunOptions.__annotations__))
        raise TypeError(f"there is no option {unknown[0]!r}; there are {known}")


def create_run(
    run_id: str,
    arms: Sequence[cur.Arm],
    policy: cur.Policy,
    num_generations: int,
    prompts_per_update: int,
    options: RunOptions,
) -> Call[cur.Run]:
    """The run, new or as it was."""
    _check_options(options)
    config = cur.RunConfig(
        arms=arms,
        policy=policy,
        reward_scheme=reward_scheme_of(options.get("reward_scheme")),
        answer_format=value_of("ANSWER_FORMAT_", options.get("answer_format")),
        seed=options.get("seed", 0),
        num_generations=num_generations,
        length=options.get("length", 0),
        prompts_per_update=prompts_per_update,
        feedback_source=value_of("FEEDBACK_SOURCE_", options.get("feedback_source")),
        group_timeout=_duration(options.get("group_timeout")),
        time_to_live=_duration(options.get("time_to_live")),
        dynamic_sampling=options.get("dynamic_sampling"),
        late_feedback=options.get("late_feedback"),
        prompt_template=options.get("prompt_template"),
    )
    lag = options.get("feedback_lag")
    if lag == "unbounded":
        config.feedback_unbounded = True
    elif lag is not None:
        config.feedback_lag = lag
    request = cur.CreateRunRequest(run_id=run_id, config=config)
    return _call("CreateRun", request, cur.CreateRunResponse, lambda response: response.run)


def get_run(run_id: str) -> Call[cur.Run]:
    """The run."""
    return _call("GetRun", cur.GetRunRequest(run_id=run_id), cur.GetRunResponse, lambda response: response.run)


def list_runs(page_token: str) -> Call[tuple[list[cur.Run], str]]:
    """A page of runs and the next page's token."""
    request = cur.ListRunsRequest(page_token=page_token)
    return _call(
        "ListRuns", request, cur.ListRunsResponse, lambda response: (list(response.runs), response.next_page_token)
    )


def delete_run(run_id: str) -> Call[None]:
    """Nothing."""
    return _call("DeleteRun", cur.DeleteRunRequest(run_id=run_id), cur.DeleteRunResponse, lambda _: None)


def next_batch(run_id: str, cursor: int | None, count: int, wait: timedelta | None) -> Call[Batch]:
    """Tasks of the run."""
    request = cur.NextBatchRequest(run_id=run_id, cursor=cursor, count=count, wait=_duration(wait))
    return _call("NextBatch", request, cur.NextBatchResponse, Batch.from_proto, patient=True)


def report_advantages(run_id: str, groups: Iterable[GroupAdvantages]) -> Call[dict[str, str]]:
    """What each group's advantages did, by group id."""
    protos = [
        cur.GroupAdvantages(group_id=each.group_id, advantages=each.advantages, reward_mean=each.reward_mean)
        for each in groups
    ]
    request = cur.ReportAdvantagesRequest(run_id=run_id, groups=protos)
    return _call("ReportAdvantages", request, cur.ReportAdvantagesResponse, lambda response: _feedback(response.groups))


def close_groups(run_id: str, group_ids: Iterable[str], reason: str) -> Call[dict[str, str]]:
    """What closing each group did, by group id."""
    request = cur.CloseGroupsRequest(run_id=run_id, group_ids=group_ids, reason=reason)
    return _call("CloseGroups", request, cur.CloseGroupsResponse, lambda response: _feedback(response.groups))


Which = Literal["open"] | int | Iterable[str]


def get_groups(
    run_id: str, which: Which, tasks: bool, wait: timedelta | None, page_token: str
) -> Call[tuple[list[cur.RunGroup], str]]:
    """A page of groups and the next page's token."""
    request = cur.GetGroupsRequest(run_id=run_id, tasks=tasks, wait=_duration(wait), page_token=page_token)
    if which == "open":
        request.open = True
    elif isinstance(which, int):
        request.update_batch = which
    else:
        request.group_ids.extend(which)
    return _call(
        "GetGroups", request, cur.GetGroupsResponse, lambda response: (list(response.groups), response.next_page_token)
    )


def reopen_groups(run_id: str, group_ids: Iterable[str]) -> Call[dict[str, str]]:
    """What opening each group again did, by group id."""
    request = cur.ReopenGroupsRequest(run_id=run_id, group_ids=group_ids)
    return _call("ReopenGroups", request, cur.ReopenGroupsResponse, lambda response: _feedback(response.groups))


class ShapeOptions(TypedDict, total=False):
    """A new shape of a run; what is left out stays as it is. `length` 0 is no end."""

    add_arms: Sequence[cur.Arm]
    remove_arms: Sequence[str]
    num_generations: int
    prompts_per_update: int
    length: int
    policy: cur.Policy


def update_shape(run_id: str, shape: ShapeOptions) -> Call[int]:
    """The first cursor that it applies to."""
    unknown = sorted(set(shape) - set(ShapeOptions.__annotations__))
    if unknown:
        raise TypeError(f"there is no {unknown[0]!r} in a shape; there are {', '.join(ShapeOptions.__annotations__)}")
    request = cur.UpdateShapeRequest(run_id=run_id, **shape)
    return _call("UpdateShape", request, cur.UpdateShapeResponse, lambda response: response.applies_from_cursor)


def _feedback(groups: Iterable[cur.GroupFeedback]) -> dict[str, str]:
    return {each.group_id: name_of("FEEDBACK_STATUS_", each.feedback.status) for each in groups}


def update_policy(run_id: str, policy: cur.Policy) -> Call[int]:
    """The first cursor that it applies to."""
    request = cur.UpdatePolicyRequest(run_id=run_id, policy=policy)
    return _call("UpdatePolicy", request, cur.UpdatePolicyResponse, lambda response: response.applies_from_cursor)


def set_weights(run_id: str, weights: Mapping[str, float]) -> Call[int]:
    """The first cursor that they apply to."""
    request = cur.SetWeightsRequest(run_id=run_id, weights=weights)
    return _call("SetWeights", request, cur.SetWeightsResponse, lambda response: response.applies_from_cursor)


def advance(run_id: str) -> Call[int]:
    """The first cursor that it applies to."""
    request = cur.AdvanceRequest(run_id=run_id)
    return _call("Advance", request, cur.AdvanceResponse, lambda response: response.applies_from_cursor)


def pause(run_id: str) -> Call[int]:
    """The first cursor that is not issued."""
    request = cur.PauseRequest(run_id=run_id)
    return _call("Pause", request, cur.PauseResponse, lambda response: response.applies_from_cursor)


def resume(run_id: str) -> Call[int]:
    """The first cursor that is issued again."""
    request = cur.ResumeRequest(run_id=run_id)
    return _call("Resume", request, cur.ResumeResponse, lambda response: response.applies_from_cursor)


def export_run(run_id: str) -> Call[bytes]:
    """The run's whole state."""
    request = cur.ExportRunRequest(run_id=run_id)
    return _call("ExportRun", request, cur.ExportRunResponse, lambda response: response.state)


def import_run(run_id: str, state: bytes) -> Call[tuple[cur.Run, list[Task]]]:
    """The run as imported, and its outstanding tasks."""
    request = cur.ImportRunRequest(run_id=run_id, state=state)
    return _call(
        "ImportRun",
        request,
        cur.ImportRunResponse,
        lambda response: (response.run, [Task.from_proto(each) for each in response.outstanding]),
    )


def history(run_id: str, page_token: str) -> Call[tuple[list[cur.HistoryRecord], str]]:
    """A page of the history and the next page's token."""
    request = cur.GetHistoryRequest(run_id=run_id, page_token=page_token)
    return _call(
        "GetHistory",
        request,
        cur.GetHistoryResponse,
        lambda response: (list(response.records), response.next_page_token),
    )


def _duration(given: timedelta | None) -> Duration | None:
    if given is None:
        return None
    duration = Duration()
    duration.FromTimedelta(given)
    return duration


def _call(method: str, request: Message, response: type[R], read: Callable[[R], T], patient: bool = False) -> Call[T]:
    return Call(f"/gradus.v1.CurriculumService/{method}", request, response, read, patient)
