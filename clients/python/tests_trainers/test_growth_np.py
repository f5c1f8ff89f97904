"""The NP-hard part of the study of growth: its plan, its report, and a short training of each problem."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from real_server import ROOT, Server

sys.path.insert(0, str(ROOT / "clients/python/examples/curriculum_study"))

import growth_report as report
import model
import np_plan
import sequences
from growth import GROWTH
from np_plan import (
    NP_CONDITIONS,
    NP_EQUAL,
    NP_FITTING,
    NP_GROW,
    NP_PARTS,
    NP_WIDE,
    PILOT,
    PROBLEMS,
    SCORED,
    WIDE,
    Problem,
)
from sequence_plan import PROMPTS
from tokens import FIRST_NUMBER, PAD, UnreadError

from gradus import Client


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_a_problem_sets_the_parameters_of_its_axis_and_reads_its_prompts(client: Client, problem: Problem) -> None:
    (axis,) = client.get_environment(problem.environment).axes
    assert (axis.name, axis.first) == (problem.axis, problem.first)
    for at, value in enumerate(problem.values(WIDE)):
        expected = {each.name: each.values[at] if each.values else value for each in axis.parameters}
        assert problem.parameters(value) == expected
        (made,) = client.batch_reset(problem.spec(value, "train"), [1])
        task = made.result()
        assert task.metadata[problem.axis] == str(value)
        assert problem.language.prompt(task.prompt[-1]["content"]).shape == (problem.language.prompt_length,)
        completion = client.solve_task(task).completion
        written = problem.language.text(problem.language.completion(completion))
        assert client.step(task, written).solved
    weights = model.initial(problem.settings(1).size, seed=0)
    assert 90_000 < sum(each.size for each in jax.tree.leaves(weights)) < 120_000


def test_five_edges_of_a_vertex_to_lower_ones_are_one_number() -> None:
    language = PROBLEMS[2].language
    rows = ["0: 2 6", "1: 2 3", "2: 0 1", "3: 1 6", "4:", "5:", "6: 0 3 7", "7: 6"]
    prompt = language.prompt("0: 1\n\nYour task:\n" + "\n".join(rows) + "\n\nWrite")
    # Number of vertices, then the edges of vertices 1, 2, 3, 4, 5, twice 6, and twice 7.
    expected = [8, 0, 3, 2, 0, 0, 9, 0, 0, 2]
    assert (prompt[1:11] - FIRST_NUMBER).tolist() == expected
    assert set(prompt[11:].tolist()) == {PAD}
    with pytest.raises(UnreadError, match="not a prompt of clique"):
        language.prompt("Choose from 4 items")


def _train(part: str, condition: str, server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(np_plan, "HELD_OUT", 8)
    monkeypatch.setattr(np_plan, "IMITATION_STEPS", 2)
    job = sequences.Job(replace({**PILOT, **NP_PARTS}[part], updates=3), condition, 0)
    sequences.train_one(job, folder, server.address, GROWTH)
    figures = json.loads(job.result(folder).read_text())
    assert np.shape(figures["drawn"]) == (3, len(figures["curve"][0]["right"]))
    assert [sum(each) for each in figures["drawn"]] == [PROMPTS] * 3
    assert all(0 <= quality <= 1 for point in figures["curve"] for quality in point["right"])
    return figures


@pytest.mark.parametrize("part", PILOT)
def test_a_few_updates_of_each_problem_against_the_real_server(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    figures = _train(part, NP_EQUAL, server, tmp_path, monkeypatch)
    assert len(figures["curve"][0]["right"]) == SCORED


@pytest.mark.parametrize("condition", [NP_GROW, NP_WIDE])
def test_a_few_updates_of_the_part_against_the_real_server(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, condition: str
) -> None:
    (part,) = NP_PARTS.values()
    arms = [len(NP_CONDITIONS[each].arms(part.family)) for each in part.conditions]
    assert arms == [1, SCORED, SCORED, WIDE]
    drawn = np.sum(_train(part.name, condition, server, tmp_path, monkeypatch)["drawn"], axis=0)
    assert len(drawn) == WIDE
    # An arm that grows opens the first value alone, and may try the next three.
    longest = max(np.flatnonzero(drawn))
    assert longest <= 3 if condition == NP_GROW else longest >= SCORED


def _write(folder: Path, part: str, condition: str, seed: int, qualities: list[float]) -> None:
    curve = [{"rollouts": 2048 * i, "right": [each] * WIDE} for i, each in enumerate(qualities)]
    figures: dict[str, Any] = {"part": part, "condition": condition, "seed": seed, "curve": curve}
    figures |= {"drawn": [[16] + [0] * (WIDE - 1)] * 4, "seconds": 1.0}
    (folder / f"{part}-{condition}.{seed}.json").write_text(json.dumps(figures))


@pytest.mark.parametrize(("last", "learnt"), [((0.31, 0.3, 0.2), "yes"), ((0.31, 0.29, 0.2), "no")])
def test_a_problem_is_learnt_if_two_of_three_seeds_rise_by_a_tenth(
    tmp_path: Path, last: tuple[float, ...], learnt: str
) -> None:
    for seed, each in enumerate(last):
        _write(tmp_path, "pilot, clique", NP_EQUAL, seed, [0.2, 0.9, each])
    text = report.write_report(tmp_path)
    cells = " | ".join(f"0.200 → {each:.3f} ({each - 0.2:+.3f})" for each in last)
    assert f"| np/clique | {cells} | {learnt} |" in text
    assert ("The first that is learnt is np/clique." if learnt == "yes" else "None is learnt") in text


def test_the_part_compares_growth_with_each_other_condition(tmp_path: Path) -> None:
    for condition, gain in ((NP_GROW, 0.3), (NP_FITTING, 0.3), (NP_WIDE, 0.1)):
        for seed in (300, 301):
            noise = 0.01 * (seed - 300) * (condition == NP_GROW)
            _write(tmp_path, "knapsack", condition, seed, [gain + noise] * 3)
    text = report.write_report(tmp_path)
    assert f"knapsack, {NP_EQUAL}: 0 of 5 seeds" in text
    assert f"| {NP_GROW} less {NP_FITTING} | +0.005 ± 0.064 | 2 | not told apart |" in text
    assert f"| {NP_GROW} less {NP_WIDE} | +0.205 ± 0.064 | 2 |  |" in text
    assert (tmp_path / "knapsack-curves.svg").exists()
