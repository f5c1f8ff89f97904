"""Test the recommended policy."""

from __future__ import annotations

import gradus


def test_it_is_a_frontier_as_the_server_has_it() -> None:
    policy = gradus.recommended(constraints=gradus.constraints(hard_share_min=0.1))
    assert policy.frontier == gradus.frontier().frontier
    assert policy.constraints is not None
    assert policy.constraints.hard_share_min == 0.1
    assert gradus.frontier().to_proto().frontier.ByteSize() == 0
