"""The client for code that waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

import grpc

from gradus import _curriculum_calls, _environment_calls, _evaluation_calls
from gradus._call import Call
from gradus._channels import Connection
from gradus._mistakes import explained
from gradus._retries import Deadline, delay_before_retry
from gradus._spec import SpecOptions, task_spec
from gradus._stream import StepStream, groups_of
from gradus._wire import ThreadWire, feed, next_event
from gradus.evaluation import Evaluation
from gradus.run import Run
from gradus.types import CompletionGroup, GroupOutcome, Outcome, ResetResult, StreamResult, Task
from gradus.v1 import curriculum_pb2, environment_pb2, evaluation_pb2, task_pb2

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")


class Client(Connection[grpc.Channel]):
    """A connection to a server, e.g. `Client("localhost:50051")`; made when it is first used.

    It may be shared by threads, and carried into forked processes. `timeout` is how long a call may take in all,
    seconds, where the call is not given its own. `options` are gRPC's channel arguments, in addition to the client's.
    All failures are raised as `GradusError`.
    """

    def __enter__(self) -> Client:
        """Gives the client itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Closes it."""
        self.close()

    def close(self) -> None:
        """Closes the connection; a later call opens another."""
        channel = self._channels.take()
        if channel is not None:
            channel.close()

    def list_environments(self, category: str = "") -> list[environment_pb2.Environment]:
        """All environments of the server, or those of a category, by id."""
        return list(self._pages(lambda token: _environment_calls.list_environments(category, token)))

    def get_environment(self, id: str, version: int = 0) -> environment_pb2.Environment:
        """One environment; version 0 is the newest."""
        return self._call(_environment_calls.get_environment(id, version))

    def reset(self, environment: str, *, seed: int, **options: Unpack[SpecOptions]) -> Task:
        """Makes one task, the same for the same arguments."""
        return self._call(_environment_calls.reset(task_spec(environment, **options), seed))

    def batch_reset(self, spec: task_pb2.TaskSpec, seeds: Iterable[int]) -> list[ResetResult]:
        """Makes a task of the family (see `task_spec`) for each seed, in order. One failure never harms the others."""
        return self._call(_environment_calls.batch_reset(spec, seeds))

    def step(self, task: Task, completion: str, sample_index: int = 0) -> Outcome:
        """Scores one completion."""
        return self._call(_environment_calls.step(task, completion, sample_index))

    def batch_step(
        self, groups: CompletionGroup | Iterable[CompletionGroup], *, timeout: float | None = None
    ) -> list[GroupOutcome]:
        """Scores groups of completions (see `Task.group`); one outcome for each, in order."""
        return self._call(_environment_calls.batch_step(groups_of(groups)), timeout)

    def stream_steps(
        self, groups: Iterable[CompletionGroup], *, window: int = 64, timeout: float | None = None
    ) -> Iterator[StreamResult]:
        """Scores groups as they come, and gives each one's result as soon as it is there, in any order.

        `groups` is read in a thread of its own, at most `window` groups ahead of their results. A group without a
        result `timeout` seconds after it was sent gets an error as its result. A broken stream is opened again, and
        groups without a result are sent again; what cannot be reached at all raises.
        """
        stop = threading.Event()
        slots = threading.Semaphore(window)
        wire = ThreadWire(self._channels.get(), self._address)
        stream = StepStream(wire, timeout or self._timeout)
        feeder = threading.Thread(target=feed, args=(groups, slots, stop, wire.inbox), daemon=True)
        feeder.start()
        try:
            while not stream.done:
                event = next_event(wire.inbox, stream.wait(time.monotonic()))
                for result in stream.handle(event, time.monotonic()):
                    slots.release()
                    yield result
        finally:
            stop.set()
            slots.release()
            wire.close(stream.done)

    def run(self, run_id: str) -> Run:
        """A handle on a run, whether or not it exists yet. Calls nothing."""
        return Run(self, run_id)

    def list_runs(self) -> list[curriculum_pb2.Run]:
        """All runs of the server, by id."""
        return list(self._pages(_curriculum_calls.list_runs))

    def evaluation(self, evaluation_id: str) -> Evaluation:
        """A handle on an evaluation, whether or not it exists yet. Calls nothing."""
        return Evaluation(self, evaluation_id)

    def list_suites(self) -> list[evaluation_pb2.Suite]:
        """All suites that the server can issue, by id."""
        return list(self._pages(_evaluation_calls.list_suites))

    def _open(self) -> grpc.Channel:
        return self._address.open()

    def _call(self, call: Call[T], timeout: float | None = None) -> T:
        deadline = Deadline(timeout or self._timeout)
        while True:
            method = self._channels.get().unary_unary(
                call.method,
                request_serializer=type(call.request).SerializeToString,
                response_deserializer=call.response.FromString,
            )
            try:
                response = method(call.request, timeout=deadline.left(), metadata=self._address.metadata)
            except grpc.RpcError as failure:
                error = explained(failure, self._address)
            else:
                self._address.reached.yes = True
                return call.read(response)
            delay = delay_before_retry(error, call.patient, deadline)
            if delay is None:
                raise error
            time.sleep(delay)

    def _pages(self, page: Callable[[str], Call[tuple[list[T], str]]]) -> Iterator[T]:
        token = ""
        while True:
            items, token = self._call(page(token))
            yield from items
            if not token:
                return

    def _watch(self, run_id: str) -> Iterator[curriculum_pb2.RunState]:
        method = self._channels.get().unary_stream(
            "/gradus.v1.CurriculumService/WatchRun",
            request_serializer=curriculum_pb2.WatchRunRequest.SerializeToString,
            response_deserializer=curriculum_pb2.WatchRunResponse.FromString,
        )
        call = method(curriculum_pb2.WatchRunRequest(run_id=run_id), metadata=self._address.metadata)
        try:
            for response in call:
                self._address.reached.yes = True
                yield response.state
        except grpc.RpcError as failure:
            raise explained(failure, self._address) from None
        finally:
            call.cancel()
