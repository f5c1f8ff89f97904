"""The client for asyncio: the methods of client.py, awaited."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

import grpc

from gradus import _curriculum_calls, _environment_calls, _evaluation_calls
from gradus._call import Call
from gradus._channels import Connection
from gradus._mistakes import explained_aio
from gradus._retries import Deadline, delay_before_retry
from gradus._spec import SpecOptions, task_spec
from gradus._stream import StepStream, groups_of
from gradus.aio._wire import TaskWire, cancel, feed, next_event
from gradus.aio.evaluation import AsyncEvaluation
from gradus.aio.run import AsyncRun
from gradus.types import CompletionGroup, GroupOutcome, Outcome, ResetResult, StreamResult, Task
from gradus.v1 import curriculum_pb2, environment_pb2, evaluation_pb2, task_pb2

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")


class AsyncClient(Connection[grpc.aio.Channel]):
    """`Client` for asyncio. It may be used from several event loops, one after the other or side by side."""

    async def __aenter__(self) -> AsyncClient:
        """Gives the client itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Closes it."""
        await self.close()

    async def close(self) -> None:
        """Closes the running loop's connection; a later call opens another."""
        channel = self._channels.take(asyncio.get_running_loop())
        if channel is not None:
            await channel.close()

    async def list_environments(self, category: str = "") -> list[environment_pb2.Environment]:
        """See `Client.list_environments`."""
        return [each async for each in self._pages(lambda token: _environment_calls.list_environments(category, token))]

    async def get_environment(self, id: str, version: int = 0) -> environment_pb2.Environment:
        """See `Client.get_environment`."""
        return await self._call(_environment_calls.get_environment(id, version))

    async def reset(self, environment: str, *, seed: int, **options: Unpack[SpecOptions]) -> Task:
        """See `Client.reset`."""
        return await self._call(_environment_calls.reset(task_spec(environment, **options), seed))

    async def batch_reset(self, spec: task_pb2.TaskSpec, seeds: Iterable[int]) -> list[ResetResult]:
        """See `Client.batch_reset`."""
        return await self._call(_environment_calls.batch_reset(spec, seeds))

    async def step(self, task: Task, completion: str, sample_index: int = 0) -> Outcome:
        """See `Client.step`."""
        return await self._call(_environment_calls.step(task, completion, sample_index))

    async def batch_step(
        self, groups: CompletionGroup | Iterable[CompletionGroup], *, timeout: float | None = None
    ) -> list[GroupOutcome]:
        """See `Client.batch_step`."""
        return await self._call(_environment_calls.batch_step(groups_of(groups)), timeout)

    async def stream_steps(
        self,
        groups: Iterable[CompletionGroup] | AsyncIterable[CompletionGroup],
        *,
        window: int = 64,
        timeout: float | None = None,
    ) -> AsyncIterator[StreamResult]:
        """See `Client.stream_steps`. `groups` is read in a task of its own, and may be asynchronous."""
        slots = asyncio.Semaphore(window)
        wire = TaskWire(self._channels.get(asyncio.get_running_loop()), self._address)
        stream = StepStream(wire, timeout or self._timeout)
        feeder = asyncio.ensure_future(feed(groups, slots, wire.inbox))
        try:
            while not stream.done:
                event = await next_event(wire.inbox, stream.wait(time.monotonic()))
                for result in stream.handle(event, time.monotonic()):
                    slots.release()
                    yield result
        finally:
            await cancel(feeder)
            await wire.close()

    def run(self, run_id: str) -> AsyncRun:
        """See `Client.run`."""
        return AsyncRun(self, run_id)

    async def list_runs(self) -> list[curriculum_pb2.Run]:
        """See `Client.list_runs`."""
        return [each async for each in self._pages(_curriculum_calls.list_runs)]

    def evaluation(self, evaluation_id: str) -> AsyncEvaluation:
        """See `Client.evaluation`."""
        return AsyncEvaluation(self, evaluation_id)

    async def list_suites(self) -> list[evaluation_pb2.Suite]:
        """See `Client.list_suites`."""
        return [each async for each in self._pages(_evaluation_calls.list_suites)]

    def _open(self) -> grpc.aio.Channel:
        return self._address.open_aio()

    async def _call(self, call: Call[T], timeout: float | None = None) -> T:
        deadline = Deadline(timeout or self._timeout)
        while True:
            method = self._channels.get(asyncio.get_running_loop()).unary_unary(
                call.method,
                request_serializer=type(call.request).SerializeToString,
                response_deserializer=call.response.FromString,
            )
            try:
                response = await method(call.request, timeout=deadline.left(), metadata=self._address.metadata)
            except grpc.RpcError as failure:
                error = await explained_aio(failure, self._address)
            else:
                self._address.reached.yes = True
                return call.read(response)
            delay = delay_before_retry(error, call.patient, deadline)
            if delay is None:
                raise error
            await asyncio.sleep(delay)

    async def _pages(self, page: Callable[[str], Call[tuple[list[T], str]]]) -> AsyncIterator[T]:
        token = ""
        while True:
            items, token = await self._call(page(token))
            for item in items:
                yield item
            if not token:
                return

    async def _watch(self, run_id: str) -> AsyncIterator[curriculum_pb2.RunState]:
        method = self._channels.get(asyncio.get_running_loop()).unary_stream(
            "/gradus.v1.CurriculumService/WatchRun",
            request_serializer=curriculum_pb2.WatchRunRequest.SerializeToString,
            response_deserializer=curriculum_pb2.WatchRunResponse.FromString,
        )
        call = method(curriculum_pb2.WatchRunRequest(run_id=run_id), metadata=self._address.metadata)
        try:
            async for response in call:
                self._address.reached.yes = True
                yield response.state
        except grpc.RpcError as failure:
            raise await explained_aio(failure, self._address) from None
        finally:
            call.cancel()
