"""Test the builders of policies: their values, their messages, and the arguments that they refuse."""

from __future__ import annotations

from typing import Any, cast

import pytest

import gradus
from gradus.policy_values import RankRange, TaskFilter
from gradus.v1 import curriculum_pb2 as cur

WEIGHTS = {"a": 1.0, "b": 2.0}


def test_there_is_a_builder_for_every_policy_of_the_contract() -> None:
    made = [
        gradus.mixture(),
        gradus.frontier(),
        gradus.bandit(),
        gradus.staged(gradus.stage()),
        gradus.replay(gradus.stage(), cycles=2),
        gradus.competence(WEIGHTS),
        gradus.forgetting(gradus.domain("math", WEIGHTS)),
        gradus.named_policy("staged"),
    ]
    in_contract = {field.name for field in cur.Policy.DESCRIPTOR.oneofs_by_name["kind"].fields}
    assert {policy.to_proto().WhichOneof("kind") for policy in made} == in_contract


def test_a_bandit_of_another_rule_and_signal() -> None:
    rescale = gradus.signal_rescale(window=64)
    policy = gradus.bandit(rule="exp3_s", signal="mixed_outcomes", exp3_rate=0.2, rescale=rescale)
    made = policy.to_proto().bandit
    assert (made.WhichOneof("rule"), made.signal) == ("exp3_s", cur.BANDIT_SIGNAL_MIXED_OUTCOMES)
    assert made.exp3_s.rate == 0.2
    assert made.rescale.window == 64
    assert not made.exp3_s.HasField("share")
    assert not made.rescale.HasField("low_quantile")
    # The server's defaults.
    assert gradus.bandit().to_proto() == cur.Policy(bandit=cur.BanditPolicy())
    assert gradus.Policy.from_proto(policy.to_proto()) == policy


def test_numbers_go_to_the_rule_or_the_signal_that_reads_them() -> None:
    made = gradus.bandit(rule="ucb", discount=0.9, signal="learning_progress", progress_slow_rate=0.1).to_proto().bandit
    assert made.ucb == cur.UcbRule(discount=0.9)
    assert made.learning_progress == cur.LearningProgress(slow_rate=0.1)
    assert gradus.bandit(tau=1).to_proto().bandit.ema_softmax == cur.EmaSoftmaxRule(tau=1)
    with pytest.raises(ValueError, match=r"^exp3_rate: a bandit of ucb and absolute_advantage does not use it"):
        gradus.bandit(rule="ucb", exp3_rate=0.1)
    with pytest.raises(ValueError, match=r"^progress_slow_rate: a bandit of ema_softmax and mixed_outcomes does not"):
        gradus.bandit(signal="mixed_outcomes", progress_slow_rate=0.1)


def test_a_policy_by_its_name() -> None:
    parameters = {"stages": [{"weights": WEIGHTS, "tasks": 4}, {}], "note": None}
    policy = gradus.named_policy("staged", parameters)
    assert gradus.Policy.from_proto(policy.to_proto()) == policy
    assert not gradus.named_policy("frontier").to_proto().named.HasField("parameters")
    words = r"^NamedPolicy.parameters: want a mapping of plain JSON; got"
    with pytest.raises(TypeError, match=words):
        gradus.named_policy("staged", {"stages": object()})
    with pytest.raises(TypeError, match=words):
        gradus.named_policy("staged", cast(Any, 3))


def test_a_slice_and_a_filter() -> None:
    keep = gradus.task_filter(skip_solved=True, skip_failed_after=3, ranks=(0, 0.9))
    policy = gradus.staged(gradus.stage(WEIGHTS, share=0.3, ranks=(0, 0.3)), gradus.stage(), task_filter=keep)
    assert policy.staged is not None
    assert policy.staged.stages[0].ranks == RankRange(0, 0.3)
    assert policy.staged.stages[1].ranks is None
    assert policy.filter == TaskFilter(skip_solved=True, skip_failed_after=3, ranks=RankRange(0, 0.9))
    assert gradus.mixture(task_filter=keep).filter == keep
    assert policy.to_proto().staged.stages[0].WhichOneof("extent") == "share"


