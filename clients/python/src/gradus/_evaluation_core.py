"""Operations of an evaluation, without I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, cast

from gradus._arguments import CallOptions, call_options, check_id, check_index, listed, shown
from gradus._call import Call, evaluation_call, paged
from gradus._client_core import ClientCore
from gradus._op import Each, Op
from gradus._texts import sendable
from gradus._values import message_of
from gradus.enums import AnswerFormat, FinishReason, Thinking
from gradus.evaluations import EvaluationInfo, PendingTask, Report, Sample, Submitted
from gradus.rollouts import Generated, PolicyTurn, turn_of
from gradus.samples import SampleFilter, filter_proto
from gradus.tasks import Task, finish_reason_value, task_id_of
from gradus.v1 import evaluation_pb2 as ev

if TYPE_CHECKING:
    from typing_extensions import Unpack


class EvaluationOptions(TypedDict, total=False):
    """Settings of an evaluation beside its suite. All may be left out."""

    suite_version: int
    samples_per_task: int
    model: str
    answer_format: AnswerFormat
    thinking: Thinking


class CreateEvaluationOptions(EvaluationOptions, CallOptions, total=False):
    """Options of `Evaluation.create`: those of `EvaluationOptions` and `CallOptions`."""


class SampleChoice(TypedDict, total=False):
    """Conditions on samples: a part or category of the suite, or an instance hash.

    `brief` leaves out prompts and completions.
    """

    part: str
    category: str
    instance_hash: str
    brief: bool


class SamplesOptions(SampleChoice, SampleFilter, CallOptions, total=False):
    """Options of `Evaluation.samples`: those of `SampleChoice`, `SampleFilter` and `CallOptions`."""


class EvaluationCore:
    """All operations of an `Evaluation`: generators without I/O, which its blocking and asyncio methods run."""

    def __init__(self, client: ClientCore, evaluation_id: str) -> None:
        self.client = client
        self.evaluation_id = check_id(evaluation_id, "evaluation_id")

    def create(self, suite: str, **options: Unpack[CreateEvaluationOptions]) -> Op[EvaluationInfo]:
        """Creates the evaluation, or returns it if it exists with these choices.

        Parameters
        ----------
        suite
            The suite's id, see `Client.list_suites`.
        **options
            `suite_version` (default: the newest), `samples_per_task` (1 to 1024, default 1), `model` (a name for the
            report), `answer_format` (default: each environment's) and `thinking` (default "required"); and `timeout`
            (seconds) and `retries`.

        Raises
        ------
        AlreadyExistsError
            If it exists with other choices.
        NotFoundError
            If there is no such suite; the message suggests the nearest.

        """
        info = EvaluationInfo(
            evaluation_id=self.evaluation_id,
            suite=suite,
            suite_version=options.get("suite_version", 0),
            samples_per_task=options.get("samples_per_task", 0),
            samples_total=0,
            samples_scored=0,
            model=options.get("model", ""),
            answer_format=options.get("answer_format"),
            thinking=options.get("thinking"),
        ).to_proto()
        request = message_of(
            ev.CreateEvaluationRequest,
            evaluation_id=info.evaluation_id,
            suite=info.suite,
            suite_version=info.suite_version,
            samples_per_task=info.samples_per_task,
            model=info.model,
            answer_format=info.answer_format,
            thinking=info.thinking,
        )
        return self.client.call(evaluation_call("CreateEvaluation", request, _read_info), call_options(options))

    def get(self, **options: Unpack[CallOptions]) -> Op[EvaluationInfo]:
        """Returns the configuration of the evaluation, and the number of its scored samples."""
        request = message_of(ev.GetEvaluationRequest, evaluation_id=self.evaluation_id)
        return self.client.call(evaluation_call("GetEvaluation", request, _read_info), options)

    def held(self) -> Each[None]:
        """Locks the evaluation. Yields once when it is locked, and unlocks it when the iterator is closed."""
        request = message_of(ev.HoldEvaluationRequest, evaluation_id=self.evaluation_id)
        method = "/gradus.v1.EvaluationService/HoldEvaluation"
        return self.client.replies(method, request, ev.HoldEvaluationResponse, lambda _: None)

    def pending(self, page_size: int = 0, **options: Unpack[CallOptions]) -> Each[PendingTask]:
        """Yields the tasks with missing samples, in the suite's order.

        Each page is requested when the caller needs it. A `page_size` of 0 means 100.
        """

        def page(token: str) -> Call[tuple[list[PendingTask], str]]:
            request = message_of(
                ev.ListPendingTasksRequest, evaluation_id=self.evaluation_id, page_size=page_size, page_token=token
            )
            return evaluation_call("ListPendingTasks", request, paged("tasks", PendingTask))

        return self.client.pages(page, options)

    def submit(
        self,
        completions: Iterable[
            tuple[Task | str, int, Generated] | tuple[Task | str, int, Generated, FinishReason | None]
        ],
        **options: Unpack[CallOptions],
    ) -> Op[list[Submitted]]:
        """Submits completions for scoring. The first completion of each sample counts.

        Parameters
        ----------
        completions
            (n,), each (task or its id, sample index, text); at most 1024. A fourth item may say why generation ended:
            "stop", or "length" if the completion was cut off. In a task with turns, give a `PolicyTurn` or a message in
            OpenAI's form in place of the text, and after the first completion the id in `outcome.turn`.
        **options
            `timeout` in seconds and `retries`, in place of the client's.

        Returns
        -------
        list of Submitted
            (n,), in the order of `completions`. A refused completion does not affect the others.

        """
        protos = [self._submission(*item) for item in _items(completions)]
        request = message_of(ev.BatchSubmitCompletionsRequest, completions=protos)
        return self.client.call(
            evaluation_call("BatchSubmitCompletions", request, lambda got: [*map(Submitted.from_proto, got.results)]),
            options,
        )

    def _submission(
        self, task: Task | str, sample_index: int, completion: Generated, ended: FinishReason | None = None
    ) -> ev.SubmitCompletionsRequest:
        task_id, index = task_id_of(task), check_index(sample_index)
        is_message = isinstance(completion, Mapping) and ("content" in completion or "tool_calls" in completion)
        if not is_message and not isinstance(completion, PolicyTurn):
            completion = sendable(
                cast("str", completion), f"completion of sample {sample_index}", f"task {task_id[:24]}"
            )
        made = turn_of(completion).to_proto(index, task_id)
        return message_of(
            ev.SubmitCompletionsRequest,
            evaluation_id=self.evaluation_id,
            task_id=task_id,
            sample_index=index,
            completion=made.text,
            finish_reason=finish_reason_value(ended) if ended is not None else made.finish_reason,
            tool_calls=made.tool_calls,
            end=made.end,
            text_tools=made.text_tools,
        )

    def samples(self, page_size: int = 0, **options: Unpack[SamplesOptions]) -> Each[Sample]:
        """Yields submitted samples with their outcomes, in the suite's order.

        Options select samples: the conditions of `SampleFilter`, and those of `SampleChoice`, such as a part.
        """
        wanted = {name: options[name] for name in SampleChoice.__annotations__ if name in options}  # type: ignore[literal-required]
        filtered = filter_proto(options)

        def page(token: str) -> Call[tuple[list[Sample], str]]:
            request = message_of(
                ev.ListSamplesRequest,
                evaluation_id=self.evaluation_id,
                page_size=page_size,
                page_token=token,
                filter=filtered,
                **wanted,
            )
            return evaluation_call("ListSamples", request, paged("samples", Sample))

        return self.client.pages(page, call_options(options))

    def delete(self, **options: Unpack[CallOptions]) -> Op[None]:
        """Deletes the evaluation with its samples."""
        request = message_of(ev.DeleteEvaluationRequest, evaluation_id=self.evaluation_id)
        call = evaluation_call("DeleteEvaluation", request, lambda _: None, repeatable=False)
        return self.client.call(call, options)

    def report(self, **options: Unpack[CallOptions]) -> Op[Report]:
        """Returns the current report: statistics of the samples scored so far."""
        request = message_of(ev.GetReportRequest, evaluation_id=self.evaluation_id)
        call = evaluation_call("GetReport", request, lambda got: Report.from_proto(got.report))
        return self.client.call(call, options)


def _read_info(response: ev.GetEvaluationResponse | ev.CreateEvaluationResponse) -> EvaluationInfo:
    return EvaluationInfo.from_proto(response.evaluation)


_ITEM_PARTS = (3, 4)


def _items(completions: Any) -> list[Any]:
    """Returns the completions as a list; raises TypeError unless each is a tuple or list of three or four items."""
    items = listed(completions, "(task, sample_index, completion)", "completions")
    for i, item in enumerate(items):
        if not isinstance(item, (tuple, list)) or len(item) not in _ITEM_PARTS:
            want = "want (task, sample_index, completion), or these and a finish reason"
            raise TypeError(f"completions[{i}]: {want}; got {shown(item)}")
    return items
