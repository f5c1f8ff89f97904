"""Test the stream's logic with a fake clock and peer: replies that are late, doubled, or never come."""

from __future__ import annotations

import queue

import pytest

import gradus
from gradus._stream import Ended, Exhausted, Reply, StepStream, Together
from gradus.errors import error_of_item
from gradus.outcomes import StreamResult
from gradus.tasks import Completion, CompletionGroup
from gradus.v1 import environment_pb2 as env

UNAVAILABLE = 14
RESOURCE_EXHAUSTED = 8
INVALID_ARGUMENT = 3


class RecordedWire:
    """A wire that keeps (call, request_id) of each message sent."""

    def __init__(self) -> None:
        self.calls = 0
        self.sent: list[tuple[int, str]] = []
        self.fresh: list[int] = []

    def open(self, number: int, first: env.StreamStepsRequest, *, fresh: bool) -> None:
        self.calls = number
        if fresh:
            self.fresh.append(number)

    def send(self, message: env.StreamStepsRequest) -> None:
        self.sent.append((self.calls, message.request_id))


def group(name: str) -> CompletionGroup:
    return CompletionGroup("task", name, (Completion(0, "text"),))


def reply(request_id: str, call: int = 1) -> Reply:
    message = env.StreamStepsResponse(request_id=request_id)
    message.groups.add(group_id=f"from {request_id}")
    return Reply(call, message, at=0)


def refusal(request_id: str, code: int, retry_delay_ms: int) -> Reply:
    failure = env.StreamStepsFailure(code=code, message="no", retry_delay_ms=retry_delay_ms)
    return Reply(1, env.StreamStepsResponse(request_id=request_id, failure=failure), at=0)


@pytest.fixture
def wire() -> RecordedWire:
    return RecordedWire()


@pytest.fixture
def stream(wire: RecordedWire) -> StepStream:
    return StepStream(wire, timeout=10, spread=lambda delay: delay)


def names(results: list[StreamResult]) -> list[tuple[str, bool]]:
    return [(each.group.group_id, each.outcome is not None) for each in results]


def test_replies_are_matched_by_id_in_any_order(stream: StepStream, wire: RecordedWire) -> None:
    for name in ("a", "b", "c"):
        stream.add(group(name), now=0)
    assert wire.sent == [(1, "0"), (1, "1"), (1, "2")]
    found = [stream.handle(reply(request_id), now=1)[0] for request_id in ("2", "0", "1")]
    assert [(each.group.group_id, each.result().group_id) for each in found] == [
        ("c", "from 2"),
        ("a", "from 0"),
        ("b", "from 1"),
    ]
    assert not stream.done
    stream.handle(Exhausted(None), now=2)
    assert stream.done


def test_replies_that_come_together_are_taken_each_by_itself(stream: StepStream, wire: RecordedWire) -> None:
    for name in ("a", "b", "c"):
        stream.add(group(name), now=0)
    message = env.StreamStepsResponse(request_id="2", more_bytes=2**20)
    message.groups.add(group_id="from 2")
    message.more.add(request_id="0").groups.add(group_id="from 0")
    message.more.add(request_id="7").groups.add(group_id="of nobody")
    assert names(stream.handle(Reply(1, message, at=0), now=1)) == [("c", True), ("a", True)]
    assert names(stream.handle(reply("1"), now=1)) == [("b", True)]


def requests(*names: str, characters: int = 1) -> list[env.StreamStepsRequest]:
    made = [env.StreamStepsRequest(request_id=name) for name in names]
    for each in made:
        each.groups.add(task_id=each.request_id).completions.add(text="x" * characters)
    return made


def queue_of(*waiting: env.StreamStepsRequest | None) -> queue.SimpleQueue[env.StreamStepsRequest | None]:
    filled: queue.SimpleQueue[env.StreamStepsRequest | None] = queue.SimpleQueue()
    for each in waiting:
        filled.put(each)
    return filled


def ids(message: env.StreamStepsRequest) -> list[str]:
    return [message.request_id, *(each.request_id for each in message.more)]


def sent(together: Together, waiting: queue.SimpleQueue[env.StreamStepsRequest | None]) -> list[list[str]]:
    """Returns the requests of each message sent, up to the end of the stream."""
    messages = []
    while (first := together.left() or waiting.get_nowait()) is not None:
        messages.append(ids(together.message(first, waiting)))
    return messages


