"""A run, for code that waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from gradus import _curriculum_calls as _calls
from gradus._curriculum_calls import RunOptions, ShapeOptions
from gradus.types import Batch, CompletionGroup, GroupAdvantages, GroupOutcome, Task
from gradus.v1 import curriculum_pb2

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from gradus.client import Client


class Run:
    """A run, by its id: what `Client.run` gives. The contract, curriculum.proto, says what each call means."""

    def __init__(self, client: Client, run_id: str) -> None:
        self._client = client
        self.run_id = run_id

    def create(
        self,
        arms: Sequence[curriculum_pb2.Arm],
        policy: curriculum_pb2.Policy,
        *,
        num_generations: int,
        prompts_per_update: int,
        **options: Unpack[RunOptions],
    ) -> curriculum_pb2.Run:
        """Creates the run, or gives it as it is if it exists with this configuration; see `gradus.arm` and `bandit`."""
        call = _calls.create_run(self.run_id, arms, policy, num_generations, prompts_per_update, options)
        return self._client._call(call)

    def get(self) -> curriculum_pb2.Run:
        """Its configuration and state."""
        return self._client._call(_calls.get_run(self.run_id))

    def delete(self) -> None:
        """Deletes it and all that is kept of it."""
        self._client._call(_calls.delete_run(self.run_id))

    def next_batch(
        self, cursor: int | None = None, count: int = 0, *, wait: timedelta | None = None, timeout: float = 600.0
    ) -> Batch:
        """The tasks from a cursor on (None: the first never issued), at most `count` (0: an update batch).

        Where feedback is due that has not come, or no server answers, it asks again for up to `timeout` seconds.
        """
        return self._client._call(_calls.next_batch(self.run_id, cursor, count, wait), timeout)

    def batches(self, cursor: int | None = None, count: int = 0, *, timeout: float = 600.0) -> Iterator[Batch]:
        """Batch after batch from a cursor on, to the end of the run; each is asked for when it is wanted.

        Without a cursor: from the first update batch that is not closed, so that a trainer that died goes on where it
        stood.
        """
        if cursor is None:
            cursor = first_open_cursor(self.get())
        while True:
            batch = self.next_batch(cursor, count, timeout=timeout)
            if batch.tasks:
                yield batch
            if batch.done:
                return
            cursor = batch.next_cursor

    def step_group(self, task: Task, texts: Iterable[str], first_index: int = 0) -> GroupOutcome:
        """Scores completions of one task; with all of a group's in one call, the advantages come too."""
        return self._client.batch_step(task.group(texts, first_index))[0]

    def report_advantages(self, groups: Iterable[GroupAdvantages]) -> dict[str, str]:
        """Feeds advantages of the trainer's own to a run whose feedback source is "reported".

        Gives what each did by group id: "recorded", "duplicate", …
        """
        return self._client._call(_calls.report_advantages(self.run_id, groups))

    def close_groups(self, groups: Iterable[Task | CompletionGroup | str], reason: str = "") -> dict[str, str]:
        """Closes groups, given by id or task, whose completions will not come. Gives what it did by group id."""
        return self._client._call(_calls.close_groups(self.run_id, group_ids(groups), reason))

    def groups(
        self, which: _calls.Which = "open", *, tasks: bool = False, wait: timedelta | None = None
    ) -> Iterator[curriculum_pb2.RunGroup]:
        """Groups with what is known of them, in cursor order.

        Parameters
        ----------
        which
            "open" for those that wait for samples; an update batch's number, from 0; or ids of groups.
        tasks
            Whether each comes with its task.
        wait
            How long to wait until all of them are closed, at most 60 s; None: not at all. What is known then is given
            in any case.

        """
        return self._client._pages(lambda token: _calls.get_groups(self.run_id, which, tasks, wait, token))

    def reopen_groups(self, groups: Iterable[Task | CompletionGroup | str]) -> dict[str, str]:
        """Opens groups again that were closed before they were whole. Gives what it did by group id."""
        return self._client._call(_calls.reopen_groups(self.run_id, group_ids(groups)))

    def update_shape(self, **shape: Unpack[ShapeOptions]) -> int:
        """Changes arms, generations, prompts or length; gives the first cursor that the change applies to."""
        return self._client._call(_calls.update_shape(self.run_id, shape))

    def update_policy(self, policy: curriculum_pb2.Policy) -> int:
        """Changes the policy; gives the first cursor that the change applies to."""
        return self._client._call(_calls.update_policy(self.run_id, policy))

    def set_weights(self, weights: Mapping[str, float]) -> int:
        """Changes the weights of arms, by arm id; gives the first cursor that the change applies to."""
        return self._client._call(_calls.set_weights(self.run_id, weights))

    def advance(self) -> int:
        """Moves the policy on to its next stage; gives the first cursor that the change applies to."""
        return self._client._call(_calls.advance(self.run_id))

    def pause(self) -> int:
        """Stops issuing update batches; gives the first cursor that is not issued."""
        return self._client._call(_calls.pause(self.run_id))

    def resume(self) -> int:
        """Issues update batches again; gives the cursor from which."""
        return self._client._call(_calls.resume(self.run_id))

    def export(self) -> bytes:
        """The whole state, outstanding groups included."""
        return self._client._call(_calls.export_run(self.run_id))

    def import_(self, state: bytes) -> tuple[curriculum_pb2.Run, list[Task]]:
        """Puts an exported state in this run's place (a new epoch), or makes this run of another's.

        Gives the run and its outstanding tasks, in cursor order. They are issued again: ids from before the import
        count no more (`stale_epoch`).
        """
        return self._client._call(_calls.import_run(self.run_id, state))

    def watch(self) -> Iterator[curriculum_pb2.RunState]:
        """The state, at once and after each change, until the run is deleted or the iterator is closed."""
        return self._client._watch(self.run_id)

    def history(self) -> Iterator[curriculum_pb2.HistoryRecord]:
        """Update batches and control changes, in the order they happened."""
        return self._client._pages(lambda token: _calls.history(self.run_id, token))


def first_open_cursor(run: curriculum_pb2.Run) -> int:
    """The cursor of the first update batch that is not closed."""
    return run.state.first_open_cursor


def group_ids(groups: Iterable[Task | CompletionGroup | str]) -> list[str]:
    """The ids of groups that are given by id, task or completions."""
    return [each if isinstance(each, str) else each.group_id for each in groups]
