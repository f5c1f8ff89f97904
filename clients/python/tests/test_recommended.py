"""The recommended policy, and that a server takes it."""

from __future__ import annotations

import pytest

import gradus
from gradus.v1 import curriculum_pb2 as cur


def test_it_has_a_tier_for_each_level_and_one_for_all() -> None:
    policy = gradus.recommended([["easy"], ["hard", "harder"]], constraints=gradus.constraints(hard_share_min=0.1))
    tiers = [dict(tier.weights) for tier in policy.competence.tiers]
    assert tiers == [{"easy": 1}, {"hard": 1, "harder": 1}, {"easy": 1, "hard": 1, "harder": 1}]
    assert policy.competence.step == cur.COMPETENCE_STEP_MOVE_ON
    assert (policy.competence.threshold, policy.competence.window, policy.competence.floor) == (0.7, 32, 0.25)
    assert policy.constraints.hard_share_min == 0.1
    assert len(gradus.recommended([["a", "b"]]).competence.tiers) == 1


@pytest.mark.parametrize("levels", [[], [["a"], []], ["ab"]])
def test_what_is_no_list_of_levels_is_refused(levels: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="levels"):
        gradus.recommended(levels)