def test_requests_that_wait_go_out_together_once_the_server_said_that_it_reads_them() -> None:
    first, *others = requests("a", "b", "c", "d")
    together = Together()
    assert together.message(first, queue_of(*others)) is first, "an older server would not see those within"
    together.more_bytes = 2**20
    assert ids(together.message(first, queue_of(*others, None))) == ["a", "b", "c", "d"]
    assert not first.more, "it may have to go out again by itself"
    assert together.message(first, queue_of()) is first
    names = [str(number) for number in range(130)]
    assert [len(each) for each in sent(together, queue_of(*requests(*names), None))] == [64, 64, 2]


@pytest.mark.parametrize("bytes_max", [1, 200, 50_000, 2**20])
def test_messages_have_no_more_bytes_than_the_server_reads_and_none_is_lost(bytes_max: int) -> None:
    together = Together()
    together.more_bytes = bytes_max
    waiting = queue_of()
    made = [*requests(*"abcdefg", characters=20), *requests(*"hijk", characters=90_000), *requests(*"lmn")]
    for each in made:
        waiting.put(each)
    waiting.put(None)
    messages = []
    while (first := together.left() or waiting.get_nowait()) is not None:
        messages.append(together.message(first, waiting))
    assert [name for each in messages for name in ids(each)] == [*"abcdefghijklmn"]
    for each in messages:
        assert not each.more or each.ByteSize() <= min(bytes_max, 256 * 1024)
    assert (len(messages) == len(made)) == (bytes_max == 1)


def test_a_late_reply_is_an_error_once_and_then_nothing(stream: StepStream) -> None:
    stream.add(group("slow"), now=0)
    stream.add(group("quick"), now=5)
    assert stream.wait(5) == 5
    (late,) = stream.handle(None, now=10)
    assert isinstance(late.error, gradus.DeadlineExceededError)
    assert stream.handle(reply("0"), now=11) == []
    assert names(stream.handle(reply("1"), now=11)) == [("quick", True)]


def test_a_doubled_reply_counts_once(stream: StepStream) -> None:
    stream.add(group("a"), now=0)
    assert len(stream.handle(reply("0"), now=1)) == 1
    assert stream.handle(reply("0"), now=1) == []


def test_a_broken_stream_is_opened_again_and_the_unanswered_are_sent_again(
    stream: StepStream, wire: RecordedWire
) -> None:
    for name in ("a", "b", "c"):
        stream.add(group(name), now=0)
    stream.handle(reply("1"), now=1)
    stream.handle(Ended(1, error_of_item(UNAVAILABLE, "draining", 1000)), now=1)
    stream.add(group("d"), now=1.5)
    assert (wire.calls, stream.wait(1.5)) == (1, 0.5)
    stream.handle(None, now=2)
    assert wire.sent[3:] == [(2, "0"), (2, "2"), (2, "3")]
    assert names(stream.handle(reply("2", call=2), now=3)) == [("c", True)]
    # The stream ignores the end of the first call, because the second call has replaced it.
    stream.handle(Ended(1, None), now=3)
    assert wire.calls == 2


def test_an_end_without_an_error_is_a_break_too(stream: StepStream, wire: RecordedWire) -> None:
    stream.add(group("a"), now=0)
    stream.handle(Ended(1, None), now=0)
    stream.handle(None, now=1)
    assert wire.sent == [(1, "0"), (2, "0")]


def test_a_server_that_stays_away_is_given_up(stream: StepStream, wire: RecordedWire) -> None:
    def break_again(now: float) -> None:
        stream.handle(Ended(wire.calls, error_of_item(UNAVAILABLE, "gone", 0)), now)

    stream.add(group("a"), now=0)
    now = 0.0
    with pytest.raises(gradus.UnavailableError, match="gone"):
        for _ in range(100):
            break_again(now)
            now += stream.wait(now) or 0
            stream.handle(None, now)
    assert wire.calls < 10


def test_a_final_error_of_the_stream_is_raised(stream: StepStream) -> None:
    stream.add(group("a"), now=0)
    with pytest.raises(gradus.InvalidArgumentError):
        stream.handle(Ended(1, error_of_item(INVALID_ARGUMENT, "no", 0)), now=0)


