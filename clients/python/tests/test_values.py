"""Test that values have all fields of the contract's messages, and survive conversion, copies and pickling."""

from __future__ import annotations

import dataclasses
import inspect
import json
import pickle
from typing import Any, get_type_hints

import dill
import pytest

import gradus
from gradus import AnswerSpan, Client, Outcome, RewardComponent, Task
from gradus._values import Derived, Value, field_sources
from gradus.v1 import outcome_pb2, task_pb2

VALUES = sorted(Value.__subclasses__(), key=lambda each: each.__name__)


def test_there_are_values() -> None:
    assert len(VALUES) > 40
    assert not [each for each in VALUES if "._" in each.__module__], "a user cannot import these"


@pytest.mark.parametrize("value", VALUES, ids=lambda each: each.__name__)
def test_a_value_has_every_field_of_its_message(value: type[Value]) -> None:
    covered: set[str] = set()
    for _, source in field_sources(value).values():
        covered |= set(source.covers) if isinstance(source, Derived) else {source.proto}
    assert covered == set(value.message.DESCRIPTOR.fields_by_name)
    assert dataclasses.is_dataclass(value)
    assert value.__dataclass_params__.frozen


@pytest.mark.parametrize("value", VALUES, ids=lambda each: each.__name__)
def test_an_empty_message_can_be_read(value: type[Value]) -> None:
    made = value.from_proto(value.message())
    assert type(made) is value
    assert pickle.loads(pickle.dumps(made)) == made


def test_an_outcome_has_every_field_of_a_score() -> None:
    fields = {each.name for each in dataclasses.fields(gradus.Outcome)}
    assert set(outcome_pb2.Score.DESCRIPTOR.fields_by_name) <= fields
    assert set(outcome_pb2.Outcome.DESCRIPTOR.fields_by_name) - {"score", "next_task_id"} <= fields


def test_literals_are_the_contracts_names() -> None:
    """Each Literal of the package has the values of its enum, in order."""
    enums = {
        name: wrapper.DESCRIPTOR
        for module in (gradus.v1.task_pb2, gradus.v1.outcome_pb2, gradus.v1.environment_pb2, gradus.v1.curriculum_pb2)
        for name, wrapper in vars(module).items()
        if hasattr(wrapper, "DESCRIPTOR") and hasattr(wrapper.DESCRIPTOR, "values_by_number")
    }
    assert set(enums) >= {"Verdict", "Split", "FeedbackStatus", "BanditSignal"}
    for name, enum in enums.items():
        literal: Any = vars(gradus.enums)[name]
        prefix = enum.values[0].name.removesuffix("UNSPECIFIED")
        assert literal.__args__ == tuple(each.name.removeprefix(prefix).lower() for each in enum.values[1:])


def test_a_value_newer_than_this_client_is_its_number() -> None:
    newer = outcome_pb2.Outcome(score=outcome_pb2.Score(reward=1))
    newer.score.verdict = 77  # type: ignore[assignment]
    assert str(gradus.Outcome.from_proto(newer).verdict) == "77"


def test_a_task_goes_through_json(client: Client) -> None:
    for task in (
        client.reset("countdown", level="T0", seed=3),
        client.reset("np/tsp", seed=2**64 - 1, split="eval", reward_scheme="binary"),
    ):
        text = task.to_json()
        assert Task.from_json(text) == task
        assert json.loads(text)["prompt"] == task.prompt
        assert client.step(Task.from_json(text), "?") == client.step(task, "?")
        assert pickle.loads(pickle.dumps(task)) == dill.loads(dill.dumps(task)) == task
    hinted = task_pb2.Task(hints=task_pb2.TaskHints(stop=["</answer>"], kl_coefficient=0.0), evaluation_round=0)
    assert Task.from_json(Task.from_proto(hinted).to_json()) == Task.from_proto(hinted)
    assert Task.from_proto(hinted).kl_coefficient == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "a task is a JSON object; got list"),
        ('{"task_id": "a"}', "a task's JSON must have 'group_id', which is missing here"),
        ("nonsense", "Expecting value"),
    ],
)
def test_what_is_no_task_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Task.from_json(text)


def test_an_unknown_field_of_a_task_is_refused(task: Task) -> None:
    with pytest.raises(ValueError, match="a task's JSON has no 'promptt'; did you mean 'prompt'"):
        Task.from_json(json.dumps(json.loads(task.to_json()) | {"promptt": []}))


def test_errors_can_be_pickled(client: Client, run_id: str) -> None:
    with pytest.raises(gradus.NotFoundError) as caught:
        client.run(run_id).get()
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.code) == (type(caught.value), str(caught.value), caught.value.code)


def public(kind: type) -> dict[str, Any]:
    return {name: each for name, each in inspect.getmembers(kind) if not name.startswith("_") and callable(each)}


@pytest.mark.parametrize("name", ["Client", "Run", "Evaluation"])
def test_both_worlds_have_the_same_calls_with_the_same_options(name: str) -> None:
    blocking, asynchronous = public(getattr(gradus, name)), public(getattr(gradus.aio, name))
    assert blocking.keys() == asynchronous.keys()
    for call, method in blocking.items():
        assert method.__doc__, f"{name}.{call} says nothing"
        ours, theirs = inspect.signature(method), inspect.signature(asynchronous[call])
        if call not in ("stream_steps", "rollout", "run", "evaluation"):  # Their types differ.
            assert ours.parameters == theirs.parameters, call
        assert list(ours.parameters) == list(theirs.parameters), call


def test_every_call_that_may_wait_takes_a_time_out_and_retries() -> None:
    for kind in (gradus.Client, gradus.Run, gradus.Evaluation):
        for name, method in public(kind).items():
            # `watch` and `hold` last until they are left.
            if name in ("close", "run", "evaluation", "watch", "hold"):
                continue
            options = [each for each in inspect.signature(method).parameters.values() if each.kind is each.VAR_KEYWORD]
            assert options, f"{kind.__name__}.{name}"


def test_what_calls_give_is_no_message() -> None:
    for kind in (gradus.Client, gradus.Run, gradus.Evaluation):
        for name, method in public(kind).items():
            assert "pb2" not in str(inspect.signature(method)), f"{kind.__name__}.{name}"
    assert get_type_hints(gradus.Batch)["tasks"] == tuple[Task, ...]


def test_parts_of_outcomes_that_are_read_by_hand_are_what_their_types_read() -> None:
    proto = outcome_pb2.Outcome()
    proto.score.components.add(name="format", value=0.0, weight=0.1)
    proto.score.components.add(name="quality", weight=0.9, reason="no answer")
    proto.score.spans.add(start=5, end=9, verdict=2, solved=True, marked_end=14)
    outcome = Outcome.from_proto(proto)
    assert outcome.spans == tuple(map(AnswerSpan.from_proto, proto.score.spans))
    assert outcome.components == {each.name: RewardComponent.from_proto(each) for each in proto.score.components}
