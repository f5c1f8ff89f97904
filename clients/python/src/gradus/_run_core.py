"""Operations of a run, without I/O: creation, and its tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from google.protobuf.duration_pb2 import Duration

from gradus._arguments import CallOptions, call_options, check_id, check_seconds, listed, shown
from gradus._call import Call, curriculum_call, paged
from gradus._client_core import ClientCore
from gradus._notices import Notice
from gradus._op import Each, Item, Op
from gradus._retries import Deadline
from gradus._run_options import BatchOptions, CreateOptions, RunOptions
from gradus._values import duration, message_of
from gradus.arms import reward_scheme_of
from gradus.enums import FeedbackStatus
from gradus.errors import GradusError, NotFoundError
from gradus.groups import RunGroup
from gradus.policy_values import Policy
from gradus.runs import (
    Arm,
    Batch,
    EvaluationArm,
    RunConfig,
    RunInfo,
)
from gradus.stalls import ASK_SECONDS, GATHER_SECONDS, is_stall, stalled
from gradus.v1 import curriculum_pb2 as cur

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")

_BATCH_SECONDS = 600.0
"""Default timeout of a call for a batch of tasks, in seconds."""

_LEFT_MIN = 0.001
"""Minimum timeout of a call in seconds, because a timeout must be above 0."""

_SERVER_WAIT = 10.0
"""Seconds that the server waits for feedback in one try; equal to its own default."""


class RunCore:
    """Operations of a run that a trainer calls in its loop.

    `cursor` is the position of the next batch; None: not known.
    """

    def __init__(self, client: ClientCore, run_id: str, cursor: int | None = None) -> None:
        self.client = client
        self.run_id = check_id(run_id, "run_id")
        self.cursor = cursor

    def create(
        self,
        arms: Iterable[Arm],
        policy: Policy,
        *,
        num_generations: int,
        prompts_per_update: int,
        **options: Unpack[CreateOptions],
    ) -> Op[RunInfo]:
        """Creates the run, or returns it if it exists with this configuration.

        Parameters
        ----------
        arms
            Arms (kinds of tasks) between which the policy chooses, see `gradus.arm`: 1 to 1,024.
        policy
            Policy that chooses among the arms, see `gradus.recommended`.
        num_generations
            Completions of each prompt.
        prompts_per_update
            Tasks in an update batch.
        **options
            `seed`, `length` (tasks; 0: no end), `feedback_lag` (update batches that a draw runs ahead of feedback, or
            "unbounded"; default 1), `feedback_source` ("step" or "reported"), `reward_scheme`, `answer_format`,
            `group_timeout` and `time_to_live` (seconds), `evaluation_arms`, `dynamic_sampling`, `late_feedback`,
            `prompt_template`, `train_on_evaluated` (whether arms may hold rows that the run or a suite evaluates),
            `trainer` (`gradus.TrainerSettings`, kept for the trainer);
            and `timeout` (seconds) and `retries`.

        Raises
        ------
        AlreadyExistsError
            If it exists with another configuration; the message names the field that differs.
        InvalidArgumentError
            If a field of the configuration is invalid; the message names the field.
        TypeError
            If there is no such option; the message suggests the nearest.

        """
        config = _config_of(arms, policy, num_generations, prompts_per_update, options)
        request = message_of(cur.CreateRunRequest, run_id=self.run_id, config=config.to_proto())
        return self.call(curriculum_call("CreateRun", request, _read_run), options)

    def get(self, **options: Unpack[CallOptions]) -> Op[RunInfo]:
        """Returns the run's configuration and current state.

        Raises
        ------
        NotFoundError
            If there is no such run.

        """
        request = message_of(cur.GetRunRequest, run_id=self.run_id)
        return self.call(curriculum_call("GetRun", request, _read_run), options)

    def delete(self, **options: Unpack[CallOptions]) -> Op[None]:
        """Deletes the run and all its data.

        If a new run gets the same id, the handle starts at the beginning of that run.
        """
        request = message_of(cur.DeleteRunRequest, run_id=self.run_id)
        call: Call[None] = curriculum_call("DeleteRun", request, lambda _: None, repeatable=False)
        try:
            yield from self.call(call, options)
        except NotFoundError:
            # The run is gone: another process deleted it, or an earlier try did and its reply was lost.
            self.cursor = None
            raise
        self.cursor = None

    def next_batch(self, cursor: int | None = None, **options: Unpack[BatchOptions]) -> Op[Batch]:
        """Returns the next tasks. Waits for due feedback, for the end of a pause, and for a server that is down.

        The handle keeps the position and moves it on only when the tasks have arrived, so a lost reply skips no task. A
        new handle begins at the first update batch that is not closed, so a restarted trainer goes on where it stopped.
        Each handle is an independent reader: all handles of a run get the same tasks.

        Parameters
        ----------
        cursor
            Position in the run of the first task, in tasks from 0. The same position gives the same tasks. The handle's
            position does not change. None: the handle's position, which then moves on.
        **options
            `count`: maximum number of tasks, 1 to 4096; default: an update batch. `wait`: seconds that the server waits
            for feedback in one try; default 10. `timeout`: seconds for all tries; default 600. `retries`: maximum
            number of retries; default: as many as the timeout allows. `on_pause`: "wait" (the default) waits as long
            as the run is paused, regardless of `timeout` and `retries`, and logs once a minute who paused it; "raise"
            raises a `PausedError`.

        Raises
        ------
        StalledError
            If due feedback did not arrive in time. The message names the groups.
        PausedError
            If the run is paused and `on_pause` is "raise".
        FailedPreconditionError
            If the run is paused and the server is too old to wait for the end of a pause.
        OutOfRangeError
            If the tasks at the cursor were closed long ago, or lie too far ahead.

        Warns
        -----
        StallWarning
            Once, if the call has waited for half a minute.

        """
        given = options.get("timeout")
        limits: CallOptions = {**call_options(options), "timeout": _BATCH_SECONDS if given is None else given}
        seconds, _ = self.client.limits(limits)
        deadline = Deadline(seconds)
        start = (yield from self._position(limits)) if cursor is None else cursor
        request = message_of(cur.NextBatchRequest, run_id=self.run_id, cursor=start, count=options.get("count", 0))
        wait = options.get("wait", _SERVER_WAIT)
        check_seconds(wait, "wait")
        on_pause = options.get("on_pause", "wait")
        if on_pause not in ("wait", "raise"):
            raise ValueError(f'on_pause: want "wait" or "raise"; got {shown(on_pause)}')

        def prepare(seconds: float) -> None:
            request.wait.CopyFrom(wait_within(max(0.0, wait), seconds))

        through_pause = on_pause == "wait"
        call: Call[Batch] = curriculum_call(
            "NextBatch", request, Batch.from_proto, patient=True, prepare=prepare, through_pause=through_pause
        )
        # Asking the server for the position may have used a part of the timeout.
        limits["timeout"] = max(_LEFT_MIN, deadline.left())
        notice = Notice(self.run_id, lambda error, waited: self._why(error, start, waited))
        try:
            batch = yield from self.client.call(call, limits, notice.waiting)
        except GradusError as error:
            failure = error
        else:
            notice.resumed()
            if cursor is None:
                self.cursor = batch.next_cursor
            return batch
        raise (yield from self._why(failure, start, seconds)) from None

    def batches(self, cursor: int | None = None, **options: Unpack[BatchOptions]) -> Each[Batch]:
        """Yields batches until the end of the run. Each is requested when the caller needs it.

        Parameters
        ----------
        cursor
            Cursor to begin at, to which the handle moves. None: the handle's present position, see `next_batch`.
        **options
            See `next_batch`.

        Yields
        ------
        Batch
            With at least one task.

        """
        if cursor is not None:
            self.cursor = cursor
        while True:
            batch = yield from self.next_batch(**options)
            if batch.tasks:
                yield Item(batch)
            if batch.done:
                return

    def next_evaluation(
        self, arm_id: str, evaluation_round: int, cursor: int = 0, count: int = 0, **options: Unpack[CallOptions]
    ) -> Op[Batch]:
        """Returns tasks of an evaluation arm (see `gradus.evaluation_arm`).

        Their completions are scored like others, and appear in the run's state and history. No policy learns from them.

        Parameters
        ----------
        arm_id
            Id of the evaluation arm.
        evaluation_round
            Number of the round, e.g. the trainer's step. Numbers must increase. All rounds have the same tasks.
            Processes that give the same number share a round.
        cursor
            Position in the arm's set of the first task.
        count
            Maximum number of tasks, 1 to 4096; 0: 256.
        **options
            `timeout` in seconds and `retries`, in place of the client's.

        Raises
        ------
        OutOfRangeError
            If the round is older than the last two.

        """
        request = message_of(
            cur.NextEvaluationRequest,
            run_id=self.run_id,
            arm_id=arm_id,
            round=evaluation_round,
            cursor=cursor,
            count=count,
        )
        return self.call(curriculum_call("NextEvaluation", request, Batch.from_proto), options)

    def call(self, call: Call[T], options: Mapping[str, object]) -> Op[T]:
        """Makes a call with `timeout` and `retries` of the options; ignores all other options."""
        return self.client.call(call, call_options(options))

    def feedback_counts(self) -> dict[FeedbackStatus, int]:
        """Returns the number of this run's scores by feedback status, as seen by this client."""
        return self.client.feedback.counts(self.run_id)

    def _position(self, options: CallOptions) -> Op[int]:
        """Returns the handle's position. A new handle asks the server for it, and waits if the server is down."""
        if self.cursor is None:
            request = message_of(cur.GetRunRequest, run_id=self.run_id)
            ask: Call[RunInfo] = curriculum_call("GetRun", request, _read_run, patient=True)
            info = yield from self.client.call(ask, options)
            self.cursor = info.state.first_open_cursor
        return self.cursor

    def _why(self, error: GradusError, cursor: int, seconds: float) -> Op[GradusError]:
        """Returns the error. If the run waits for feedback, the returned error names the groups."""
        if not is_stall(error):
            return error
        request = message_of(cur.GetGroupsRequest, run_id=self.run_id, open=True)
        ask = curriculum_call("GetGroups", request, paged("groups", RunGroup))
        try:
            groups, _ = yield from self.client.call(ask, {"timeout": ASK_SECONDS, "retries": 0})
        except GradusError:
            return error
        return stalled(self.run_id, cursor, seconds, groups) if groups else error


def wait_within(wait: float, seconds: float) -> Duration:
    """Returns how long the server may wait for feedback before it answers.

    The server must answer before the timeout of the call, because its answer says what it waits for.
    """
    return duration(min(wait, max(0.0, min(seconds * 0.8, seconds - GATHER_SECONDS))))


def _config_of(
    arms: Iterable[Arm], policy: Policy, num_generations: int, prompts_per_update: int, options: CreateOptions
) -> RunConfig:
    given: dict[str, Any] = {name: value for name, value in options.items() if name in RunOptions.__annotations__}
    given["reward_scheme"] = reward_scheme_of(options.get("reward_scheme"))
    given["evaluation_arms"] = tuple(listed(options.get("evaluation_arms", ()), EvaluationArm, "evaluation_arms"))
    return RunConfig(
        arms=tuple(listed(arms, Arm, "arms")),
        policy=policy,
        num_generations=num_generations,
        prompts_per_update=prompts_per_update,
        **given,
    )


def _read_run(response: cur.GetRunResponse | cur.CreateRunResponse) -> RunInfo:
    return RunInfo.from_proto(response.run)