def test_a_refusal_with_a_delay_is_sent_again_after_it(stream: StepStream, wire: RecordedWire) -> None:
    stream.add(group("a"), now=0)
    assert stream.handle(refusal("0", RESOURCE_EXHAUSTED, 2000), now=1) == []
    assert stream.wait(1) == 2
    assert stream.handle(None, now=2) == []
    assert len(wire.sent) == 1
    stream.handle(None, now=3)
    assert wire.sent == [(1, "0"), (1, "0")]


def test_what_broke_while_the_caller_was_away_has_its_time_when_it_is_back(
    stream: StepStream, wire: RecordedWire
) -> None:
    for name in ("a", "b", "c"):
        stream.add(group(name), now=0)
    stream.wait(now=0)
    # "a" is scored, and its caller makes an update of a minute; "b" is refused and then the server starts again.
    assert names(stream.handle(reply("0"), now=1)) == [("a", True)]
    stream.wait(now=61)
    assert stream.handle(refusal("1", RESOURCE_EXHAUSTED, 100), now=2) == []
    stream.wait(now=61)
    assert stream.handle(Ended(1, error_of_item(UNAVAILABLE, "gone", 0)), now=61) == []
    assert stream.wait(now=61) > 0
    assert stream.handle(None, now=62) == []
    assert wire.sent[3:] == [(2, "1"), (2, "2")]
    assert names(stream.handle(reply("2", call=2), now=63)) == [("c", True)]
    stream.wait(now=63)
    assert names(stream.handle(None, now=71)) == [("b", False)]


def test_a_refusal_whose_delay_is_past_the_deadline_is_final(stream: StepStream) -> None:
    stream.add(group("a"), now=0)
    (result,) = stream.handle(refusal("0", RESOURCE_EXHAUSTED, 20_000), now=1)
    assert isinstance(result.error, gradus.ResourceExhaustedError)
    assert result.error.retry_delay == 20


def test_a_full_server_is_waited_for_as_long_as_the_groups_have_time(stream: StepStream, wire: RecordedWire) -> None:
    stream.add(group("a"), now=0)
    full = error_of_item(RESOURCE_EXHAUSTED, "full", 1000)
    for second in range(9):
        assert stream.handle(Ended(second + 1, full), now=second) == []
        # Groups added meanwhile wait too.
        stream.add(group(f"b{second}"), now=second + 0.5)
        assert wire.calls == second + 1
        stream.handle(None, now=second + 1)
        assert wire.calls == second + 2
    assert [name for name, scored in names(stream.handle(None, now=10)) if not scored] == ["a"]


def test_retries_that_are_given_bound_how_often_a_full_server_is_asked(wire: RecordedWire) -> None:
    stream = StepStream(wire, timeout=10, retries=1, spread=lambda delay: delay)
    stream.add(group("a"), now=0)
    full = error_of_item(RESOURCE_EXHAUSTED, "full", 1000)
    stream.handle(Ended(1, full), now=0)
    stream.handle(None, now=1)
    with pytest.raises(gradus.ResourceExhaustedError):
        stream.handle(Ended(2, full), now=1)


def test_a_silence_as_long_as_a_groups_time_brings_a_fresh_call(stream: StepStream, wire: RecordedWire) -> None:
    stream.add(group("a"), now=0)
    stream.add(group("b"), now=4)
    (late,) = stream.handle(None, now=10)
    assert isinstance(late.error, gradus.DeadlineExceededError)
    assert (wire.calls, wire.fresh) == (2, [2])
    assert wire.sent == [(1, "0"), (1, "1"), (2, "1")]
    # A reply came meanwhile, so the slow call is kept.
    stream.add(group("c"), now=11)
    stream.handle(reply("1", call=2), now=12)
    stream.handle(None, now=21)
    assert wire.calls == 2


def test_an_event_costs_the_same_however_many_groups_are_out(stream: StepStream, wire: RecordedWire) -> None:
    """Deadlines are looked at until one is not over, and no more."""
    looked = 0

    class Deadline(float):
        def __gt__(self, other: float) -> bool:
            nonlocal looked
            looked += 1
            return float(self) > other

        def __lt__(self, other: float) -> bool:
            nonlocal looked
            looked += 1
            return float(self) < other

    for number in range(500):
        stream.add(group(str(number)), now=0)
    for each in stream._pending.values():
        each.deadline = Deadline(10)
    for number in range(400):
        assert len(stream.handle(reply(str(499 - number)), now=1)) == 1
        assert stream.wait(1) == 9
    assert looked == 400
