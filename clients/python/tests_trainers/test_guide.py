"""Test that the snippets of docs/guides/trainers.md run, and that trainers accept its configurations."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

import pytest
import slime_interface
import tomllib
import verifiers.v1 as vf
import verl
from omegaconf import OmegaConf
from real_server import ROOT, Server, launch
from tiny import tokenizer
from verl.trainer.ppo.utils import create_rl_dataset

GUIDE = (ROOT / "docs/guides/trainers.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture(scope="module")
def guided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the guide's run, which its first snippet created."""
    server = launch(tmp_path_factory.mktemp("guided"))
    execute(blocks("python")[0], server)
    yield server
    server.stop()


def at(text: str, server: Server) -> str:
    assert "localhost:50051" in text
    return text.replace("localhost:50051", server.address)


def execute(snippet: str, server: Server) -> None:
    """Run a snippet, and check that it prints the text in its comments."""
    done = subprocess.run(
        [sys.executable, "-c", at(snippet, server)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == re.findall(r"# → (.*)", snippet)


@pytest.mark.parametrize("snippet", blocks("python")[1:], ids=range(1, len(blocks("python"))))
def test_the_snippet_runs(snippet: str, guided: Server) -> None:
    execute(snippet, guided)


def test_verl_takes_its_lines(guided: Server) -> None:
    (lines,) = blocks("yaml")
    config = OmegaConf.load(Path(verl.__file__).parent / "trainer/config/_generated_ppo_trainer.yaml")
    config = OmegaConf.merge(config, OmegaConf.create(at(lines, guided)))
    config.data.max_prompt_length = 4096
    training, validation = (
        create_rl_dataset(files, config.data, tokenizer(), None)
        for files in (config.data.train_files, config.data.val_files)
    )
    assert (len(training), len(validation)) == (6400, 64)
    assert len(training.__getitems__(range(32))) == 32


def test_verifiers_takes_its_lines(guided: Server) -> None:
    (lines,) = blocks("toml")
    environment = vf.load_environment(vf.resolve_env_config(tomllib.loads(at(lines, guided))["env"]))
    assert next(iter(environment.taskset)).data.arm.startswith("countdown/")


def test_slime_takes_its_lines(guided: Server, tmp_path: Path) -> None:
    slime_interface.install()
    lines = at(next(each for each in blocks("sh") if "--data-source-path" in each), guided)
    parser = ArgumentParser()
    for name in re.findall(r"--([\w-]+)", lines):
        flag = name in ("group-rm", "apply-chat-template")
        number = name.startswith(("n-samples", "rollout-batch", "num-rollout"))
        parser.add_argument(f"--{name}", **({"action": "store_true"} if flag else {"type": int if number else str}))
    others = slime_interface.arguments("", str(tmp_path), over_sampling_batch_size=None)
    args = parser.parse_args(shlex.split(lines), others)
    source = slime_interface.load_function(args.data_source_path)(args)
    groups = source.get_samples(args.rollout_batch_size)
    assert [len(each) for each in groups] == [8] * 32
