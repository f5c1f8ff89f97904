"""The client for asyncio: the classes and methods of `gradus`, awaited. Both run the same core."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gradus._arguments import CallOptions, channel_options, check_options, suggesting
from gradus._call_maker import Settings
from gradus._client_core import ClientCore
from gradus._credentials import Tls
from gradus._evaluation_core import EvaluationCore
from gradus._feedback import OnFeedback
from gradus._handles import ClientHandle, EvaluationHandle, RunHandle
from gradus._op import arun, arun_each, awaiting, awaiting_each
from gradus._rollout_core import group_size, starts_of
from gradus._run_groups import WholeRunCore
from gradus._stream import check_stream
from gradus.aio._io import AsyncIo
from gradus.aio._wire import TaskWire
from gradus.outcomes import StreamResult
from gradus.rollouts import EpisodePosition, Generated, PlayedEpisode
from gradus.tasks import CompletionGroup, Task

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

__all__ = ["Client", "Evaluation", "Run"]


class Run(RunHandle):
    """`gradus.Run` for asyncio, returned by `Client.run`."""

    create = awaiting(WholeRunCore.create)
    get = awaiting(WholeRunCore.get)
    delete = awaiting(WholeRunCore.delete)
    next_batch = awaiting(WholeRunCore.next_batch)
    batches = awaiting_each(WholeRunCore.batches)
    next_evaluation = awaiting(WholeRunCore.next_evaluation)
    step_group = awaiting(WholeRunCore.step_group)
    report_advantages = awaiting(WholeRunCore.report_advantages)
    close_groups = awaiting(WholeRunCore.close_groups)
    reopen_groups = awaiting(WholeRunCore.reopen_groups)
    groups = awaiting_each(WholeRunCore.groups)
    rows = awaiting_each(WholeRunCore.rows)
    rate_rows = awaiting(WholeRunCore.rate_rows)
    update_shape = awaiting(WholeRunCore.update_shape)
    update_policy = awaiting(WholeRunCore.update_policy)
    set_weights = awaiting(WholeRunCore.set_weights)
    annotate = awaiting(WholeRunCore.annotate)
    advance = awaiting(WholeRunCore.advance)
    pause = awaiting(WholeRunCore.pause)
    resume = awaiting(WholeRunCore.resume)
    export_state = awaiting(WholeRunCore.export_state)
    import_state = awaiting(WholeRunCore.import_state)
    watch = awaiting_each(WholeRunCore.watch)
    history = awaiting_each(WholeRunCore.history)
    samples = awaiting_each(WholeRunCore.samples)
    delete_samples = awaiting(WholeRunCore.delete_samples)
    violations = awaiting(WholeRunCore.violations)


class Evaluation(EvaluationHandle):
    """`gradus.Evaluation` for asyncio, returned by `Client.evaluation`."""

    create = awaiting(EvaluationCore.create)
    get = awaiting(EvaluationCore.get)
    pending = awaiting_each(EvaluationCore.pending)
    submit = awaiting(EvaluationCore.submit)
    samples = awaiting_each(EvaluationCore.samples)
    report = awaiting(EvaluationCore.report)
    delete = awaiting(EvaluationCore.delete)

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """See `gradus.Evaluation.hold`; for an `async with` block."""
        async with aclosing(arun_each(self._core.held())) as held:
            await anext(held)
            yield


class Client(ClientHandle):
    """`gradus.Client` for asyncio, with the same parameters.

    Several event loops may use one client, in succession or concurrently: each has its own connection.
    """

    get_server_info = awaiting(ClientCore.get_server_info)
    list_environments = awaiting(ClientCore.list_environments)
    get_environment = awaiting(ClientCore.get_environment)
    reset = awaiting(ClientCore.reset)
    batch_reset = awaiting(ClientCore.batch_reset)
    step = awaiting(ClientCore.step)
    batch_step = awaiting(ClientCore.batch_step)
    list_runs = awaiting(ClientCore.list_runs)
    list_suites = awaiting(ClientCore.list_suites)
    list_evaluations = awaiting(ClientCore.list_evaluations)
    try_answer = awaiting(ClientCore.try_answer)
    draw_task = awaiting(ClientCore.draw_task)
    solve_task = awaiting(ClientCore.solve_task)
    check_run = awaiting(ClientCore.check_run)
    simulate_run = awaiting(ClientCore.simulate_run)

    @suggesting
    def __init__(
        self,
        target: str,
        *,
        tls: Tls | None = None,
        token: str | None = None,
        timeout: float = 60.0,
        retries: int | None = None,
        on_feedback: OnFeedback = "warn",
        options: Iterable[tuple[str, Any]] = (),
    ) -> None:
        settings = Settings(target, tls, token, timeout, retries, on_feedback, channel_options(options))
        super().__init__(ClientCore(AsyncIo, settings))

    async def __aenter__(self) -> Self:
        """Returns the client itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Closes the connection."""
        await self.close()

    async def close(self) -> None:
        """Closes the running loop's connection. A later call opens another."""
        channel = self._core.io.channels.take(asyncio.get_running_loop())
        if channel is not None:
            await channel.close()

    @suggesting
    async def rollout(
        self,
        task: Task,
        generate: Callable[[EpisodePosition], Awaitable[Generated]],
        samples: Iterable[int] = (0,),
        **options: Unpack[CallOptions],
    ) -> list[PlayedEpisode]:
        """See `gradus.Client.rollout`. Each episode is played on its own, so no sample waits for another.

        `generate` gets one position, and returns an awaitable of the policy's next completion.
        """

        async def written(positions: list[EpisodePosition]) -> list[Generated]:
            return [await generate(positions[0])]

        starts = starts_of(task, samples)
        size = group_size(starts)
        playing = [asyncio.ensure_future(arun(self._core.play([each], written, size, options))) for each in starts]
        try:
            return [episode for (episode,) in await asyncio.gather(*playing)]
        finally:
            for each in playing:
                each.cancel()
            await asyncio.gather(*playing, return_exceptions=True)

    def stream_steps(
        self,
        groups: Iterable[CompletionGroup] | AsyncIterable[CompletionGroup],
        *,
        window: int = 64,
        **options: Unpack[CallOptions],
    ) -> AsyncIterator[StreamResult]:
        """See `gradus.Client.stream_steps`. `groups` is read in a task of its own, and may be asynchronous."""
        check_options("stream_steps", options, frozenset(CallOptions.__annotations__))
        check_stream(groups, window, asynchronous=True)
        self._core.limits(options)
        return self._stream(groups, window, options)

    async def _stream(
        self, groups: Iterable[CompletionGroup] | AsyncIterable[CompletionGroup], window: int, options: CallOptions
    ) -> AsyncIterator[StreamResult]:
        io: AsyncIo = self._core.io
        async with TaskWire(io.channels, io.address, groups, window) as wire:
            async for result in arun_each(self._core.stream_steps(wire, options)):
                yield result

    def run(self, run_id: str) -> Run:
        """Returns a handle of a run, whether or not the run exists yet. Makes no call."""
        return Run(WholeRunCore(self._core, run_id))

    def evaluation(self, evaluation_id: str) -> Evaluation:
        """Returns a handle of an evaluation, whether or not it exists yet. Makes no call."""
        return Evaluation(EvaluationCore(self._core, evaluation_id))
