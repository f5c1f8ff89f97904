"""The study of growth: its plan, its report, and a training of a few updates of each kind against the real server."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from real_server import ROOT, Server

sys.path.insert(0, str(ROOT / "clients/python/examples/curriculum_study"))

import growth_report as report
import sequences
from growth import GROWTH
from growth_plan import CAP, CONDITIONS, EQUAL, FITTING, GROW, PARTS, WIDE
from sequence_plan import PROMPTS


def test_jobs_are_those_of_the_plan() -> None:
    jobs = sequences.jobs_of([*PARTS], [*CONDITIONS], None, GROWTH)
    assert len(jobs) == 2 * 4 * 10
    assert {job.seed for job in jobs} == set(range(200, 210))
    assert len({job.result(Path()) for job in jobs}) == len(jobs)


@pytest.mark.parametrize(("condition", "arms"), [(GROW, 1), (FITTING, 10), (EQUAL, 10), (WIDE, CAP)])
def test_a_few_updates_against_the_real_server(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, condition: str, arms: int
) -> None:
    monkeypatch.setattr("sequence_training.HELD_OUT", 8)
    part = replace(PARTS["cipher"], updates=3)
    assert len(CONDITIONS[condition].arms(part.family)) == arms
    job = sequences.Job(part, condition, 200)
    sequences.train_one(job, tmp_path, server.address, GROWTH)
    figures = json.loads(job.result(tmp_path).read_text())
    assert [len(each["right"]) for each in figures["curve"]] == [CAP] * len(figures["curve"])
    assert [sum(each) for each in figures["drawn"]] == [PROMPTS] * 3
    longest = max(np.flatnonzero(np.sum(figures["drawn"], axis=0))) + 1
    if condition == GROW:
        # Only the first length is open at the start.
        assert figures["drawn"][0] == [PROMPTS] + [0] * (CAP - 1)
    else:
        assert (longest > 10) == (condition == WIDE)


def _figures(condition: str, seed: int, score: float) -> dict[str, Any]:
    curve = [{"rollouts": 2048 * i, "right": [score * i] * 10 + [0.0] * 10} for i in range(3)]
    drawn = [[16] + [0] * 19] * 4
    return {"part": "cipher", "condition": condition, "seed": seed, "curve": curve, "drawn": drawn, "seconds": 1.0}


def test_measures_are_those_of_the_protocol() -> None:
    figures = report.condense(_figures(GROW, 200, 0.48))
    assert report.area(figures) == pytest.approx(0.48)
    assert figures["wide"] == pytest.approx(0.48)
    assert figures["reached"] == 10
    # The last evaluation, at which all is solved, comes after the last update.
    assert figures["solved"] == 0
    assert report.condense(_figures(GROW, 200, 0.96))["solved"] == 0.5


def test_a_report_tests_each_hypothesis_and_says_what_is_missing(tmp_path: Path) -> None:
    for condition, gains in ((GROW, (0.3, 0.31, 0.32)), (EQUAL, (0.2, 0.2, 0.2)), (FITTING, (0.31, 0.33, 0.32))):
        for seed, gain in zip((200, 201, 202), gains, strict=True):
            (tmp_path / f"{condition}.{seed}.json").write_text(json.dumps(_figures(condition, seed, gain)))
    text = report.write_report(tmp_path)
    assert "cipher, equal shares, 1 to 20: 0 of 10 seeds" in text
    assert "| cipher: grow less equal shares, 1 to 10 | +0.110 ± 0.025 | 3 |" in text
    assert "| cipher: grow less frontier, 1 to 10 | -0.010 ± 0.025 | 3 |" in text
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".gz", ".md", ".svg"}
