"""Test the turns of environments without a process around them: states, live objects, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gradus.serve import Action, Environment, Facts, Tool, Turn
from gradus.serve._catalogue import load
from gradus.serve._facts import MisshapenError
from gradus.serve._served import Served
from gradus.v1 import outcome_pb2, provider_pb2

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "python-environments.md"


def served(kind: type[Environment]) -> Served:
    return Served(kind(), Path(), {})


def call(number: int, text: str, tool: str = "") -> provider_pb2.ProvidedCall:
    return provider_pb2.ProvidedCall(number=number, tool=tool, text=text, seed=number + 7)


def request(
    calls: list[provider_pb2.ProvidedCall], instance: Any = 5, state: bytes | None = None
) -> provider_pb2.EnvironmentProviderAdvanceRequest:
    return provider_pb2.EnvironmentProviderAdvanceRequest(
        instance=json.dumps(instance).encode(), state=state, calls=calls
    )


class Counter(Environment):
    id = "test/counter"
    calls_max = 8
    state_bytes = 100
    kept: Any = 0

    def start(self, instance: Any) -> Any:
        return self.kept

    def advance(self, instance: Any, state: Any, action: Action) -> Turn:
        return Turn(f"{state!r} {action.rng.randint(0, 99)}", state=state + type(state)(b"x" if state == b"" else 1))


def test_a_state_comes_back_as_it_was_and_is_all_that_a_call_needs() -> None:
    first = served(Counter).advance(request([call(0, "a")]))
    second = served(Counter).advance(request([call(1, "b")], state=first.state))
    together = served(Counter).advance(request([call(0, "a"), call(1, "b")]))
    assert (second, second.state) == (together, b"j2")
    assert not first.HasField("facts")


@pytest.mark.parametrize(
    "value", [b"\x00\xff", (1, [2, {"a": None}]), {1, 2}, "text", "half of a character: \ud800", None]
)
def test_a_state_may_be_bytes_or_any_value_that_an_instance_may_be(value: Any) -> None:
    seen = []

    class Keeps(Counter):
        kept = value

        def advance(self, instance: Any, state: Any, action: Action) -> Turn:
            seen.append(state)
            return Turn("kept")

    first = served(Keeps).advance(request([call(0, "a")]))
    served(Keeps).advance(request([call(1, "a")], state=first.state))
    assert seen == [value, value]
    assert type(seen[1]) is type(value)


class Live(Environment):
    id = "test/live"
    calls_max = 8
    replay = True
    starts = 0

    def start(self, instance: Any) -> Any:
        Live.starts += 1
        return iter(range(instance, 100))

    def advance(self, instance: Any, state: Any, action: Action) -> Turn:
        return Turn(str(next(state)), over=action.text == "end")


def test_a_live_object_is_kept_for_the_next_call_and_made_again_for_another_branch() -> None:
    live = served(Live)
    Live.starts = 0
    calls = [call(0, "a"), call(1, "b"), call(2, "c")]
    assert [live.advance(request(calls[: i + 1])).reply for i in range(3)] == ["5", "6", "7"]
    assert Live.starts == 1
    # The object has moved on, so a retry and a branch replay the calls.
    assert live.advance(request(calls)).reply == "7"
    assert live.advance(request([calls[0], call(1, "other")])).reply == "6"
    assert Live.starts == 3
    # Another instance has another object, and an episode that is over keeps none.
    assert live.advance(request(calls, instance=50)).reply == "52"
    live.advance(request([call(0, "end")]))
    live.advance(request([call(0, "end"), call(1, "on")]))
    assert Live.starts == 6
    assert not live.advance(request(calls)).HasField("state")


def test_a_result_is_what_verify_gives() -> None:
    results: list[bool | float | Facts] = [0.5, True, Facts.infeasible("no"), 2.0]

    class Graded(Counter):
        components = ("closeness",)

        def advance(self, instance: Any, state: Any, action: Action) -> Turn:
            return Turn("ok", result=results[action.number])

    graded = served(Graded)
    half = graded.advance(request([call(0, "")])).facts
    assert (half.verdict, half.components[0].value, half.solved) == (outcome_pb2.VERDICT_GRADED, 0.5, False)
    assert graded.advance(request([call(1, "")])).facts.solved
    assert graded.advance(request([call(2, "")])).facts.violation == "no"
    with pytest.raises(MisshapenError, match=r"advance came to 2\.0"):
        graded.advance(request([call(3, "")]))


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        ("no turn", "advance gave a str: give a gradus.serve.Turn"),
        (Turn("x" * 70_000), "a reply of 70,000 bytes"),
        (Turn("ok", state="x" * 200), "has 203 bytes, and state_bytes is 100"),
        (Turn("ok", result=0.5), 'declare components = \\["score"\\]'),
    ],
)
def test_a_turn_that_cannot_be_sent_is_the_environments_failure(turn: Any, words: str) -> None:
    class Odd(Counter):
        def advance(self, instance: Any, state: Any, action: Action) -> Turn:
            return turn  # type: ignore[no-any-return]

    with pytest.raises(MisshapenError, match=words):
        served(Odd).advance(request([call(0, "a")]))


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"calls_max": 1}, "calls_max = 1; an environment with advance needs 2 to 512"),
        ({"calls": 9}, "calls = 9; there may be 1 to 8"),
        ({"replay": True, "deterministic": False}, "deterministic must be True"),
        ({"state_bytes": 3000}, "3,000 bytes of a task id, which has room for 2,900: lower state_bytes"),
        ({"replay": True, "calls_max": 12}, "3,360 bytes of a task id, .* lower action_bytes or calls"),
        ({"tools": (Tool("a b"),)}, "tool 'a b'"),
        ({"tools": (Tool("a"), Tool("a"))}, "tool 'a'"),
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(members: dict[str, Any], words: str) -> None:
    with pytest.raises(MisshapenError, match=words):
        served(type("Odd", (Counter,), members))


def test_arguments_are_plain_json() -> None:
    seen = []

    class Takes(Counter):
        tools = (Tool("take"),)

        def advance(self, instance: Any, state: Any, action: Action) -> Turn:
            seen.append((action.tool, action.arguments, action.text))
            return Turn("taken")

    served(Takes).advance(request([call(0, '{"$tuple": [1]}', "take")]))
    assert seen == [("take", {"$tuple": [1]}, "")]


def test_the_guides_example_is_played_to_its_end(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    (example,) = [block for block in blocks if "def advance" in block]
    file = tmp_path / "guess.py"
    file.write_text(example)
    (guess,) = load(str(file)).served.values()
    described = guess.describe()
    assert [tool.name for tool in described.turns.tools] == ["guess"]
    instance = guess.make("default", "{}", 3).instance
    low, high, state = 1, 1000, None
    for number in range(described.turns_max):
        middle = (low + high) // 2
        asked = provider_pb2.EnvironmentProviderAdvanceRequest(
            instance=instance, state=state, calls=[call(number, json.dumps({"number": middle}), "guess")]
        )
        turn = guess.advance(asked)
        if turn.over:
            assert turn.facts.verdict == outcome_pb2.VERDICT_FEASIBLE
            return
        low, high = (middle + 1, high) if turn.reply == "higher" else (low, middle - 1)
        state = turn.state
    raise AssertionError("the number was not found")
