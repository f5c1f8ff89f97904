"""Operations of a run, without I/O: its groups, and changes of the run."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gradus._arguments import CallOptions, call_options, check_seconds, is_whole, listed, shown
from gradus._call import Call, curriculum_call, paged
from gradus._op import Each, Op
from gradus._run_core import RunCore, wait_within
from gradus._run_options import HistoryChoice, HistoryOptions, RunSampleChoice, RunSamplesOptions, ShapeOptions
from gradus._values import message_of, proto_of
from gradus.enums import FeedbackStatus, name_in
from gradus.errors import NoEffectWarning
from gradus.groups import GroupAdvantages, HistoryRecord, RunGroup
from gradus.outcomes import GroupOutcome
from gradus.policy_values import Policy
from gradus.runs import Annotation, Arm, Growth, ImportedRun, RowState, RunState
from gradus.samples import RunSample, filter_proto
from gradus.tasks import CompletionGroup, Task
from gradus.v1 import curriculum_pb2 as cur
from gradus.v1 import outcome_pb2
from gradus.violations import Violations

if TYPE_CHECKING:
    from typing_extensions import Unpack

_STATUS = outcome_pb2.Feedback.DESCRIPTOR.fields_by_name["status"].enum_type

GroupRef: TypeAlias = Task | CompletionGroup | str
"""A group, given by its task, its completions or its id."""

_ROWS_MAX = 65_536

Which: TypeAlias = Literal["open"] | int | Iterable[GroupRef]
"""Choice of groups: all that wait for samples ("open"), those of the update batch with a number, or listed ones."""


class WholeRunCore(RunCore):
    """All operations of a run."""

    def step_group(
        self, task: Task, texts: Iterable[str], first_index: int = 0, **options: Unpack[CallOptions]
    ) -> Op[GroupOutcome]:
        """Scores completions of one task, (n,).

        If one call has all completions of the group, the outcomes have advantages, too.
        """
        if not isinstance(task, Task):
            raise TypeError(f"task: want a Task; got {shown(task)}")
        return (yield from self.client.batch_step(task.group(texts, first_index), **options))[0]

    def report_advantages(
        self, groups: Iterable[GroupAdvantages], **options: Unpack[CallOptions]
    ) -> Op[dict[str, FeedbackStatus]]:
        """Reports advantages that the trainer computed, for a run with the feedback source "reported".

        Returns
        -------
        dict
            Feedback status by group id: "recorded", "duplicate", …

        """
        protos = [
            proto_of(each, GroupAdvantages, f"groups[{at}]")
            for at, each in enumerate(listed(groups, GroupAdvantages, "groups"))
        ]
        request = message_of(cur.ReportAdvantagesRequest, run_id=self.run_id, groups=protos)
        return self.call(curriculum_call("ReportAdvantages", request, _feedback), options)

    def close_groups(
        self, groups: Iterable[GroupRef], reason: str = "", **options: Unpack[CallOptions]
    ) -> Op[dict[str, FeedbackStatus]]:
        """Closes groups that the run would wait for in vain. Returns the feedback status by group id.

        The completions of these groups that have arrived count.
        """
        request = message_of(cur.CloseGroupsRequest, run_id=self.run_id, group_ids=_ids(groups), reason=reason)
        return self.call(curriculum_call("CloseGroups", request, _feedback), options)

    def reopen_groups(
        self, groups: Iterable[GroupRef], **options: Unpack[CallOptions]
    ) -> Op[dict[str, FeedbackStatus]]:
        """Reopens groups that were closed before all samples had a result. Returns the feedback status by group id."""
        request = message_of(cur.ReopenGroupsRequest, run_id=self.run_id, group_ids=_ids(groups))
        return self.call(curriculum_call("ReopenGroups", request, _feedback), options)

    def groups(
        self,
        which: Which = "open",
        *,
        tasks: bool = False,
        wait: float | None = None,
        **options: Unpack[CallOptions],
    ) -> Each[RunGroup]:
        """Yields groups with their results, in cursor order.

        Parameters
        ----------
        which
            "open": groups that wait for samples; the number of an update batch, from 0: its groups; or a list of
            groups or their ids.
        tasks
            Whether each group has its task.
        wait
            Maximum seconds to wait until all these groups are closed, at most 60; None: no wait. Groups that are still
            open then are returned, too.
        **options
            `timeout` in seconds, which limits the wait (left out: the client's plus `wait`), and `retries`.

        """
        limits = call_options(options)
        if wait is not None:
            check_seconds(wait, "wait")
            if limits.get("timeout") is None:
                limits["timeout"] = self.client.settings.timeout + max(0.0, wait)
        chosen = _chosen(which)

        def page(token: str) -> Call[tuple[list[RunGroup], str]]:
            request = message_of(cur.GetGroupsRequest, run_id=self.run_id, tasks=tasks, page_token=token)
            request.MergeFrom(chosen)

            def prepare(seconds: float) -> None:
                if wait is not None:
                    request.wait.CopyFrom(wait_within(wait, seconds))

            return curriculum_call("GetGroups", request, paged("groups", RunGroup), prepare=prepare)

        return self.client.pages(page, limits)

    def rows(self, arm_id: str, **options: Unpack[CallOptions]) -> Each[RowState]:
        """Yields the pass rate that the run knows of each row of an arm, in order.

        The arm must choose by `gradus.rows`.
        """

        def page(token: str) -> Call[tuple[list[RowState], str]]:
            request = message_of(
                cur.ListRowsRequest, run_id=self.run_id, arm_id=arm_id, page_size=_ROWS_MAX, page_token=token
            )
            return curriculum_call("ListRows", request, paged("rows", RowState))

        return self.client.pages(page, call_options(options))

    def rate_rows(
        self,
        arm_id: str,
        rates: Mapping[int, float],
        *,
        samples: float | None = None,
        pool_digest: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Op[int]:
        """Sets pass rates of rows of an arm. Returns the first cursor that is drawn with the new rates.

        Parameters
        ----------
        arm_id
            An arm with a curriculum over its rows (`gradus.rows`).
        rates
            Pass rate in [0, 1] by row number (in a pool: of the row in the file, from 0); at most 65,536. The
            rate replaces what the run knew of the row.
        samples
            Number of samples that each rate counts for; None: 8.
        pool_digest
            Digest of the pool whose rows these are (`PoolInfo.digest`); None: the one in rates from `read_rates`, if
            any. If the pool has another digest now, or there is none and the pool has changed, a
            `FailedPreconditionError` is raised.
        **options
            `timeout` in seconds and `retries`, in place of the client's.

        """
        if not hasattr(rates, "items"):
            raise TypeError(f"rates: want a mapping from row numbers to rates in [0, 1]; got {shown(rates)}")
        told = [_rating(row, rate) for row, rate in rates.items()]
        of = getattr(rates, "pool_digest", "") if pool_digest is None else pool_digest
        request = message_of(
            cur.RateRowsRequest, run_id=self.run_id, arm_id=arm_id, rows=told, samples=samples, pool_digest=of
        )
        return self.call(curriculum_call("RateRows", request, lambda response: response.applies_from_cursor), options)

    def update_shape(self, **shape: Unpack[ShapeOptions]) -> Op[int]:
        """Changes a run's arms, sizes or length. Returns the first cursor (position in tasks) with the change.

        Parameters
        ----------
        **shape
            `add_arms`, `remove_arms` (ids), `grow_arms` (by id, see `gradus.grow`), `num_generations`,
            `prompts_per_update`, `length` (tasks; 0: no end) and `policy`: left out, they stay as they are; and
            `timeout` (seconds) and `retries`.

        """
        given = {name: value for name, value in shape.items() if name not in CallOptions.__annotations__}
        request = message_of(cur.UpdateShapeRequest, run_id=self.run_id)
        if "add_arms" in shape:
            added = listed(shape["add_arms"], Arm, "add_arms")
            request.add_arms.extend(proto_of(each, Arm, f"add_arms[{at}]") for at, each in enumerate(added))
        if "remove_arms" in shape:
            given["remove_arms"] = listed(shape["remove_arms"], str, "remove_arms")
        for arm_id, growth in shape.get("grow_arms", {}).items():
            request.grow_arms[arm_id].CopyFrom(proto_of(growth, Growth, f"grow_arms[{arm_id!r}]"))
        if "policy" in shape:
            request.policy.CopyFrom(proto_of(shape["policy"], Policy, "policy"))
        rest = {name: value for name, value in given.items() if name not in ("add_arms", "grow_arms", "policy")}
        request.MergeFrom(message_of(cur.UpdateShapeRequest, **rest))
        return self.call(curriculum_call("UpdateShape", request, _applies_from, repeatable=False), shape)

    def update_policy(self, policy: Policy, **options: Unpack[CallOptions]) -> Op[int]:
        """Changes the policy. Returns the first cursor that the change applies to."""
        request = message_of(cur.UpdatePolicyRequest, run_id=self.run_id, policy=proto_of(policy, Policy, "policy"))
        return self.call(curriculum_call("UpdatePolicy", request, _applies_from), options)

    def set_weights(self, weights: Mapping[str, float], **options: Unpack[CallOptions]) -> Op[int]:
        """Changes the weights of arms, by arm id. Returns the first cursor that the change applies to."""
        if not isinstance(weights, Mapping):
            raise TypeError(f"weights: want a mapping from a str, an arm's id, to a number; got {shown(weights)}")
        request = message_of(cur.SetWeightsRequest, run_id=self.run_id, weights=weights)
        return self.call(curriculum_call("SetWeights", request, _applies_from), options)

    def advance(self, arm_id: str = "", **options: Unpack[CallOptions]) -> Op[int]:
        """Moves the policy to its next stage or tier. Returns the first cursor that the change applies to.

        With `arm_id` it opens the next level of an arm that grows.
        """
        request = message_of(cur.AdvanceRequest, run_id=self.run_id, arm_id=arm_id)
        return self.call(curriculum_call("Advance", request, _applies_from, repeatable=False), options)

    def pause(self, **options: Unpack[CallOptions]) -> Op[int]:
        """Pauses the run: it issues no further update batches. Returns the first cursor that is not issued."""
        return self.call(
            curriculum_call("Pause", message_of(cur.PauseRequest, run_id=self.run_id), _applies_from), options
        )

    def resume(self, **options: Unpack[CallOptions]) -> Op[int]:
        """Ends a pause of the run. Returns the first cursor that is issued again."""
        return self.call(
            curriculum_call("Resume", message_of(cur.ResumeRequest, run_id=self.run_id), _applies_from), options
        )

    def annotate(
        self,
        note: str | None = None,
        *,
        add_tags: Iterable[str] = (),
        remove_tags: Iterable[str] = (),
        **options: Unpack[CallOptions],
    ) -> Op[Annotation]:
        """Changes the note and the tags of the run, which affect no draw.

        Parameters
        ----------
        note
            New note, at most 4,096 bytes; "": the run has no note any more. None: the note stays.
        add_tags, remove_tags
            Tags, each of at most 32 characters. A run may have 16.
        **options
            `timeout` in seconds and `retries`, in place of the client's.

        Returns
        -------
        Annotation
            The note and the tags after the change.

        """
        request = message_of(
            cur.AnnotateRunRequest,
            run_id=self.run_id,
            note=note,
            add_tags=listed(add_tags, str, "add_tags"),
            remove_tags=listed(remove_tags, str, "remove_tags"),
        )
        return self.call(curriculum_call("AnnotateRun", request, _annotation), options)

    def export_state(self, **options: Unpack[CallOptions]) -> Op[bytes]:
        """Returns the run's whole state as opaque bytes for a trainer's checkpoint, open groups included."""
        request = message_of(cur.ExportRunRequest, run_id=self.run_id)
        return self.call(curriculum_call("ExportRun", request, lambda got: got.state), options)

    def import_state(
        self, state: bytes, *, restore_control: bool = False, **options: Unpack[CallOptions]
    ) -> Op[ImportedRun]:
        """Replaces what this run has learned by an exported state (a new epoch), or creates the run from it.

        An existing run keeps its control: pause, weights, policy, arms and shape. A new run takes its control from the
        export, but is never paused. The handle continues at the first update batch that is not closed.

        Parameters
        ----------
        state
            State from `export_state`.
        restore_control
            Whether the control is taken from the export too; needs an operator's token.
        **options
            `timeout` in seconds and `retries`, in place of the client's.

        Returns
        -------
        ImportedRun
            The run and its outstanding tasks, which are issued again. Ids from before the import no longer count (their
            status is "stale_epoch").

        Raises
        ------
        InvalidArgumentError
            If `state` is not an export, or comes from a server with another key.
        FailedPreconditionError
            If an arm of the run and the exported arm with the same id have different task specs.
        GradusError
            With PERMISSION_DENIED, if `restore_control` is asked for and the token is not an operator's.

        """
        request = message_of(cur.ImportRunRequest, run_id=self.run_id, state=state, restore_control=restore_control)
        imported = yield from self.call(
            curriculum_call("ImportRun", request, ImportedRun.from_proto, repeatable=False), options
        )
        self.cursor = imported.run.state.first_open_cursor
        return imported

    def watch(self, interval: float = 0.0) -> Each[RunState]:
        """Yields the state now and after each change, until the run is deleted or the iterator is closed.

        If the server goes away, the stream continues when it is back.

        Parameters
        ----------
        interval
            Minimum seconds between two states, 0.1 to 60; 0: 0.1. Changes in between come as one state, because states
            of runs with many arms are large.

        """
        check_seconds(interval, "interval")
        request = message_of(cur.WatchRunRequest, run_id=self.run_id, interval_ms=round(1000 * interval))
        method = "/gradus.v1.CurriculumService/WatchRun"
        return self.client.followed(method, request, cur.WatchRunResponse, lambda got: RunState.from_proto(got.state))

    def samples(self, page_size: int = 0, **options: Unpack[RunSamplesOptions]) -> Each[RunSample]:
        """Yields the completions that the run keeps (on a server with `--keep-samples`), newest first.

        Parameters
        ----------
        page_size
            Number that one call requests; 0: 100.
        **options
            Conditions of `SampleFilter`; `arm_id`, `group_id`; `tasks`: whether samples have their tasks; `brief`:
            whether completions are left out; and `timeout` (seconds) and `retries`.

        """
        wanted = {name: options[name] for name in RunSampleChoice.__annotations__ if name in options}  # type: ignore[literal-required]
        filtered = filter_proto(options)

        def page(token: str) -> Call[tuple[list[RunSample], str]]:
            request = message_of(
                cur.ListRunSamplesRequest,
                run_id=self.run_id,
                page_size=page_size,
                page_token=token,
                filter=filtered,
                **wanted,
            )
            return curriculum_call("ListRunSamples", request, paged("samples", RunSample))

        return self.client.pages(page, call_options(options))

    def delete_samples(self, **options: Unpack[CallOptions]) -> Op[None]:
        """Deletes the completions that the run keeps; the run goes on."""
        request = message_of(cur.DeleteRunSamplesRequest, run_id=self.run_id)
        return self.call(curriculum_call("DeleteRunSamples", request, lambda _: None), options)

    def violations(self, arm_id: str = "", **options: Unpack[CallOptions]) -> Op[Violations]:
        """Returns counts of what is wrong with the run's completions, and signs that the policy exploits its reward.

        The server counts while it keeps completions (`--keep-samples`).

        Parameters
        ----------
        arm_id
            Id of the training arm to return in full; "": all arms, in brief.
        **options
            `timeout` (seconds) and `retries`.

        Raises
        ------
        InvalidArgumentError
            If the run has no such arm.

        """
        request = message_of(cur.GetViolationsRequest, run_id=self.run_id, arm_id=arm_id)
        return self.call(curriculum_call("GetViolations", request, Violations.from_proto), options)

    def history(self, **options: Unpack[HistoryOptions]) -> Each[HistoryRecord]:
        """Yields update batches, rounds of evaluation and control changes, in the order in which they happened.

        Parameters
        ----------
        **options
            `merge_batches`, `without_arms` and `arm_groups`, see `HistoryChoice`; and `timeout` (seconds) and
            `retries`.

        Raises
        ------
        InvalidArgumentError
            If an index in `arm_groups` is not below the length of that list.

        """
        told = {name: options[name] for name in HistoryChoice.__annotations__ if name in options}  # type: ignore[literal-required]

        def page(token: str) -> Call[tuple[list[HistoryRecord], str]]:
            request = message_of(cur.GetHistoryRequest, run_id=self.run_id, page_token=token, **told)
            return curriculum_call("GetHistory", request, paged("records", HistoryRecord))

        return self.client.pages(page, call_options(options))


def _rating(row: Any, rate: Any) -> cur.RowRating:
    try:
        return message_of(cur.RowRating, row=row, pass_rate=rate)
    except (TypeError, ValueError) as error:
        raise type(error)(f"rates: {error}") from None


def _chosen(which: Any) -> cur.GetGroupsRequest:
    if isinstance(which, str):
        if which != "open":
            raise ValueError(f'which: want "open", the number of an update batch, or [ids]; got {shown(which)}')
        return cur.GetGroupsRequest(open=True)
    if is_whole(which):
        return message_of(cur.GetGroupsRequest, update_batch=which)
    return message_of(cur.GetGroupsRequest, group_ids=_ids(which, "which"))


def _ids(groups: Any, place: str = "groups") -> list[str]:
    want = f"{place}: want a list of groups or of their ids"
    if isinstance(groups, str) or hasattr(groups, "group_id"):
        raise TypeError(f"{want}; got {shown(groups)}; write [it]")
    if not isinstance(groups, Iterable):
        raise TypeError(f"{want}; got {shown(groups)}")
    ids: list[Any] = [getattr(each, "group_id", each) for each in groups]
    for each in ids:
        if not isinstance(each, str):
            raise TypeError(f"{want}; got {shown(each)} in it")
    return ids


def _feedback(response: cur.CloseGroupsResponse) -> dict[str, FeedbackStatus]:
    return {each.group_id: name_in(_STATUS, each.feedback.status) for each in response.groups}


def _applies_from(response: cur.PauseResponse) -> int:
    _warn_of_no_effect(response.no_effect)
    return response.applies_from_cursor


def _annotation(response: cur.AnnotateRunResponse) -> Annotation:
    _warn_of_no_effect(response.no_effect)
    return Annotation.from_proto(response)


def _warn_of_no_effect(no_effect: Iterable[str]) -> None:
    for words in no_effect:
        warnings.warn(f"no effect: {words}", NoEffectWarning, stacklevel=3)
