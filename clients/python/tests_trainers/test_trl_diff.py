"""Test the diff in the guide and the client's README: a TRL script trains before and after five changed lines."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Server
from datasets import Dataset
from trl_training import run_config

from gradus import Client


def diff_of(document: Path) -> list[str]:
    (diff,) = re.findall(r"```diff\n(.*?)```", document.read_text(), re.DOTALL)
    return str(diff).splitlines()


DIFF = diff_of(ROOT / "clients/python/README.md")
BEFORE = [line[1:] for line in DIFF if not line.startswith("+")]
AFTER = [line[1:] for line in DIFF if not line.startswith("-")]


def run_script(lines: list[str], replacements: dict[str, str]) -> dict[str, Any]:
    """Runs a script, and returns its global names."""
    script = "\n".join(lines)
    for old, new in replacements.items():
        assert old in script
        script = script.replace(old, new)
    names: dict[str, Any] = {}
    exec(compile(script, "script.py", "exec"), names)
    return names


def test_five_lines_change_and_both_documents_show_them() -> None:
    assert diff_of(ROOT / "docs/guides/trl.md") == DIFF
    assert sum(line.startswith("+") for line in DIFF) == 5
    assert sum(line.startswith("-") for line in DIFF) <= 5


@pytest.fixture
def changes(policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Replacements for the parts of the script that a test cannot run: a fetched model, and long training."""
    monkeypatch.chdir(tmp_path)
    return {"Qwen/Qwen3-0.6B": str(policy), "max_steps=100": "max_steps=2, max_completion_length=8, use_cpu=True"}


def test_the_script_trains_before(changes: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_task.py").write_text("dataset, reward = None, None")
    monkeypatch.syspath_prepend(tmp_path)
    import my_task  # noqa: PLC0415

    my_task.dataset = Dataset.from_list([{"prompt": [{"role": "user", "content": "1 + 1?"}]}] * 4)
    my_task.reward = lambda completions, **_: [float(len(each[0]["content"])) for each in completions]
    my_task.reward.__name__ = "reward"
    assert run_script(BEFORE, changes)["trainer"].state.global_step == 2


def test_the_script_trains_after(
    changes: dict[str, str], server: Server, client: Client, run_id: str, policy: Path
) -> None:
    client.run(run_id).create(**run_config(num_generations=8))
    named = {"localhost:50051": server.address, "my-run": run_id}
    assert run_script(AFTER, changes | named)["trainer"].state.global_step == 2
    assert client.run(run_id).get().state.samples_recorded == 2 * 4 * 8


def test_the_guides_script_trains(
    server: Server, client: Client, run_id: str, policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/guides/trl.md").read_text(), re.DOTALL)
    # The first block is the guide's script, and the next ones change it.
    script = blocks[0]
    shorter = {
        "Qwen/Qwen3-0.6B": str(policy),
        "max_steps=200": "max_steps=2, max_completion_length=8, use_cpu=True",
        '"num_generations": 16': '"num_generations": 4',
        '"prompts_per_update": 32': '"prompts_per_update": 4',
        "localhost:50051": server.address,
        "my-run": run_id,
    }
    assert run_script(script.splitlines(), shorter)["trainer"].state.global_step == 2
    assert client.run(run_id).get().state.samples_recorded == 2 * 4 * 4
