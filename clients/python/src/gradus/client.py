"""The blocking client; `gradus.aio` has the same for asyncio."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gradus._arguments import CallOptions, channel_options, check_options, suggesting
from gradus._call_maker import Settings
from gradus._client_core import ClientCore
from gradus._credentials import Tls
from gradus._evaluation_core import EvaluationCore
from gradus._feedback import OnFeedback
from gradus._handles import ClientHandle, EvaluationHandle, RunHandle
from gradus._io import BlockingIo
from gradus._op import blocking, blocking_each, run_each
from gradus._run_groups import WholeRunCore
from gradus._stream import check_stream
from gradus._wire import ThreadWire
from gradus.outcomes import StreamResult
from gradus.tasks import CompletionGroup

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class Run(RunHandle):
    """A handle of a run, by its id, returned by `Client.run`. curriculum.proto explains each call in full.

    Each handle is a reader of its run, and keeps the position of its next batch, also when it is pickled.
    """

    create = blocking(WholeRunCore.create)
    get = blocking(WholeRunCore.get)
    delete = blocking(WholeRunCore.delete)
    next_batch = blocking(WholeRunCore.next_batch)
    batches = blocking_each(WholeRunCore.batches)
    next_evaluation = blocking(WholeRunCore.next_evaluation)
    step_group = blocking(WholeRunCore.step_group)
    report_advantages = blocking(WholeRunCore.report_advantages)
    close_groups = blocking(WholeRunCore.close_groups)
    reopen_groups = blocking(WholeRunCore.reopen_groups)
    groups = blocking_each(WholeRunCore.groups)
    rows = blocking_each(WholeRunCore.rows)
    rate_rows = blocking(WholeRunCore.rate_rows)
    update_shape = blocking(WholeRunCore.update_shape)
    update_policy = blocking(WholeRunCore.update_policy)
    set_weights = blocking(WholeRunCore.set_weights)
    annotate = blocking(WholeRunCore.annotate)
    advance = blocking(WholeRunCore.advance)
    pause = blocking(WholeRunCore.pause)
    resume = blocking(WholeRunCore.resume)
    export_state = blocking(WholeRunCore.export_state)
    import_state = blocking(WholeRunCore.import_state)
    watch = blocking_each(WholeRunCore.watch)
    history = blocking_each(WholeRunCore.history)
    samples = blocking_each(WholeRunCore.samples)
    delete_samples = blocking(WholeRunCore.delete_samples)
    violations = blocking(WholeRunCore.violations)


class Evaluation(EvaluationHandle):
    """A handle of an evaluation, a model's completions of a suite, by its id; returned by `Client.evaluation`.

    Every call can be repeated: the first completion of each sample counts.
    """

    create = blocking(EvaluationCore.create)
    get = blocking(EvaluationCore.get)
    pending = blocking_each(EvaluationCore.pending)
    submit = blocking(EvaluationCore.submit)
    samples = blocking_each(EvaluationCore.samples)
    report = blocking(EvaluationCore.report)
    delete = blocking(EvaluationCore.delete)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Locks the evaluation for a `with` block, so that no other program that locks it completes the same samples.

        Programs that do not ask for the lock can still submit completions.

        Raises
        ------
        FailedPreconditionError
            If another program holds the lock.

        """
        with closing(run_each(self._core.held())) as held:
            next(held)
            yield


class Client(ClientHandle):
    """A connection to a server, opened at its first use in each process.

    Threads and forked processes may share it. It can be pickled; the token is then in the pickle.

    Parameters
    ----------
    target
        The server's gRPC port, e.g. "localhost:50051".
    tls
        Files for TLS; None: no TLS.
    token
        The server's bearer token, if it requires one.
    timeout
        Maximum seconds for a call with its retries, unless the call sets its own.
    retries
        Maximum number of retries of a failed call, unless the call sets its own. None: as many as its timeout allows,
        but four if no server has ever answered. Calls that have another effect when made twice (`Run.advance`,
        `delete`, `import_state`, `update_shape`) are retried only if the server says that it did nothing.
    on_feedback
        Action after a score that its run did not record: "warn" (once for each run and reason), "raise" (a
        `FeedbackError`) or "ignore". `feedback_counts` counts it in any case.
    options
        Channel arguments for gRPC, in addition to the client's own.

    Raises
    ------
    ValueError
        If the target is not a host and port.

    """

    get_server_info = blocking(ClientCore.get_server_info)
    list_environments = blocking(ClientCore.list_environments)
    get_environment = blocking(ClientCore.get_environment)
    reset = blocking(ClientCore.reset)
    batch_reset = blocking(ClientCore.batch_reset)
    step = blocking(ClientCore.step)
    batch_step = blocking(ClientCore.batch_step)
    rollout = blocking(ClientCore.rollout)
    list_runs = blocking(ClientCore.list_runs)
    list_suites = blocking(ClientCore.list_suites)
    list_evaluations = blocking(ClientCore.list_evaluations)
    try_answer = blocking(ClientCore.try_answer)
    draw_task = blocking(ClientCore.draw_task)
    solve_task = blocking(ClientCore.solve_task)
    check_run = blocking(ClientCore.check_run)
    simulate_run = blocking(ClientCore.simulate_run)

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
        super().__init__(ClientCore(BlockingIo, settings))

    def __enter__(self) -> Self:
        """Returns the client itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Closes the connection."""
        self.close()

    def close(self) -> None:
        """Closes this process's connection. A later call opens another."""
        channel = self._core.io.channels.take()
        if channel is not None:
            channel.close()

    def stream_steps(
        self, groups: Iterable[CompletionGroup], *, window: int = 64, **options: Unpack[CallOptions]
    ) -> Iterator[StreamResult]:
        """Scores groups as they come, and yields each result as soon as it arrives, in any order.

        Parameters
        ----------
        groups
            Read in a thread of its own, at most `window` groups ahead of their results.
        window
            Maximum number of groups that wait for their outcomes at a time.
        **options
            `timeout`: seconds after which a group without a result gets an error as its result. `retries`: number of
            times that the stream may break without a result in between. Groups without a result are then sent again,
            which has no other effect.

        Yields
        ------
        StreamResult
            Outcome of each group.

        Raises
        ------
        GradusError
            If the server cannot be reached, or refuses the stream. An error of one group is that group's result.

        """
        check_options("stream_steps", options, frozenset(CallOptions.__annotations__))
        check_stream(groups, window, asynchronous=False)
        self._core.limits(options)
        return self._stream(groups, window, options)

    def _stream(self, groups: Iterable[CompletionGroup], window: int, options: CallOptions) -> Iterator[StreamResult]:
        io: BlockingIo = self._core.io
        with ThreadWire(io.channels, io.address, groups, window) as wire:
            yield from run_each(self._core.stream_steps(wire, options))

    def run(self, run_id: str) -> Run:
        """Returns a handle of a run, whether or not the run exists yet. Makes no call."""
        return Run(WholeRunCore(self._core, run_id))

    def evaluation(self, evaluation_id: str) -> Evaluation:
        """Returns a handle of an evaluation, whether or not it exists yet. Makes no call."""
        return Evaluation(EvaluationCore(self._core, evaluation_id))
