"""How long TRL waits for Gradus in a step, with and without prefetch; and for scores, as the client can ask for them.

    make serve                                                 # in another terminal
    make .trainers/.installed
    .trainers/bin/python bench/trainers/wait.py                 # --server localhost:50051

A step is one update batch of 32 prompts with 16 completions each, written by a tiny random policy, so that the waits
are the server's and the client's and not the policy's. Completions of a real policy are longer than its, which is what
--padding is for: so many characters of thoughts are put in front of each.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "clients/python/tests_trainers"))

import gradus
import tiny
from gradus import CompletionGroup
from gradus.trl import GradusSpec, _rewards
from gradus.trl._scorer import Scorer
from trl_training import settings, trainer_of

PROMPTS = 32
GENERATIONS = 16
WARM_UP = 3
ROUNDS = 2
"""How often a training with prefetch and one without take turns: whichever comes first in a process is slower."""


def run_config() -> dict[str, Any]:
    """A bandit over four tiers of countdown."""
    return {
        "arms": [gradus.arm("countdown", tier) for tier in ("T0", "T1", "T2", "T3")],
        "policy": gradus.bandit(),
        "num_generations": GENERATIONS,
        "prompts_per_update": PROMPTS,
        "seed": 1,
    }


def row(name: str, seconds: list[float]) -> None:
    """Prints a line of the table, in ms."""
    ordered = sorted(1000 * each for each in seconds)
    high = ordered[int(0.9 * len(ordered))]
    print(f"{name:44} {statistics.median(ordered):8.1f} {high:8.1f} {ordered[-1]:8.1f}")


def training(server: str, policy: Path, steps: int, prefetch: bool) -> list[dict[str, float]]:
    """The log of each step of GRPOTrainer."""
    spec = GradusSpec(server, f"wait-{uuid.uuid4().hex[:8]}", run_config(), prefetch=prefetch)
    with tempfile.TemporaryDirectory() as out:
        given = settings(out, per_device_train_batch_size=64, max_steps=steps + WARM_UP, disable_tqdm=True)
        trainer = trainer_of(spec, policy, **given, log_level="error")
        trainer.remove_callback(
            next(type(each) for each in trainer.callback_handler.callbacks if "Printer" in str(each))
        )
        trainer.train()
    spec.run.delete()
    return [each for each in trainer.state.log_history if "gradus/wait_ms" in each][WARM_UP:]


def trainings(server: str, policy: Path, steps: int) -> None:
    """Steps of GRPOTrainer with and without prefetch, by turns."""
    found: dict[bool, list[dict[str, float]]] = {True: [], False: []}
    for _ in range(ROUNDS):
        for prefetch, logs in found.items():
            logs.extend(training(server, policy, steps, prefetch))
    for prefetch, logs in found.items():
        how = "with prefetch" if prefetch else "without prefetch"
        for part in ("wait_ms", "wait_tasks_ms", "wait_scores_ms"):
            row(f"{how}: gradus/{part}", [each[f"gradus/{part}"] / 1000 for each in logs])
        step = sum(each["step_time"] for each in logs)
        share = (
            sum(each["gradus/wait_ms"] for each in logs)
            / 1000
            / (step + sum(each["gradus/wait_tasks_ms"] for each in logs) / 1000)
        )
        print(f"{how}: {share:.2%} of the step's time ({step / len(logs):.2f} s each)")


def scores(server: str, steps: int, padding: int) -> None:
    """Scores of as many completions without a trainer, by turns: as `gradus.trl` asks for them, and as a client can."""
    with gradus.Client(server) as client:
        run = client.run(f"scores-{uuid.uuid4().hex[:8]}")
        run.create(**run_config())
        scorer = Scorer(client, patience=60)
        ways: dict[str, Callable[[list[CompletionGroup]], object]] = {
            "in calls at once": scorer.score,
            "streamed": lambda groups: [each.result() for each in client.stream_steps(groups)],
            "in one message": client.batch_step,
        }
        taken: dict[str, list[float]] = {how: [] for how in ways}
        for i in range(steps + WARM_UP):
            for how, ask in ways.items():
                texts = [f"<think>{'x' * padding}{i}-{j}</think><answer>1 + 1</answer>" for j in range(GENERATIONS)]
                groups = [task.group(texts) for task in run.next_batch().tasks]
                began = time.perf_counter()
                ask(groups)
                taken[how].append(time.perf_counter() - began)
        for how, seconds in taken.items():
            row(f"scores {how}", seconds[WARM_UP:])
        run.delete()


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="localhost:50051")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--padding", type=int, default=3000)
    options = parser.parse_args()
    thoughts = "x" * options.padding
    plain = _rewards.texts_of
    _rewards.texts_of = lambda *given: [text.replace("<think>", "<think>" + thoughts, 1) for text in plain(*given)]
    print(f"{'ms':44} {'median':>8} {'p90':>8} {'greatest':>8}")
    scores(options.server, options.steps, options.padding)
    with tempfile.TemporaryDirectory() as folder:
        trainings(options.server, tiny.save(Path(folder)), options.steps)


if __name__ == "__main__":
    main()
