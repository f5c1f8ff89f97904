"""Test that arguments of a wrong shape are refused by name before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import wrong

import gradus
from gradus import Client, CompletionGroup, Task
from gradus.training import RunAddress

ARM = gradus.arm("countdown", "T0")
COUNTDOWN = gradus.task_spec("countdown")
_gradus: Any = gradus


def _any(value: Any) -> Any:
    """Return a value as a caller without type checks would pass it."""
    return value


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c, t: c.step(None, "a"), "task: want a Task, or its id as str; got NoneType"),
        (lambda c, t: c.step(t.group(["a"]), "a"), "task: want a Task"),
        (lambda c, t: t.group("a text"), r"texts: want a list, each a str; got str 'a text'; write \[it\]"),
        (lambda c, t: t.group(None), "texts: want a list"),
        (lambda c, t: t.group({"a": 1}), "texts: want a list"),
        (lambda c, t: t.group(["a"], finish_reasons="stop"), "finish_reasons: want a list"),
        (lambda c, t: t.group(["a"], finish_reasons=["stop"] * 2), "finish_reasons: want one for each text, 1; got 2"),
        (lambda c, t: c.batch_step(["a"]), "groups: want a CompletionGroup each, as Task.group makes; got str 'a'"),
        (lambda c, t: c.batch_step(t), "groups: want a list, each a CompletionGroup"),
        (lambda c, t: c.batch_step([t]), "groups: want a CompletionGroup each"),
        (lambda c, t: c.stream_steps(t.group(["a"])), r"groups: want an iterable of CompletionGroup.*write \[it\]"),
        (lambda c, t: c.stream_steps(None), "groups: want an iterable"),
        (lambda c, t: c.stream_steps("abc"), "groups: want an iterable"),
        (lambda c, t: list(c.stream_steps([t.group(["a"]), None])), "groups: want a CompletionGroup each.*NoneType"),
        (lambda c, t: list(c.stream_steps([t])), "groups: want a CompletionGroup each"),
        (lambda c, t: c.stream_steps([], window=0), "window: want a whole number of groups, at least 1; got int 0"),
        (lambda c, t: c.stream_steps([], window="8"), "window: want"),
        (lambda c, t: c.stream_steps([], window=None), "window: want"),
        (lambda c, t: c.stream_steps(_later()), "asynchronous one, which gradus.aio.Client takes"),
        (lambda c, t: c.step(t, "a", sample_index="0"), "sample_index: want a whole number .*; got str '0'"),
        (lambda c, t: c.step(t, "a", sample_index=-1), "sample_index: want a whole number in the range 0 to"),
        (lambda c, t: c.step(t, "a", sample_index=None), "sample_index: want a whole number from 0; got NoneType"),
        (lambda c, t: c.step(t, "a", timeout=0), "timeout: want seconds above 0; got 0"),
        (lambda c, t: c.step(t, "a", timeout="5"), "timeout: want a number of seconds; got str '5'"),
        (lambda c, t: c.step(t, "a", timeout=float("nan")), "timeout: want seconds above 0"),
        (lambda c, t: c.step(t, "a", retries=-1), "retries: want 0 or more"),
        (lambda c, t: c.step(t, "a", retries=1.5), "retries: want a whole number, or None"),
        (lambda c, t: c.reset("countdown", seed="1"), "seed: want a whole number"),
        (lambda c, t: c.reset(None), r"TaskSpec\.environment: want a str"),
        (lambda c, t: c.batch_reset("countdown", [1]), "spec: want a TaskSpec, as gradus.task_spec makes; got str"),
        (lambda c, t: c.batch_reset(gradus.task_spec("countdown"), 3), "seeds: want a list"),
        (
            lambda c, t: c.run("r").close_groups("group"),
            r"groups: want a list of groups or of their ids; .* write \[it\]",
        ),
        (lambda c, t: c.run("r").close_groups(t), "groups: want a list of groups"),
        (lambda c, t: c.run("r").close_groups(None), "groups: want a list of groups or of their ids; got NoneType"),
        (lambda c, t: c.run("r").reopen_groups(["g", 1]), "groups: want a list of groups or of their ids; got int 1"),
        (lambda c, t: c.evaluation("e").submit(None), "completions: want a list, each a .task, sample_index, compl"),
        (lambda c, t: c.evaluation("e").submit("text"), "completions: want a list"),
        (lambda c, t: c.evaluation("e").submit([(t, 0)]), r"completions\[0\]: want .task, sample_index, completion."),
        (lambda c, t: c.evaluation("e").submit((t, 0, "a")), r"completions\[0\]: want .*; got Task"),
        (lambda c, t: c.evaluation("e").submit([(t, 0, "a", "stop", 5)]), r"completions\[0\]: want .*; got tuple"),
        (
            lambda c, t: gradus.stage(ranks=_any((0.5,))),
            r"ranks: want \(min, max\), a share of the rows each; got tuple",
        ),
        (lambda c, t: gradus.stage(ranks=_any((0, 0.3, 1))), "ranks: want .min, max."),
        (lambda c, t: gradus.task_filter(ranks=_any(0.3)), "ranks: want .min, max.*; got float 0.3"),
        (lambda c, t: c.run("r").set_weights(["a"]), "weights: want a mapping from a str"),
        (lambda c, t: c.run("r").import_state("text"), "state: want bytes; got str"),
        (lambda c, t: c.run("r").report_advantages([{"group_id": "g"}]), r"groups\[0\]: want a GroupAdvantages"),
        (lambda c, t: c.run("r").update_shape(add_arms=["a"]), r"add_arms\[0\]: want an Arm, as gradus.arm makes"),
        (lambda c, t: c.run("r").update_policy("bandit"), "policy: want a Policy, as gradus.mixture, gradus.bandit"),
        (lambda c, t: c.evaluation("e").submit([(None, 0, "a")]), "task: want a Task"),
        (lambda c, t: c.evaluation("e").submit([(t, None, "a")]), "sample_index: want a whole number from 0; got None"),
        (lambda c, t: _gradus.Completion(None, "a"), "sample_index: want a whole number from 0; got NoneType"),
        (lambda c, t: c.run(None).get(), "run_id: want it as str"),
        (lambda c, t: t.group({"a", "b"}), "texts: want a list, each a str; got set"),
        (lambda c, t: t.group(["a"], "0"), "first_index: want a whole number.*; got str '0'"),
        (lambda c, t: t.group(["a"], None), "first_index: want a whole number.*; got NoneType"),
        (
            lambda c, t: c.batch_step(t.group(["a"], finish_reasons=[["stop"]])),
            r"unknown finish reason \['stop'\]: one of",
        ),
        (lambda c, t: c.step(t, "a", finish_reason=["stop"]), r"unknown finish reason \['stop'\]: one of"),
        (lambda c, t: c.batch_step(_group(t, ["a"])), "completions: want a Completion each, .*; got str 'a'"),
        (lambda c, t: list(c.stream_steps([_group(t, ["a"])])), "completions: want a Completion each"),
        (lambda c, t: c.batch_step(_group(t, None)), "completions: want a list, each a Completion; got NoneType"),
        (lambda c, t: c.batch_step(_group(t, "a")), "completions: want a list, each a Completion; got str 'a'"),
        (lambda c, t: c.batch_step(replace(t.group(["a"]), task_id=None)), "task_id: want it as str; got NoneType"),
        (lambda c, t: c.batch_step(replace(t.group(["a"]), group_id=7)), "group_id: want it as str; got int 7"),
        (lambda c, t: c.stream_steps([], timeout="5"), "timeout: want a number of seconds; got str '5'"),
        (lambda c, t: c.stream_steps([], retries=-1), "retries: want 0 or more"),
        (lambda c, t: c.run("r").step_group(None, ["a"]), "task: want a Task; got NoneType"),
        (lambda c, t: c.run("r").step_group(t.task_id, ["a"]), "task: want a Task; got str"),
        (lambda c, t: c.run("r").next_batch(0, wait="3"), "wait: want a number of seconds; got str '3'"),
        (lambda c, t: c.run("r").next_batch(0, wait=None), "wait: want a number of seconds; got NoneType"),
        (lambda c, t: list(c.run("r").groups(wait="3")), "wait: want a number of seconds; got str '3'"),
        (
            lambda c, t: c.run("r").report_advantages([gradus.GroupAdvantages("g", _any(None))]),
            "advantages: want a list, each a float; got NoneType",
        ),
        (lambda c, t: c.batch_reset(COUNTDOWN, _each(1, "a")), "seeds: want a list, each a whole number"),
        (lambda c, t: c.batch_reset(COUNTDOWN, "12"), "seeds: want a list, each a whole number; got str '12'"),
        (lambda c, t: c.batch_reset(COUNTDOWN, np.arange(3) / 2), "seeds: want a list, each a whole number"),
        (lambda c, t: c.run("r").groups("closed"), r'which: want "open", the number of an update batch, or \[ids\]'),
        (lambda c, t: c.run("r").groups(t.group_id), "which: want"),
        (lambda c, t: c.run("r").groups(None), "which: want a list of groups or of their ids; got NoneType"),
        (lambda c, t: c.run("r").groups([1, 2]), "which: want a list of groups or of their ids; got int 1 in it"),
        (lambda c, t: c.run("r").groups(-1), "update_batch: want a whole number in the range 0 to"),
        (lambda c, t: c.run("r").groups(1.5), "which: want a list of groups"),
        (lambda c, t: c.run("r").rate_rows("a", [0.5]), "rates: want a mapping from row numbers to rates"),
        (lambda c, t: c.run("r").rate_rows("a", None), "rates: want a mapping"),
        (lambda c, t: c.run("r").rate_rows("a", {"0": 0.5}), "rates: row: want a whole number .*; got str '0'"),
        (lambda c, t: c.run("r").rate_rows("a", {0: "0.5"}), "rates: pass_rate: want a number; got str '0.5'"),
        (lambda c, t: c.run("r").update_shape(remove_arms="easy"), r"remove_arms: want a list.*write \[it\]"),
        (lambda c, t: c.run("r").update_shape(remove_arms=[ARM]), "remove_arms: want a list, each a str"),
        (lambda c, t: _gradus.bandit(rule=["ucb"]), r"unknown bandit rule \['ucb'\]: one of"),
        (lambda c, t: _gradus.frontier(arm_measures=["a"]), r"FrontierPolicy\.arm_measures: want a mapping"),
        (lambda c, t: _gradus.forgetting(transfers=[("d", {})]), "transfers: want a mapping from each domain"),
        (lambda c, t: c.run("r").set_weights(None), "weights: want a mapping from a str, .*; got NoneType"),
        (lambda c, t: _gradus.arm(b"countdown"), "environment: want its id as str; got bytes .*; decode it"),
        (lambda c, t: _gradus.rows(target=(0.1, 0.2, 0.3)), r"target: want a pass rate, or \(start, end\)"),
        (lambda c, t: RunAddress.parse(_any(None)), "address: want .* as str; got NoneType"),
        (lambda c, t: _gradus.Client("a:1", options=["grpc.x"]), r"options: want \(name, value\) each"),
        (lambda c, t: _gradus.Client("a:1", options=None), "options: want a list, each a tuple; got NoneType"),
        (
            lambda c, t: _gradus.Client("a:1", options=[("grpc.x", 1.5)]),
            "options: grpc.x takes a whole number or a text",
        ),
        (lambda c, t: _gradus.aio.Client("a:1", options=[(1, 1)]), r"options: want \(name, value\) each"),
    ],
)
def test_what_a_call_is_given_is_refused_by_name(
    client: Client, task: Task, call: Callable[[Any, Any], object], words: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        call(client, task)


def _group(task: Task, completions: Any) -> CompletionGroup:
    return CompletionGroup(task.task_id, task.group_id, completions)


async def _later() -> Any:
    yield None


def _each(*values: Any) -> Iterator[Any]:
    yield from values


MIXTURE = gradus.mixture()
_policies: Any = gradus


def _arm(**changes: Any) -> gradus.Arm:
    return replace(ARM, **changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"arms": ["countdown"]}, r"RunConfig\.arms\[0\]: want an Arm, as gradus\.arm makes; got str 'countdown'"),
        ({"arms": [ARM, {"id": "a", "environment": "countdown"}]}, r"RunConfig\.arms\[1\]: want an Arm.*got dict"),
        ({"arms": [{"id": "a"}]}, r"RunConfig\.arms\[0\]: want an Arm"),
        ({"arms": [("countdown", "T0")]}, r"RunConfig\.arms\[0\]: want an Arm.*got tuple"),
        ({"arms": [None]}, r"RunConfig\.arms\[0\]: want an Arm.*got NoneType"),
        ({"arms": ARM}, r"arms: want a list, each an Arm.*write \[it\]"),
        ({"arms": "countdown"}, "arms: want a list"),
        ({"arms": {"a": ARM}}, "arms: want a list"),
        ({"arms": [gradus.task_spec("countdown")]}, r"RunConfig\.arms\[0\]: want an Arm.*got TaskSpec"),
        (
            {"arms": [_arm(spec="countdown")]},
            r"Arm\.spec: want a TaskSpec, as gradus\.task_spec makes; got str",
        ),
        ({"arms": [_arm(weight="2")]}, "weight: want a number; got str '2'"),
        ({"policy": "bandit"}, r"RunConfig\.policy: want a Policy, as gradus\.mixture, gradus\.bandit.*got str"),
        ({"policy": {"kind": "bandit"}}, r"RunConfig\.policy: want a Policy.*got dict"),
        ({"policy": gradus.bandit}, r"RunConfig\.policy: want a Policy.*got function"),
        ({"policy": _policies.mixture({"a": 1})}, r"Policy\.constraints: want a BatchConstraints.*gradus\.constraints"),
        ({"policy": _policies.staged(["a"])}, r"StagedPolicy\.stages\[0\]: want a Stage, as gradus\.stage makes"),
        ({"evaluation_arms": [ARM]}, r"RunConfig\.evaluation_arms\[0\]: want an EvaluationArm"),
        ({"evaluation_arms": "eval"}, "evaluation_arms: want a list"),
        ({"num_generations": "8"}, "num_generations: want a whole number .*; got str '8'"),
        ({"num_generations": 1.5}, "num_generations: want a whole number"),
        ({"prompts_per_update": -1}, "prompts_per_update: want a whole number in the range 0 to"),
        ({"seed": 2**64}, "seed: want a whole number in the range 0 to 18446744073709551615"),
        ({"group_timeout": "60"}, r"RunConfig\.group_timeout: want a number of seconds; got str '60'"),
        ({"dynamic_sampling": 2.0}, r"RunConfig\.dynamic_sampling: want a DynamicSampling; got float"),
        ({"prompt_template": "{prompt}"}, r"RunConfig\.prompt_template: want a PromptTemplate; got str"),
        ({"feedback_lag": "none"}, "feedback_lag: want"),
    ],
)
def test_a_misshaped_run_is_refused_in_our_words(client: Client, changes: dict[str, Any], words: str) -> None:
    given = {"arms": [ARM], "policy": MIXTURE, "num_generations": 1, "prompts_per_update": 1}
    with pytest.raises((TypeError, ValueError), match=words):
        client.run("never-made").create(**{**given, **changes})


def test_parameters_are_a_mapping(client: Client) -> None:
    for parameters in ([1], {"numbers_max": "3"}, 3):
        with pytest.raises(TypeError, match=r"TaskSpec\.parameters: want a mapping from a str to a number"):
            gradus.arm("countdown", parameters=parameters)  # type: ignore[arg-type]


def test_numbers_and_texts_of_numpy_are_numbers_and_texts(client: Client, task: Task) -> None:
    texts = np.array(wrong(2))
    group = task.group(texts, first_index=np.int64(0), num_generations=np.int64(2))
    (result,) = client.stream_steps([group], window=np.int64(4), retries=np.int64(1), timeout=np.float64(30))
    assert result.result().rewards == [0.1, 0.1]
