"""Test the contract's messages that an environment gives, without a process around it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gradus.serve import Axis, Environment, Facts, _json
from gradus.serve._asked import verifier
from gradus.serve._catalogue import TargetError, load
from gradus.serve._facts import MisshapenError
from gradus.serve._rows import read_rows
from gradus.serve._served import Served, facts_message
from gradus.serve._trial import try_level
from gradus.v1 import outcome_pb2, provider_pb2

FOLDER = Path(__file__).parent / "environments"


def served(kind: type[Environment]) -> Served:
    return Served(kind(), FOLDER, {})


@pytest.fixture(scope="module")
def catalogue() -> Iterator[dict[str, Served]]:
    yield load(str(FOLDER / "reverse.py")).served


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, 2.5, None, True, "é"]},
        (1, (2, [3, ()])),
        {1: "one", (2, 3): "pair"},
        {"$tuple": "a key like ours"},
        {1, 2, 3},
        frozenset({"a"}),
        b"\x00\xff",
        1 + 2j,
        Decimal("0.10"),
        Fraction(1, 3),
        10**40,
        float("inf"),
    ],
)
def test_an_instance_comes_back_as_it_was(value: Any) -> None:
    back = _json.load(_json.dump(value))
    assert back == value
    assert type(back) is type(value)


def test_what_cannot_be_sent_is_named() -> None:
    with pytest.raises(TypeError, match=r"instance\['board'\] holds a builtins.object"):
        _json.dump({"board": object()})


def test_sets_are_written_in_one_order() -> None:
    assert _json.dump({"b", "a", "c"}) == b'{"$set":["a","b","c"]}'


def test_an_instance_is_made_and_verified(catalogue: dict[str, Served]) -> None:
    each = catalogue["test/reverse"]
    made = each.make("short", '{"letters":4}', 2**64 - 1)
    assert made == each.make("short", '{"letters":4}', 2**64 - 1)
    assert made.prompt[0].content.endswith(_json.load(made.instance)[0])
    verify = each.verifier(made.instance)
    assert verify(made.reference).verdict == outcome_pb2.VERDICT_FEASIBLE
    wrong = verify("zzzz")
    assert (wrong.verdict, wrong.violation) == (outcome_pb2.VERDICT_INFEASIBLE, "the answer is wrong")


class Echo(Environment):
    id = "test/echo"
    levels: ClassVar = {"all": {}}

    def generate(self, rng: random.Random) -> Any:
        return ["a"]

    def prompt(self, instance: Any) -> str:
        return "a"

    def parse(self, answer: str) -> str:
        word: str = json.loads(answer)
        if word.startswith("?"):
            raise ValueError(f"what is {word}")
        return word

    def verify(self, instance: Any, answer: str) -> Facts:
        if answer.startswith("!"):
            raise RuntimeError(f"no {answer}")
        return Facts.infeasible(f"{answer} is wrong")


class Consuming(Echo):
    id = "test/consuming"
    parse = Environment.parse

    def generate(self, rng: random.Random) -> Any:
        return {"numbers": [1, 2, 3]}

    def verify(self, instance: Any, answer: str) -> Any:
        left = instance["numbers"]
        for word in answer.split():
            left.remove(int(word))
        return not left


def test_what_a_verifier_does_to_an_instance_the_next_answer_never_sees() -> None:
    each = served(Consuming)
    find: Any = verifier(each, each.make("all", "", 0).instance)
    found = [find(text) for text in ("1 2 3", "3 1", "1 x", "3 2 1")]
    assert found == [find("2 1 3"), find("1 3"), find("2 x"), find("1 2 3")]
    assert [found[0].verdict, found[1].verdict] == [outcome_pb2.VERDICT_FEASIBLE, outcome_pb2.VERDICT_INFEASIBLE]


@pytest.mark.parametrize("name", ["bool", "bool_"])
def test_a_bool_of_numpy_is_one(name: str) -> None:
    kind = type(name, (), {"__module__": "numpy", "__bool__": lambda _: True})
    assert facts_message(kind(), {}).verdict == outcome_pb2.VERDICT_FEASIBLE
    assert facts_message(kind(), {"score": 1.0}).components[0].value == 1


def test_half_a_character_in_an_answer_ends_no_worker() -> None:
    each = served(Echo)
    find: Any = verifier(each, each.make("all", "", 0).instance)
    unread, wrong, raised = (find(f'"{word}\\ud800"') for word in "?x!")
    assert (unread.verdict, unread.violation) == (outcome_pb2.VERDICT_MALFORMED, "what is ?\\ud800")
    assert (wrong.verdict, wrong.violation) == (outcome_pb2.VERDICT_INFEASIBLE, "x\\ud800 is wrong")
    assert (raised.kind, raised.detail) == (
        provider_pb2.PROVIDER_FAILURE_KIND_RAISED,
        "RuntimeError: no !\\ud800",
    )


def test_rows_are_instances_and_numbers_are_grades(catalogue: dict[str, Served]) -> None:
    each = catalogue["test/close"]
    level = each.describe().levels[0]
    assert (level.name, level.rows) == ("all", 5)
    assert try_level(each, "all")
    verify = each.verifier(each.make("all", "", 2).instance)
    assert verify("3").solved
    assert verify("5").components[0].value == pytest.approx(1 / 3)
    assert verify("five").verdict == outcome_pb2.VERDICT_MALFORMED
    assert "invalid literal" in verify("five").violation


def test_an_objective_and_its_baseline(catalogue: dict[str, Served]) -> None:
    each = catalogue["test/shortest"]
    made = each.make("default", "{}", 1)
    assert (made.baseline, made.baseline_bound) == (1, 1)
    assert each.verifier(made.instance)("ab").objective == 2


def test_the_digest_follows_levels_and_sources(catalogue: dict[str, Served]) -> None:
    each = catalogue["test/reverse"]
    before = each.digest
    assert before == load(str(FOLDER / "reverse.py")).served["test/reverse"].digest
    assert Served(each.environment, FOLDER, {"package x": "2"}).digest != before
    fewer = Served(each.environment, FOLDER, each._sources)
    fewer.drop(["long"])
    assert fewer.digest != before


class Bare(Environment):
    id = "test/bare"


@pytest.mark.parametrize(
    ("found", "components", "message"),
    [
        (float("nan"), {"score": 1.0}, "came to nan"),
        (1.5, {"score": 1.0}, r"1\.5; a number in \[0, 1\]"),
        (0.5, {}, "declare components"),
        ("yes", {}, "gave a str: give True or False"),
        (None, {}, "gave a NoneType"),
        (Facts.graded({"other": 1.0}), {"score": 1.0}, "'other', which is not among"),
        (Facts.feasible(float("inf")), {}, "objective came to inf"),
    ],
)
def test_what_is_no_answer_is_a_failure(found: Any, components: dict[str, float], message: str) -> None:
    with pytest.raises(MisshapenError, match=message):
        facts_message(found, components)


def test_a_sum_of_shares_that_is_rounded_above_one_is_one() -> None:
    assert facts_message(1.0000000000000002, {"score": 1.0}).solved


def test_bools_of_a_graded_environment_are_its_first_component() -> None:
    assert facts_message(True, {"score": 1.0}).solved
    assert not facts_message(False, {"score": 1.0}).solved


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"id": ""}, 'id = "mine/anagram"'),
        ({"id": "Mine"}, "lower-case words"),
        ({"version": 0}, "no whole number from 1"),
        ({"levels": {}}, "0 levels"),
        ({"levels": {"x" * 65: {}}}, "65 characters"),
        ({"components": {"score": 2}}, "a number in"),
        ({"rows": 7}, "is no list, data set"),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises((MisshapenError, ValueError), match=message):
        served(type("Wrong", (Bare,), {"id": "test/wrong", **attributes}))


def test_an_unknown_goal_names_those_there_are() -> None:
    wrong = served(type("Wrong", (Bare,), {"goal": "maximise"}))
    with pytest.raises(MisshapenError, match="there are satisfy, minimize, maximize"):
        wrong.describe()


def test_rows_of_files(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n')
    assert read_rows("rows.jsonl", tmp_path) == [{"a": 1}, {"a": 2}]
    (tmp_path / "broken.jsonl").write_text('{"a": 1}\n{"a"\n')
    with pytest.raises(ValueError, match=r"line 2 of broken\.jsonl is no JSON"):
        read_rows("broken.jsonl", tmp_path)
    with pytest.raises(ValueError, match=r"no file gone\.jsonl"):
        read_rows("gone.jsonl", tmp_path)
    assert read_rows(iter([1, 2]), tmp_path) == [1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import not_there_at_all", "needs the package not_there_at_all"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def", "SyntaxError"),
        ("raise SystemExit(1)", "SystemExit"),
        ("x = 1", "defines no environment"),
        ("environments = [1]", "holds a int"),
    ],
)
def test_a_file_that_cannot_be_mounted_says_why(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "odd_one.py"
    file.write_text(text)
    with pytest.raises(TargetError, match=message):
        load(str(file))


def test_chance_of_a_module_is_set_before_each_item() -> None:
    class Careless(Bare):
        def generate(self, rng: random.Random) -> float:
            return random.random()

        def prompt(self, instance: float) -> str:
            return "?"

    each = served(Careless)
    assert each.make("default", "{}", 5) == each.make("default", "{}", 5)
    assert each.make("default", "{}", 5) != each.make("default", "{}", 6)


def test_chance_is_set_before_a_row_too() -> None:
    class Shuffled(Environment):
        """Shows the parts of a row in random order."""

        id = "mine/shuffled"
        rows = ["abcdefgh", "ijklmnop"]  # noqa: RUF012

        def prompt(self, instance: str) -> str:
            return "".join(random.sample(instance, len(instance)))

        def verify(self, instance: str, answer: str) -> bool:
            return answer == instance

        def draw(self, instance: str, answer: str | None) -> str:
            return f"<svg>{random.random()}</svg>"

    shuffled = served(Shuffled)
    first = shuffled.make("all", "", 0)
    picture = shuffled.draw(first.instance, None)
    assert shuffled.make("all", "", 1).prompt != first.prompt
    assert shuffled.make("all", "", 0) == first
    assert shuffled.draw(first.instance, None) == picture


class Growing(Environment):
    id = "mine/growing"
    levels: ClassVar = {str(letters): {"letters": letters} for letters in range(3, 7)}
    axes: ClassVar = {"letters": Axis(("3", "4", "5", "6"), first=3, guess=0.25)}


def test_axes_are_described_up_to_the_first_level_that_is_not_served() -> None:
    one = served(Growing)
    axis = provider_pb2.ProvidedAxis(name="letters", first=3, levels=["3", "4", "5", "6"], guess=0.25)
    assert list(one.describe().axes) == [axis]
    one.drop(["5"])
    assert [list(each.levels) for each in one.describe().axes] == [["3", "4"]]
    one.drop(["4"])
    assert list(one.describe().axes) == []


def test_an_axis_of_levels_that_do_not_exist_is_refused() -> None:
    class Wrong(Growing):
        axes: ClassVar = {"letters": Axis(("3", "9"))}

    class Other(Growing):
        axes: ClassVar = {"letters": ("3", "4")}  # type: ignore[dict-item]

    with pytest.raises(MisshapenError, match="axis 'letters' names a level that does not exist: '9'"):
        served(Wrong)
    with pytest.raises(MisshapenError, match=r"axis 'letters' is no gradus.serve.Axis"):
        served(Other)


def test_the_guides_environment_with_an_axis_has_its_levels() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "python-environments.md").read_text()
    code = guide.partition("## Growth axes")[2].partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {"__name__": "guide"}
    exec(compile(code, "guide", "exec"), names)
    one = served(names["Reversed"])
    assert [(axis.name, axis.first, len(axis.levels)) for axis in one.describe().axes] == [("letters", 3, 10)]
    made = one.make("12 letters", '{"letters": 12}', 1)
    assert len(made.prompt[0].content) > len("Write this word backwards: ")
