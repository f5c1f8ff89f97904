"""A run, for asyncio: the methods of gradus/run.py, awaited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from gradus import _curriculum_calls as _calls
from gradus._curriculum_calls import RunOptions, ShapeOptions
from gradus.run import first_open_cursor, group_ids
from gradus.types import Batch, CompletionGroup, GroupAdvantages, GroupOutcome, Task
from gradus.v1 import curriculum_pb2

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from gradus.aio.client import AsyncClient


class AsyncRun:
    """`Run` for asyncio: what `AsyncClient.run` gives."""

    def __init__(self, client: AsyncClient, run_id: str) -> None:
        self._client = client
        self.run_id = run_id

    async def create(
        self,
        arms: Sequence[curriculum_pb2.Arm],
        policy: curriculum_pb2.Policy,
        *,
        num_generations: int,
        prompts_per_update: int,
        **options: Unpack[RunOptions],
    ) -> curriculum_pb2.Run:
        """See `Run.create`."""
        call = _calls.create_run(self.run_id, arms, policy, num_generations, prompts_per_update, options)
        return await self._client._call(call)

    async def get(self) -> curriculum_pb2.Run:
        """See `Run.get`."""
        return await self._client._call(_calls.get_run(self.run_id))

    async def delete(self) -> None:
        """See `Run.delete`."""
        await self._client._call(_calls.delete_run(self.run_id))

    async def next_batch(
        self, cursor: int | None = None, count: int = 0, *, wait: timedelta | None = None, timeout: float = 600.0
    ) -> Batch:
        """See `Run.next_batch`."""
        return await self._client._call(_calls.next_batch(self.run_id, cursor, count, wait), timeout)

    async def batches(
        self, cursor: int | None = None, count: int = 0, *, timeout: float = 600.0
    ) -> AsyncIterator[Batch]:
        """See `Run.batches`."""
        if cursor is None:
            cursor = first_open_cursor(await self.get())
        while True:
            batch = await self.next_batch(cursor, count, timeout=timeout)
            if batch.tasks:
                yield batch
            if batch.done:
                return
            cursor = batch.next_cursor

    async def step_group(self, task: Task, texts: Iterable[str], first_index: int = 0) -> GroupOutcome:
        """See `Run.step_group`."""
        return (await self._client.batch_step(task.group(texts, first_index)))[0]

    async def report_advantages(self, groups: Iterable[GroupAdvantages]) -> dict[str, str]:
        """See `Run.report_advantages`."""
        return await self._client._call(_calls.report_advantages(self.run_id, groups))

    async def close_groups(self, groups: Iterable[Task | CompletionGroup | str], reason: str = "") -> dict[str, str]:
        """See `Run.close_groups`."""
        return await self._client._call(_calls.close_groups(self.run_id, group_ids(groups), reason))

    def groups(
        self, which: _calls.Which = "open", *, tasks: bool = False, wait: timedelta | None = None
    ) -> AsyncIterator[curriculum_pb2.RunGroup]:
        """See `Run.groups`."""
        return self._client._pages(lambda token: _calls.get_groups(self.run_id, which, tasks, wait, token))

    async def reopen_groups(self, groups: Iterable[Task | CompletionGroup | str]) -> dict[str, str]:
        """See `Run.reopen_groups`."""
        return await self._client._call(_calls.reopen_groups(self.run_id, group_ids(groups)))

    async def update_shape(self, **shape: Unpack[ShapeOptions]) -> int:
        """See `Run.update_shape`."""
        return await self._client._call(_calls.update_shape(self.run_id, shape))

    async def update_policy(self, policy: curriculum_pb2.Policy) -> int:
        """See `Run.update_policy`."""
        return await self._client._call(_calls.update_policy(self.run_id, policy))

    async def set_weights(self, weights: Mapping[str, float]) -> int:
        """See `Run.set_weights`."""
        return await self._client._call(_calls.set_weights(self.run_id, weights))

    async def advance(self) -> int:
        """See `Run.advance`."""
        return await self._client._call(_calls.advance(self.run_id))

    async def pause(self) -> int:
        """See `Run.pause`."""
        return await self._client._call(_calls.pause(self.run_id))

    async def resume(self) -> int:
        """See `Run.resume`."""
        return await self._client._call(_calls.resume(self.run_id))

    async def export(self) -> bytes:
        """See `Run.export`."""
        return await self._client._call(_calls.export_run(self.run_id))

    async def import_(self, state: bytes) -> tuple[curriculum_pb2.Run, list[Task]]:
        """See `Run.import_`."""
        return await self._client._call(_calls.import_run(self.run_id, state))

    def watch(self) -> AsyncIterator[curriculum_pb2.RunState]:
        """See `Run.watch`."""
        return self._client._watch(self.run_id)

    def history(self) -> AsyncIterator[curriculum_pb2.HistoryRecord]:
        """See `Run.history`."""
        return self._client._pages(lambda token: _calls.history(self.run_id, token))
