"""The recommended policy, and that a server takes it."""

from __future__ import annotations

import pytest

import gradus


def test_it_has_a_tier_for_each_level_and_one_for_all() -> None:
    policy = gradus.recommended([["easy"], ["hard", "harder"]], constraints=gradus.constraints(hard_share_min=0.1))
    assert policy.competence is not None
    assert policy.constraints is not None
    tiers = [tier.weights for tier in policy.competence.tiers]
    assert tiers == [{"easy": 1}, {"hard": 1, "harder": 1}, {"easy": 1, "hard": 1, "harder": 1}]
    assert policy.competence.step == "move_on"
    assert (policy.competence.threshold, policy.competence.window, policy.competence.floor) == (0.7, 32, 0.25)
    assert policy.constraints.hard_share_min == 0.1
    single = gradus.recommended([["a", "b"]]).competence
    assert single is not None
    assert len(single.tiers) == 1


@pytest.mark.parametrize("levels", [[], [["a"], []], ["ab"]])
def test_what_is_no_list_of_levels_is_refused(levels: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="levels"):
        gradus.recommended(levels)
