"""Test the study of curricula: its parts, and the whole in its tiny setting with the real server."""

from __future__ import annotations

import gzip
import itertools
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from real_server import ROOT

sys.path.insert(0, str(ROOT / "clients/python/examples/curriculum_study"))

import countdown
import jax
import jax.numpy as jnp
import measures
import model
import packing
import study
from tokens import END, UnreadError


def test_pass_at_k_is_the_share_of_subsets_with_a_right_sample() -> None:
    solved = np.array([[1, 0, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], float)
    for k in range(1, 6):
        counted = [np.mean([any(row[list(each)]) for each in itertools.combinations(range(5), k)]) for row in solved]
        assert measures.pass_at(solved, k) == pytest.approx(counted)


def test_an_interval_of_five_seeds_is_student_s() -> None:
    mean, half = measures.interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert mean == 3
    assert half == pytest.approx(2.776445 * np.sqrt(2.5) / np.sqrt(5), rel=1e-6)


def test_where_a_curve_reaches_a_goal() -> None:
    assert measures.first_reaching([0, 100, 200], [0.1, 0.2, 0.4], 0.3) == pytest.approx(150)
    assert measures.first_reaching([0, 100], [0.5, 0.6], 0.4) == 0
    assert measures.first_reaching([0, 100], [0.1, 0.2], 0.4) is None


def test_texts_go_to_tokens_and_back() -> None:
    language = countdown.LANGUAGE
    text = "<answer> 82 - ( 97 - 44 ) </answer> <answer> 97 - 82 + 44 </answer>"
    completion = language.completion(text.replace(" ", ""))
    assert language.text(completion) == text
    # A prefix of the text has the tokens that make it. Only the whole text has the end mark.
    first = language.up_to(completion, text.index("</answer>") + len("</answer>"))
    assert language.text(first) == text.partition(" <answer> 97")[0]
    assert END not in first
    assert (language.up_to(completion, len(text)) == completion).all()
    lists = packing.LANGUAGE
    assert lists.text(lists.completion("<answer>[0, 3, 21]</answer>")) == "<answer> [ 0, 3, 21 ] </answer>"


def test_what_no_token_says_is_refused() -> None:
    with pytest.raises(UnreadError, match="1024 has no token"):
        countdown.LANGUAGE.completion("<answer>1024</answer>")
    with pytest.raises(UnreadError, match="not a prompt of Countdown"):
        countdown.LANGUAGE.prompt("Choose as many as possible of 7 numbers")


def test_every_row_of_the_pool_can_be_reached(tmp_path: Path) -> None:
    countdown.write_pool(tmp_path / "pool.jsonl", 100)
    rows = [json.loads(line) for line in (tmp_path / "pool.jsonl").read_text().splitlines()]
    assert len(rows) == 100
    assert {len(row["nums"]) for row in rows} == {3, 4, 5}


def test_sampling_follows_the_model_s_probabilities() -> None:
    """Sampling by token with a cache must agree with the probabilities of a whole text: the likeliest is the same."""
    size = countdown.EXPERIMENT.settings["tiny"].size
    language, weights = size.language, model.initial(size, seed=0)
    prompt = language.prompt("Using the numbers 30, 57 and 19, write an arithmetic expression that equals 10.")[None]
    greedy = np.asarray(model.sample(weights, size, prompt, jax.random.key(0), 1e-5))[0]
    for at in range(3):
        others = np.tile(np.concatenate([prompt[0], greedy[: at + 1]]), (language.written, 1))
        others[:, -1] = np.arange(language.written)
        likeliest = model.log_probabilities(weights, size, jnp.asarray(others))[:, -1].argmax()
        assert likeliest == greedy[at]


def test_figures_of_two_starts_are_not_compared(tmp_path: Path) -> None:
    lines = [json.dumps({"condition": "uniform", "seed": seed, "start": start}) for seed, start in enumerate("ab")]
    (tmp_path / "figures.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    with pytest.raises(SystemExit, match="figures of 2 starts"):
        study.main(["countdown", "--report", "--results", str(tmp_path)])


@pytest.mark.parametrize(
    ("name", "folder"),
    [("countdown", "countdown/small"), ("countdown", "countdown/small-again"), ("packing", "packing/small")],
)
def test_the_compact_file_alone_gives_the_report_and_the_plots(name: str, folder: str, tmp_path: Path) -> None:
    kept = ROOT / "clients/python/examples/curriculum_study/results" / folder
    shutil.copy(kept / "figures.jsonl.gz", tmp_path)
    assert study.main([name, "--report", "--results", str(tmp_path)]) == 0
    assert (tmp_path / "report.md").read_text() == (kept / "report.md").read_text()
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {"figures.jsonl.gz", "report.md", "arms.svg", "compared.svg", "curves.svg"}
    assert {path.name for path in kept.iterdir()} <= made


@pytest.mark.parametrize(
    ("name", "conditions", "seeds"),
    # A training takes 10 s of a core, so only one experiment has several seeds.
    [("countdown", ["uniform", "default + VCC"], 2), ("packing", ["quality, one pass", "binary, replay"], 1)],
)
def test_tiny_from_export_to_report_and_nothing_twice(
    name: str, conditions: list[str], seeds: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only = [each for condition in conditions for each in ("--only", condition)]
    folders = ["--results", str(tmp_path / "results"), "--work", str(tmp_path / "work")]
    command = [name, "--size", "tiny", "--seeds", str(seeds), *only, *folders]
    assert study.main(command) == 0
    report = capsys.readouterr().out
    assert all(f"| {condition} |" in report for condition in conditions)
    figures = sorted((tmp_path / "results").glob("*.json"))
    assert len(figures) == seeds * len(conditions)
    settings = study.EXPERIMENTS[name].settings["tiny"]
    for path in figures:
        one = json.loads(path.read_text())
        assert [sum(drawn) for drawn in one["drawn"]] == [settings.prompts] * settings.updates
        assert one["curve"][-1]["rollouts"] == settings.rollouts
    assert {path.name for path in (tmp_path / "results").glob("*.svg")} == {"arms.svg", "compared.svg", "curves.svg"}
    lines = gzip.decompress((tmp_path / "results/figures.jsonl.gz").read_bytes()).splitlines()
    compact = [json.loads(line) for line in lines]
    assert len(compact) == len(figures)
    assert len({each["start"] for each in compact}) == 1
    assert all(sum(window) == pytest.approx(100, abs=4) for each in compact for window in each["percent"])
    written = {path: path.stat().st_mtime_ns for path in figures}
    assert study.main(command) == 0
    assert {path: path.stat().st_mtime_ns for path in figures} == written
