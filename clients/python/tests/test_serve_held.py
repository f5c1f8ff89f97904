"""Test how a worker holds the results of a call's answers, and how it reports them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import pytest

from gradus.serve._facts import Facts
from gradus.serve._held import BYTES_MAX, Held, Teller
from gradus.serve._served import facts_message
from gradus.v1 import outcome_pb2
from gradus.v1 import provider_pb2 as pb

Found = pb.ProvidedFacts | pb.ProviderFailure

WRONG = facts_message(False, {})
RIGHT = facts_message(True, {})
RAISED = pb.ProviderFailure(kind=pb.PROVIDER_FAILURE_KIND_RAISED, detail="no such answer")


@pytest.fixture
def held() -> Iterator[Held]:
    made = Held()
    yield made
    made.close()


def told_by(frames: Sequence[pb.ProviderFrame]) -> dict[int, Found]:
    """Return the result of each answer, by its index in the call."""
    told: dict[int, Found] = {}
    for frame in frames:
        assert frame.call == 7
        if frame.WhichOneof("content") == "verified":
            told[frame.verified.index] = found_in(frame.verified)
            continue
        together = frame.verified_together
        for offset, place in enumerate(together.places):
            told[together.index + offset] = found_in(together.results[place])
    return told


def found_in(response: pb.VerifyResponse) -> Found:
    return response.facts if response.WhichOneof("result") == "facts" else response.failure


def large(number: int) -> pb.ProvidedFacts:
    return facts_message(Facts("infeasible", info={str(i): f"{number} " * 300 for i in range(16)}), {})


@pytest.mark.parametrize("hold_seconds", [0, 60])
@pytest.mark.parametrize(
    "found",
    [
        [WRONG, RIGHT, WRONG, RAISED, RAISED, RIGHT],
        [facts_message(Facts.infeasible(str(number)), {}) for number in range(200)],
        # More results than there is room for, of which small ones before and after still have room.
        [WRONG, *(large(number) for number in range(BYTES_MAX // 10_000)), RIGHT, RAISED],
        [],
    ],
)
def test_each_answer_is_told_of_once_and_in_order(held: Held, found: Sequence[Found], hold_seconds: float) -> None:
    frames: list[pb.ProviderFrame] = []
    teller = Teller(frames.append, held, 7, hold_seconds)
    for index, each in enumerate(found):
        teller.tell(index, each)
    teller.end()
    told = told_by(frames)
    assert list(told) == list(range(len(found)))
    assert list(told.values()) == list(found)
    assert held.read() is None


def test_equal_verdicts_are_sent_once(held: Held) -> None:
    frames: list[pb.ProviderFrame] = []
    teller = Teller(frames.append, held, 7, 60)
    for index in range(64):
        teller.tell(index, RIGHT if index % 8 == 0 else WRONG)
    teller.end()
    (frame,) = frames
    assert len(frame.verified_together.results) == 2


def test_facts_and_a_failure_of_the_same_bytes_are_told_apart(held: Held) -> None:
    facts = pb.ProvidedFacts(verdict=outcome_pb2.VERDICT_MALFORMED, violation="x")
    failure = pb.ProviderFailure.FromString(facts.SerializeToString())
    frames: list[pb.ProviderFrame] = []
    teller = Teller(frames.append, held, 7, 60)
    teller.tell(0, facts)
    teller.tell(1, failure)
    teller.end()
    assert list(told_by(frames).values()) == [facts, failure]


def test_what_a_process_held_when_it_ended_is_read_by_another(held: Held) -> None:
    child = os.fork()
    if child == 0:
        frames: list[pb.ProviderFrame] = []
        teller = Teller(frames.append, held, 7, 60)
        teller.tell(0, RIGHT)
        teller.end()
        teller.tell(1, WRONG)
        teller.tell(2, RAISED)
        os._exit(0)
    os.waitpid(child, 0)
    found = held.read()
    assert found is not None
    call, together = found
    assert told_by([pb.ProviderFrame(call=call, verified_together=together)]) == {1: WRONG, 2: RAISED}
