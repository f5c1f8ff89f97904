"""Test the stream's threads with a scripted peer, which refuses and ends calls while the caller's groups wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc

from gradus import Client, Completion, CompletionGroup
from gradus._stream import Exhausted, StepStream
from gradus._wire import ThreadWire
from gradus.v1 import environment_pb2 as env

Replies = Callable[[Iterator[env.StreamStepsRequest]], Iterator[env.StreamStepsResponse]]

FULL = 8
"""RESOURCE_EXHAUSTED."""


@contextmanager
def peer(replies: Replies) -> Iterator[Client]:
    """Yields a client of a server that answers each stream of steps by a function."""
    server = grpc.server(ThreadPoolExecutor(4))
    handler = grpc.stream_stream_rpc_method_handler(
        lambda requests, _: replies(requests),
        request_deserializer=env.StreamStepsRequest.FromString,
        response_serializer=env.StreamStepsResponse.SerializeToString,
    )
    service = grpc.method_handlers_generic_handler("gradus.v1.EnvironmentService", {"StreamSteps": handler})
    server.add_generic_rpc_handlers((service,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with Client(f"localhost:{port}") as client:
        yield client
    server.stop(None)


def scored(request: env.StreamStepsRequest) -> env.StreamStepsResponse:
    response = env.StreamStepsResponse(request_id=request.request_id)
    for group in request.groups:
        outcome = response.groups.add(group_id=group.group_id).outcomes.add()
        outcome.score.reward = 1
    return response


def refused(request: env.StreamStepsRequest) -> env.StreamStepsResponse:
    response = env.StreamStepsResponse(request_id=request.request_id)
    response.failure.code = FULL
    response.failure.retry_delay_ms = 20
    return response


def group(name: str) -> CompletionGroup:
    return CompletionGroup("task", name, (Completion(0, "text"),))


class Waiting:
    """Groups of a caller who writes the second and third only when the first has its result."""

    def __init__(self) -> None:
        self.first_came = threading.Event()

    def groups(self) -> Iterator[CompletionGroup]:
        yield group("first")
        assert self.first_came.wait(60)
        yield group("second")
        yield group("third")

    def results(self, client: Client) -> list[str]:
        names = []
        for result in client.stream_steps(self.groups(), window=3, timeout=30):
            names.append(result.result().group_id)
            self.first_came.set()
        return names


def test_a_refused_group_goes_out_again_though_the_caller_has_no_other_yet() -> None:
    streams, seen = [0], set[str]()

    def replies(requests: Iterator[env.StreamStepsRequest]) -> Iterator[env.StreamStepsResponse]:
        streams[0] += 1
        for request in requests:
            again = request.request_id in seen
            seen.add(request.request_id)
            # The third is refused as well, when the caller has no more.
            yield scored(request) if again or request.groups[0].group_id == "second" else refused(request)

    with peer(replies) as client:
        assert sorted(Waiting().results(client)) == ["first", "second", "third"]
    assert streams[0] == 1


def test_a_stream_that_ends_while_nothing_is_out_is_opened_for_the_next_group() -> None:
    streams = [0]

    def replies(requests: Iterator[env.StreamStepsRequest]) -> Iterator[env.StreamStepsResponse]:
        streams[0] += 1
        if streams[0] == 1:
            yield scored(next(requests))
        else:
            yield from map(scored, requests)

    with peer(replies) as client:
        assert sorted(Waiting().results(client)) == ["first", "second", "third"]
    assert streams[0] == 2


def test_groups_are_read_by_one_thread_at_a_time_through_breaks() -> None:
    """A generator that two threads read raises ValueError."""
    names = [f"group {i}" for i in range(300)]

    def replies(requests: Iterator[env.StreamStepsRequest]) -> Iterator[env.StreamStepsResponse]:
        for _ in range(40):
            yield scored(next(requests))

    with peer(replies) as client:
        results = list(client.stream_steps(map(group, names), window=16, retries=100))
    assert sorted(each.result().group_id for each in results) == sorted(names)


def together(requests: list[env.StreamStepsRequest]) -> env.StreamStepsResponse:
    message, *others = map(scored, requests)
    message.more.extend(others)
    message.more_bytes = 2**20
    return message


def test_groups_that_wait_go_out_together_and_again_by_themselves() -> None:
    """The first stream ends with a whole message unanswered: each group of it goes out again, and has one result."""
    window, most, streams = 32, [0], [0]

    def replies(requests: Iterator[env.StreamStepsRequest]) -> Iterator[env.StreamStepsResponse]:
        streams[0] += 1
        waiting: list[env.StreamStepsRequest] = []
        answered = 0
        for request in requests:
            each = [request, *request.more]
            most[0] = max(most[0], len(each))
            if streams[0] == 1 and len(each) > 1:
                return
            waiting += each
            # All places become free at once, so that requests wait for each other.
            if len(waiting) >= min(window, 3200 - answered):
                answered += len(waiting)
                yield together(waiting)
                waiting = []

    names = [f"group {number}" for number in range(3200)]
    with peer(replies) as client:
        results = list(client.stream_steps(map(group, names), window=window, timeout=30))
    assert sorted(each.result().group_id for each in results) == sorted(names)
    assert most[0] > 1
    assert streams[0] == 2


def test_an_end_while_requests_wait_together_ends_the_stream() -> None:
    def replies(requests: Iterator[env.StreamStepsRequest]) -> Iterator[env.StreamStepsResponse]:
        for request in requests:
            yield together([request, *request.more])

    with peer(replies) as client:
        for number in range(20):
            results = list(client.stream_steps(map(group, map(str, range(number))), window=number + 1, timeout=30))
            assert len(results) == number


def test_a_group_that_comes_after_its_stream_was_left_goes_nowhere() -> None:
    """After Ctrl-C while the caller's generator writes the first, nobody would read its result or end the call."""
    left = threading.Event()

    def groups() -> Iterator[CompletionGroup]:
        assert left.wait(60)
        yield group("late")

    with peer(lambda requests: map(scored, requests)) as client:
        io = client._core.io
        with ThreadWire(io.channels, io.address, groups(), 4) as wire:
            stream = StepStream(wire, 60, lock=wire.lock)
            wire.feed(lambda each: stream.add(each, time.monotonic()))
        left.set()
        while wire.next_event(60) != Exhausted(None):
            pass
        assert wire._reader is None
