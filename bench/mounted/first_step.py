"""From an empty folder to a step of TRL's in three commands, each timed: the ten lines that `gradus env new` writes.

    .trainers/bin/python bench/mounted/first_step.py [--steps 1] [--gradus cli/gradus] [--json]

1. `gradus env new my_env.py`, 2. `gradus serve --python my_env.py`, 3. `python train.py`, whose lines are those of
docs/guides/trl.md over the file's two levels. The packages are there before, with TRL (`make test-trainers` installs
them), and the policy is a tiny random one on this machine's disk, so that no model is fetched. Ends with 1 where a
command fails, or where the trainer's samples are not all in the run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "clients/python/src"), str(ROOT / "clients/python/tests_trainers")]

import tiny
from gradus import Client

TRAIN = """import gradus
from gradus.trl import GradusSpec
from trl import GRPOConfig, GRPOTrainer

run = {{
    "arms": [gradus.arm("mine/my-env", level) for level in ("short", "long")],
    "policy": gradus.recommended(),
    "num_generations": 4,
    "prompts_per_update": 4,
}}
spec = GradusSpec("{address}", "my-run", run)
config = GRPOConfig(**spec.config(output_dir="out", max_steps={steps}, {small}))
trainer = GRPOTrainer("{policy}", spec.reward_funcs, config, spec.train_dataset, callbacks=spec.callbacks)
trainer.train()
"""
SMALL = 'per_device_train_batch_size=8, max_completion_length=8, use_cpu=True, report_to=[], save_strategy="no"'


def finished(command: list[str], folder: Path, env: dict[str, str]) -> float:
    """Seconds that a command took, which must end well."""
    began = time.monotonic()
    ended = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return time.monotonic() - began


def serving(command: list[str], folder: Path, env: dict[str, str]) -> tuple[subprocess.Popen[str], float, str]:
    """The server's process, the seconds until it listened, and its address."""
    began = time.monotonic()
    server = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    said = []
    for line in server.stdout:
        said.append(line)
        if '"listening"' in line:
            return server, time.monotonic() - began, f"127.0.0.1:{json.loads(line)['grpcPort']}"
    raise SystemExit(f"{' '.join(command)} ended before it listened:\n{''.join(said)}")


def play(gradus: str, steps: int, folder: Path) -> dict[str, float]:
    """Seconds of each command."""
    policy = tiny.save(folder / "policy")
    place = folder / "empty"
    place.mkdir()
    env = dict(os.environ, PYTHONPATH=str(ROOT / "clients/python/src"), OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1")
    written = finished([gradus, "env", "new", "my_env.py", "--python", sys.executable], place, env)
    ports = ["--port", "0", "--http-port", "0", "--data-dir", str(folder / "data"), "--log-format", "json"]
    command = [gradus, "serve", "--python", "my_env.py", "--python", sys.executable, *ports]
    server, started, address = serving(command, place, env)
    try:
        script = TRAIN.format(address=address, steps=steps, policy=policy, small=SMALL)
        (place / "train.py").write_text(script, encoding="utf-8")
        trained = finished([sys.executable, "train.py"], place, env)
        with Client(address) as client:
            state = client.run("my-run").get().state
        if state.samples_recorded < steps * 16:
            raise SystemExit(f"{state.samples_recorded} samples are in the run, and not {steps * 16}")
    finally:
        server.terminate()
        server.wait()
    return {"gradus env new": written, "gradus serve, until it listens": started, f"{steps} steps of TRL": trained}


def main() -> None:
    """Prints the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--gradus", default=str(ROOT / "cli/gradus"))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seconds = play(given.gradus, given.steps, Path(folder))
    if given.json:
        print(json.dumps(seconds))
        return
    for what, each in seconds.items():
        print(f"{each:6.1f} s  {what}")
    print(f"{sum(seconds.values()):6.1f} s  from an empty folder")


if __name__ == "__main__":
    main()
