"""Test the parts of the study of sequences, and a short training of each kind with the real server."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from real_server import ROOT, Server

sys.path.insert(0, str(ROOT / "clients/python/examples/curriculum_study"))

import jax
import sequence_policy as policy
import sequence_report as report
import sequences
from sequence_plan import CONDITIONS, PARTS, PROMPTS
from sequence_training import shares_of


def test_a_policy_has_a_tenth_of_a_million_parameters_and_is_its_seed_s() -> None:
    one, again, other = (policy.initial(seed) for seed in (100, 100, 101))
    assert 90_000 < sum(each.size for each in jax.tree.leaves(one)) < 110_000
    same, different = (jax.tree.map(lambda a, b: bool((a == b).all()), one, each) for each in (again, other))
    assert all(jax.tree.leaves(same))
    assert not all(jax.tree.leaves(different))


def test_what_is_sampled_with_a_cache_has_the_probabilities_that_are_learnt_from() -> None:
    p = policy.initial(1)
    given = policy.given_rows([[2, 0, 1]] * 4000)
    answers = np.asarray(policy.sample(p, given, jax.random.key(0), 3, 10))
    assert answers.shape == (4000, 10)
    # Each pair of first two digits is as frequent as the policy's probability.
    pairs = [(a, b) for a in range(3) for b in range(3)]
    rows = np.zeros((len(pairs), 10), np.int32)
    rows[:, :2] = pairs
    expected = np.exp(np.asarray(policy.log_probabilities(p, given[:9], rows, 3))[:, :2].sum(axis=1))
    found = [(answers[:, :2] == pair).all(axis=1).mean() for pair in pairs]
    assert expected.sum() == pytest.approx(1, abs=1e-5)
    assert found == pytest.approx(expected, abs=0.03)


def test_a_step_makes_what_was_praised_more_probable() -> None:
    p = policy.initial(2)
    state: policy.State = (p, policy.optimizer(1e-3).init(p))
    given = policy.given_rows([[1, 4]] * 2)
    answers = np.array([[0, 2] + [0] * 8, [3, 3] + [0] * 8], np.int32)

    def chances(p: Any) -> np.ndarray:
        return np.asarray(policy.log_probabilities(p, given, answers, 5))[:, :2].sum(axis=1)

    before = chances(state[0])
    state = policy.improve(state, given, answers, np.array([2, 2]), np.array([1.0, -1.0]), 5, 1e-3)
    after = chances(state[0])
    assert after[0] > before[0]
    assert after[1] < before[1]


def _figures(condition: str, seed: int, scores: list[float]) -> dict[str, Any]:
    curve = [{"rollouts": 2048 * i, "right": [score] * 10} for i, score in enumerate(scores)]
    drawn = [[2, 1, 1, 2, 2, 2, 2, 2, 1, 1]] * 3
    return {"part": "cipher", "condition": condition, "seed": seed, "curve": curve, "drawn": drawn, "seconds": 1.0}


def test_measures_are_those_of_the_plan() -> None:
    raw = _figures("frontier", 100, [0.0, 0.5, 1.0])
    figures = report.condense(raw)
    assert report.area(figures) == pytest.approx(0.5)
    assert report.final(figures) == 1
    assert figures["percent"] == [[round(100 * tasks / 16) for tasks in raw["drawn"][0]]] * 3
    # With a chance of .5 each length's share has a variance of .25/64. The weight of a point is .5.
    assert figures["noise"] == pytest.approx(0.5 * np.sqrt(10 * 0.25 / 64) / 10)
    assert report.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_a_report_says_what_is_missing_and_pairs_by_seed(tmp_path: Path) -> None:
    for condition, gains in (("equal shares", (0.0, 0.0, 0.0)), ("frontier", (0.09, 0.1, 0.11))):
        for seed, gain in zip((100, 101, 102), gains, strict=True):
            figures = _figures(condition, seed, [0.0, 0.1 * (seed - 100) + gain, 0.3 + gain + 0.01 * seed - 1])
            (tmp_path / f"{condition}.{seed}.json").write_text(json.dumps(figures))
    text = report.write_report(tmp_path)
    assert "Not all of it has been run" in text
    assert "cipher, staged: 0 of 10 seeds" in text
    assert "| 1. cipher: frontier less equal shares | +0.075 ± 0.019 | 3 |" in text
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".gz", ".md", ".svg"}


def test_the_compact_file_alone_gives_the_report_and_the_plots(tmp_path: Path) -> None:
    kept = ROOT / "clients/python/examples/curriculum_study/results/sequences"
    shutil.copy(kept / "figures.jsonl.gz", tmp_path)
    assert report.write_report(tmp_path) == (kept / "report.md").read_text().removesuffix("\n")
    made = {path.name for path in tmp_path.iterdir()}
    parts = ("cipher", "cipher-twice-as-long", "cipher-imitated", "running-sums", "sort")
    plots = {f"{part}-{plot}.svg" for part in parts for plot in ("drawn", "curves")}
    assert made == {"figures.jsonl.gz", "report.md", *plots}
    assert {path.name for path in kept.iterdir()} <= made


def test_jobs_are_those_of_the_plan_and_what_needs_others_draws_comes_last() -> None:
    jobs = sequences.jobs_of([*PARTS], [*CONDITIONS], None)
    assert len(jobs) == 80 + 20 + 20 + 20 + 20
    assert [job.condition for job in jobs[-10:]] == ["frontier's shares"] * 10
    assert len({job.result(Path()) for job in jobs}) == len(jobs)
    assert shares_of([[[1, 3]], [[3, 1]]]) == [0.5, 0.5]


@pytest.mark.parametrize(
    ("part", "condition"),
    [
        ("cipher", "Thompson, dynamic sampling"),
        ("cipher, imitated", "frontier"),
        ("cipher", "frontier's shares"),
        ("sort", "staged"),
    ],
)
def test_a_few_updates_against_the_real_server(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, condition: str
) -> None:
    monkeypatch.setattr("sequence_training.HELD_OUT", 40)
    monkeypatch.setattr("sequence_training.IMITATION_STEPS", 2)
    for seed in PARTS["cipher"].seeds:
        done = sequences.Job(PARTS["cipher"], "frontier", seed).result(tmp_path)
        done.write_text(json.dumps(_figures("frontier", seed, [0.0, 0.1])))
    # With fewer updates some stage would have no update batch.
    updates = 4
    job = sequences.Job(replace(PARTS[part], updates=updates), condition, 100)
    sequences.train_one(job, tmp_path, server.address)
    figures = json.loads(job.result(tmp_path).read_text())
    assert figures["condition"] == condition
    assert figures["curve"][0]["rollouts"] == 0
    assert figures["curve"][-1]["rollouts"] == 8 * np.sum(figures["drawn"])
    if condition == "staged":
        assert np.sum(figures["drawn"][0][3:]) == 0
    if "dynamic" not in condition:
        assert [sum(each) for each in figures["drawn"]] == [PROMPTS] * updates
