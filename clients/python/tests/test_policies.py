"""Builders of policies: the messages they make, and what they refuse."""

from __future__ import annotations

from typing import Any, cast

import pytest

import gradus
from gradus.v1 import curriculum_pb2 as cur

WEIGHTS = {"a": 1.0, "b": 2.0}


def test_a_bandit_of_another_rule_and_signal() -> None:
    rescale = gradus.signal_rescale(window=64)
    policy = gradus.bandit(rule="exp3_s", signal="mixed_outcomes", exp3_rate=0.2, rescale=rescale)
    made = policy.bandit
    assert (made.rule, made.signal) == (cur.BANDIT_RULE_EXP3_S, cur.BANDIT_SIGNAL_MIXED_OUTCOMES)
    assert made.exp3_rate == 0.2
    assert made.rescale.window == 64
    assert not made.HasField("alpha")
    assert not made.rescale.HasField("low_quantile")
    # The server's defaults.
    assert gradus.bandit() == cur.Policy(bandit=cur.BanditPolicy())


def test_a_slice_and_a_filter() -> None:
    keep = gradus.task_filter(skip_solved=True, skip_failed_after=3, ranks=(0, 0.9))
    policy = gradus.staged(gradus.stage(WEIGHTS, share=0.3, ranks=(0, 0.3)), gradus.stage(), task_filter=keep)
    assert policy.staged.stages[0].ranks == cur.RankRange(min=0, max=0.3)
    assert not policy.staged.stages[1].HasField("ranks")
    assert policy.filter == cur.TaskFilter(skip_solved=True, skip_failed_after=3, ranks=cur.RankRange(min=0, max=0.9))
    assert gradus.mixture(task_filter=keep).filter == keep


def test_a_replay() -> None:
    policy = gradus.replay(gradus.stage(WEIGHTS, share=0.5), gradus.stage(), cycles=3, instances="same")
    assert policy.replay.cycles == 3
    assert policy.replay.instances == cur.REPLAY_INSTANCES_SAME
    assert gradus.replay(gradus.stage(), cycle_tasks=5).replay.WhichOneof("cycle") == "cycle_tasks"
    with pytest.raises(ValueError, match="one of them"):
        gradus.replay(gradus.stage())
    with pytest.raises(ValueError, match="one of them"):
        gradus.replay(gradus.stage(), cycles=1, cycle_tasks=2)


def test_competence() -> None:
    policy = gradus.competence({"a": 1}, WEIGHTS, step="move_on", floor=0.1).competence
    assert [dict(tier.weights) for tier in policy.tiers] == [{"a": 1}, WEIGHTS]
    assert policy.step == cur.COMPETENCE_STEP_MOVE_ON
    assert policy.floor == 0.1
    assert not policy.HasField("threshold")


def test_forgetting() -> None:
    domains = gradus.domain("math", WEIGHTS, share=0.4), gradus.domain("code", {"c": 1})
    policy = gradus.forgetting(*domains, transfers={"math": {"code": -0.2}}, reversed=True).forgetting
    assert policy.domains[0].share == 0.4
    assert not policy.domains[1].HasField("share")
    assert policy.transfers[0] == cur.BackwardTransfer(trained="math", changes={"code": -0.2})
    assert policy.reversed


def test_names_that_are_misspelled_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown bandit rule 'exp3': one of ema_softmax, exp3_s, thompson, ucb"):
        gradus.bandit(rule=cast(Any, "exp3"))
    with pytest.raises(TypeError, match="epsilom"):
        cast(Any, gradus.bandit)(epsilom=0.1)


def test_the_kl_coefficient_of_an_arm() -> None:
    assert gradus.arm("countdown", "T0", kl_coefficient=0).kl_coefficient == 0
    assert gradus.arm("countdown", "T0", kl_coefficient=0).HasField("kl_coefficient")
    assert not gradus.arm("countdown", "T0").HasField("kl_coefficient")