def test_a_replay() -> None:
    policy = gradus.replay(gradus.stage(WEIGHTS, share=0.5), gradus.stage(), cycles=3, instances="same")
    made = policy.to_proto().replay
    assert (made.cycles, made.instances) == (3, cur.REPLAY_INSTANCES_SAME)
    assert gradus.replay(gradus.stage(), cycle_tasks=5).to_proto().replay.WhichOneof("cycle") == "cycle_tasks"
    with pytest.raises(ValueError, match="one of them"):
        gradus.replay(gradus.stage())
    with pytest.raises(ValueError, match="one of them"):
        gradus.replay(gradus.stage(), cycles=1, cycle_tasks=2)


def test_frontier() -> None:
    policy = gradus.frontier(measure="solved", exploration=0.2, practice_scale=64).to_proto().frontier
    assert policy.measure == cur.SUCCESS_MEASURE_SOLVED
    assert (policy.exploration, policy.practice_scale) == (0.2, 64)
    for policy in (gradus.frontier(), gradus.frontier(practice_scale="auto"), gradus.recommended()):
        assert not policy.to_proto().frontier.HasField("practice_scale")
    with pytest.raises(TypeError, match="practice_scale: want a number"):
        gradus.frontier(practice_scale="fast")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one of quality, solved, reward, improvement"):
        gradus.frontier(measure="ratio")  # type: ignore[arg-type]


def test_frontier_with_measures_of_arms() -> None:
    policy = gradus.frontier(arm_measures={"tsp": "improvement", "math": "solved"})
    made = policy.to_proto().frontier
    assert dict(made.arm_measures) == {"tsp": cur.SUCCESS_MEASURE_IMPROVEMENT, "math": cur.SUCCESS_MEASURE_SOLVED}
    assert gradus.Policy.from_proto(policy.to_proto()) == policy
    with pytest.raises(ValueError, match="one of quality, solved, reward, improvement"):
        gradus.frontier(arm_measures={"tsp": "ratio"})  # type: ignore[dict-item]


def test_competence() -> None:
    policy = gradus.competence({"a": 1}, WEIGHTS, step="move_on", floor=0.1).to_proto().competence
    assert [dict(tier.weights) for tier in policy.tiers] == [{"a": 1}, WEIGHTS]
    assert policy.step == cur.COMPETENCE_STEP_MOVE_ON
    assert policy.floor == 0.1
    assert not policy.HasField("threshold")


def test_forgetting() -> None:
    domains = gradus.domain("math", WEIGHTS, share=0.4), gradus.domain("code", {"c": 1})
    policy = gradus.forgetting(*domains, transfers={"math": {"code": -0.2}}, most_forgotten_first=True)
    made = policy.to_proto().forgetting
    assert made.domains[0].share == 0.4
    assert not made.domains[1].HasField("share")
    assert made.transfers[0] == cur.BackwardTransfer(trained="math", changes={"code": -0.2})
    assert made.reversed


def test_names_that_are_misspelled_are_refused() -> None:
    words = "unknown bandit rule 'exp3': one of ema_softmax, exp3_s, thompson, ucb; did you mean 'exp3_s'"
    with pytest.raises(ValueError, match=words):
        gradus.bandit(rule=cast(Any, "exp3"))
    with pytest.raises(TypeError, match="bandit\\(\\) has no option 'epsilom'; did you mean 'epsilon'"):
        cast(Any, gradus.bandit)(epsilom=0.1)


def test_the_kl_coefficient_of_an_arm() -> None:
    assert gradus.arm("countdown", "T0", kl_coefficient=0).to_proto().HasField("kl_coefficient")
    assert gradus.arm("countdown", "T0", kl_coefficient=0.5).to_proto().kl_coefficient == 0.5
    assert not gradus.arm("countdown", "T0").to_proto().HasField("kl_coefficient")
