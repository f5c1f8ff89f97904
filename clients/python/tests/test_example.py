"""Test a short run of examples/grpo_countdown.py."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Server

from gradus import Client

EXAMPLE = ROOT / "clients/python/examples/grpo_countdown.py"
UPDATES = 6


def train(address: str, out: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLE), "--server", address, "--out", str(out), "--updates", str(UPDATES), *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def report(server: Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = train(server.address, tmp_path_factory.mktemp("plots"), "--seeds", "2", "--json")
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_the_run_was_fed_by_what_was_scored(report: dict[str, Any], client: Client) -> None:
    settings = report["settings"]
    tasks = UPDATES * settings["prompts"]
    for row in report["seeds"]:
        state = client.run(row["run_id"]).get().state
        assert (state.done, state.cursor, state.batches_closed) == (True, tasks, UPDATES)
        assert state.samples_recorded == tasks * settings["generations"]
        # Advantages arrived: a group with right and wrong completions changed its arm's value.
        assert any(arm.value > 0 for arm in state.arms)
        records = [each.batch for each in client.run(row["run_id"]).history() if each.batch is not None]
        assert all(each.closed and (each.reward_mean or 0) >= 0.1 for each in records)
        assert len({tuple(each.probabilities) for each in records}) > 1


def test_the_constraints_held(report: dict[str, Any], client: Client) -> None:
    run = client.run(report["seeds"][0]["run_id"])
    sources = [arm.arm_id.rpartition("/")[2] for arm in run.get().state.arms]
    for record in run.history():
        counts = dict.fromkeys(("real", "synthetic"), 0)
        assert record.batch is not None
        for source, count in zip(sources, record.batch.counts, strict=True):
            counts[source] += count
        assert counts["synthetic"] <= 16 <= counts["real"]


def test_figures_and_plots_are_there(report: dict[str, Any]) -> None:
    assert [row["seed"] for row in report["seeds"]] == [0, 1]
    for row in report["seeds"]:
        assert 0 < row["start"] < 0.1
        assert row["gain"] == pytest.approx(row["end"] - row["start"])
        assert row["gain_low"] <= row["gain"] <= row["gain_high"]
        assert set(row["end_by_tier"]) == {"T0", "T1", "T2", "T3"}
    for plot in report["plots"]:
        assert Path(plot).read_bytes().startswith(b"\x89PNG")


def test_the_same_seed_gives_the_same_figures(report: dict[str, Any], server: Server, tmp_path: Path) -> None:
    done = train(server.address, tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    changing = {"seconds", "run_id"}
    first, again = report["seeds"][0], json.loads(done.stdout)["seeds"][0]
    assert {key: value for key, value in again.items() if key not in changing} == {
        key: value for key, value in first.items() if key not in changing
    }


def test_the_table_has_the_figures(report: dict[str, Any], server: Server, tmp_path: Path) -> None:
    done = train(server.address, tmp_path)
    assert done.returncode == 0, done.stderr
    head, row, *plots = done.stdout.splitlines()
    assert "95% interval" in head
    first = report["seeds"][0]
    numbers = [f"{first[key]:.3f}" for key in ("start", "end", "gain", "gain_low", "gain_high")]
    tiers = [f"{tier} {share:.2f}" for tier, share in first["end_by_tier"].items()]
    assert re.findall(r"\d\.\d{3}", row) == numbers
    assert row.endswith(", ".join(tiers))
    assert len(plots) == len(report["plots"])
    assert "100%" in done.stderr


def test_a_missing_server_is_told_in_one_line(tmp_path: Path) -> None:
    done = train("localhost:1", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("grpo_countdown: UNAVAILABLE: no Gradus server answers at localhost:1")
    assert "Traceback" not in done.stderr
