"""Test the recipe of docs/guides/trainers.md for trainers that generate ahead, and the example on practice."""

from __future__ import annotations

import re
import subprocess
import sys

import practice
import pytest
from conftest import ROOT, Server

from gradus import Client

GUIDE = (ROOT / "docs/guides/trainers.md").read_text()


def test_a_trainer_that_generates_ahead(server: Server, client: Client, run_id: str) -> None:
    section = GUIDE.partition("## A trainer that generates ahead\n")[2].partition("\n## ")[0]
    (snippet,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    program = snippet.replace("localhost:50051", server.address).replace("generated-ahead", run_id)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == ("8 update batches are closed\n", "")
    run = client.run(run_id)
    assert run.get().config.feedback_lag == "unbounded"
    versions = [sample.policy_version or 0 for group in run.groups(7) for sample in group.samples]
    assert len(versions) == 8 * 4
    # The policy had learnt of others when the last groups were written.
    assert min(versions) > 0
    shares = practice.shares_by_arm(run)
    assert sum(map(len, shares.values())) == 64
    assert set(shares) == {arm.arm_id for arm in run.get().config.arms}
    assert practice.report(run).startswith(f"{run_id}: 8 update batches\ndrawn: countdown/T0 ")


def test_practice_is_counted_between_two_moves_of_success() -> None:
    # A group with half of its samples solved counts as a quarter of a group's practice.
    assert practice.practice_until_moved([0.5] * 400) == []
    assert practice.practice_until_moved([]) == []
    risen = practice.practice_until_moved([0.0] * 50 + [0.5] * 50)
    # The slow average comes to 0.15 after some eighteen groups of one half, and again later.
    assert len(risen) == 2
    assert risen[0] == pytest.approx(0.25 * 13, abs=0.25 * 8)


def test_the_practice_of_a_stretch_is_the_server_s() -> None:
    """The numbers equal those of server/curriculum/policies/frontier.ts: a move of more than 0.15 from the ninth group
    on.
    """
    shares = [1.0, 0.0] * 4 + [1.0] * 40
    total = count = 0.0
    levels = []
    for share in shares:
        total, count = 0.98 * total + share, 0.98 * count + 1
        levels.append((total + 0.5) / (count + 1))
    first = next(i for i in range(len(shares)) if sum(0.98**k for k in range(i + 1)) > 8)
    moved = next(i for i in range(first + 1, len(shares)) if abs(levels[i] - levels[first]) > 0.15)
    assert 0 < moved < len(shares)
    assert practice.practice_until_moved(shares[: moved + 1]) == [0.0]
    assert practice.practice_until_moved(shares[:moved]) == []


def test_a_table_has_a_line_for_each_arm() -> None:
    text = practice.table({"a": [0.0, 0.5, 1.0], "b": []})
    assert [line.split()[:2] for line in text.splitlines()[1:]] == [["a", "3"], ["b", "0"]]
    assert "it did not move" in text
