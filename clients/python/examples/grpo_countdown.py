"""Trains a small policy on countdown by GRPO, on tasks that the server's bandit chooses, and draws the plots.

    python grpo_countdown.py --server localhost:50051            # one seed
    python grpo_countdown.py --server localhost:50051 --seeds 3  # three, and a table

In each update the server chooses 32 tasks from eight arms (tiers T0 to T3, synthetic and real). The policy writes 16
completions of each, gets their rewards and GRPO's advantages by a stream, and takes two clipped steps. The bandit
learns from the same scores, so the probabilities of the arms change as the policy improves.

Progress is measured on 200 held-out tasks, 50 of each tier, from the eval split, whose instances no arm draws. Success
is the share of 16 samples of each that hit the target exactly. The gain's interval is a bootstrap over the tasks, each
paired with itself at the start.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

# This must be set before numpy is imported: the network is small, and the server needs the other core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from countdown_plots import plot_arms, plot_success
from countdown_policy import Array, Policy, Puzzle, Rollout
from tqdm import tqdm

import gradus
from gradus import Client, GroupOutcome, Run, Task

TIERS = ("T0", "T1", "T2", "T3")
HARD = ("T2", "T3")
HELD_OUT_PER_TIER = 50
BOOTSTRAPS = 10_000


@dataclass(frozen=True)
class Settings:
    """Settings of a training."""

    updates: int = 400
    prompts: int = 32
    generations: int = 16
    epochs: int = 2
    learning_rate: float = 2e-3
    clip: float = 0.2
    entropy: float = 0.03
    evaluate_every: int = 25


@dataclass(frozen=True)
class Evaluation:
    """Share of samples that hit the target, for each held-out task, after a number of updates."""

    update: int
    success: Array


@dataclass(frozen=True)
class Trained:
    """Result of one seed. `arms` holds each arm's probability in each update, (updates, arms)."""

    seed: int
    run_id: str
    seconds: float
    evaluations: list[Evaluation]
    arm_ids: list[str]
    arms: Array


# --- The server's side: a run whose bandit chooses tasks, and a stream that scores. ---


def create_run(client: Client, seed: int, settings: Settings) -> Run:
    """Creates a run with ADSC's bandit and constraints over eight arms, with a new id."""
    run = client.run(f"grpo-countdown-{uuid.uuid4().hex[:8]}-seed-{seed}")
    run.create(
        arms=[
            gradus.arm("countdown", tier, source=source, hard=tier in HARD)
            for source in ("synthetic", "real")
            for tier in TIERS
        ],
        policy=gradus.bandit(
            constraints=gradus.constraints(real_share_min=0.3, synthetic_share_max=0.5, hard_share_min=0.1)
        ),
        num_generations=settings.generations,
        prompts_per_update=settings.prompts,
        length=settings.updates * settings.prompts,
        seed=seed,
    )
    return run


def held_out_tasks(client: Client) -> list[Task]:
    """Returns the 200 held-out tasks, equal for every seed and every evaluation."""
    specs = [gradus.task_spec("countdown", level=tier, split="eval") for tier in TIERS]
    seeds = range(HELD_OUT_PER_TIER)
    return [result.result() for spec in specs for result in client.batch_reset(spec, seeds)]


def score(client: Client, tasks: Sequence[Task], texts: Sequence[str]) -> list[GroupOutcome]:
    """Returns the outcomes of each task's completions, in the order of tasks."""
    share = len(texts) // len(tasks)
    groups = [task.group(texts[i * share : (i + 1) * share]) for i, task in enumerate(tasks)]
    found = {result.group.group_id: result.result() for result in client.stream_steps(groups)}
    return [found[task.group_id] for task in tasks]


# --- The trainer's side: completions, GRPO's objective, and measurement. ---


def write_completions(policy: Policy, tasks: Iterable[Task], generations: int) -> Rollout:
    """Writes `generations` completions of each task, ordered by task."""
    puzzles = [Puzzle.from_metadata(task.metadata) for task in tasks]
    return policy.sample([puzzle for puzzle in puzzles for _ in range(generations)])


def improve(policy: Policy, rollout: Rollout, advantages: Array, settings: Settings, learning_rate: float) -> None:
    """Takes steps on GRPO's clipped objective (DeepSeekMath, section 4.1) with an entropy bonus and no KL term.

    `advantages` has one for each completion. Completions without a reward have NaN, and are left out.
    """
    advantage = np.nan_to_num(advantages[rollout.sample])
    samples = max(1, np.isfinite(advantages).sum())
    rows = np.arange(len(rollout.move))
    for _ in range(settings.epochs):
        log_p = policy.log_probabilities(rollout.features, rollout.legal)
        ratio = np.exp(log_p[rows, rollout.move] - rollout.log_probability)
        # If the clipped term is the smaller one, it is constant, and its gradient is 0.
        clipped = np.where(advantage > 0, ratio > 1 + settings.clip, ratio < 1 - settings.clip)
        weight = np.where(clipped, 0.0, advantage * ratio)
        p = np.exp(log_p)
        gradient = p * weight[:, None]
        gradient[rows, rollout.move] -= weight
        entropy = -(p * log_p).sum(axis=1, keepdims=True)
        gradient += settings.entropy * p * (log_p + entropy)
        policy.descend(gradient / samples, learning_rate)


def evaluate(client: Client, policy: Policy, tasks: Sequence[Task], update: int, generations: int) -> Evaluation:
    """Samples and scores the held-out tasks. They belong to no run, so the bandit does not learn from them."""
    rollout = write_completions(policy, tasks, generations)
    outcomes = score(client, tasks, rollout.texts)
    return Evaluation(update, np.array([solved_share(group) for group in outcomes]))


def solved_share(group: GroupOutcome) -> float:
    """Returns the share of solved samples among those that could be scored. The server's failures do not count."""
    solved = [each.solved for each in group.outcomes if each.solved is not None]
    return float(np.mean(solved)) if solved else 0.0


def interval(values: Array) -> tuple[float, float]:
    """Returns the 95% bootstrap interval of the mean over tasks."""
    rng = np.random.default_rng(0)
    means = values[rng.integers(len(values), size=(BOOTSTRAPS, len(values)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


# --- The loop. ---


def train(client: Client, seed: int, settings: Settings) -> Trained:
    """Trains one policy from scratch."""
    began = time.monotonic()
    policy = Policy(seed)
    run = create_run(client, seed, settings)
    held_out = held_out_tasks(client)
    evaluations = [evaluate(client, policy, held_out, 0, settings.generations)]
    progress = tqdm(total=settings.updates, desc=f"seed {seed}", unit="update")
    for update, batch in enumerate(run.batches(), start=1):
        rollout = write_completions(policy, batch.tasks, settings.generations)
        outcomes = [each for group in score(client, batch.tasks, rollout.texts) for each in group.outcomes]
        advantages = np.array([each.grpo_advantage for each in outcomes], dtype=float)
        decay = 1 - 0.9 * update / settings.updates
        improve(policy, rollout, advantages, settings, settings.learning_rate * decay)
        if update % settings.evaluate_every == 0 or update == settings.updates:
            evaluations.append(evaluate(client, policy, held_out, update, settings.generations))
        solved = np.mean([each.solved for each in outcomes if each.solved is not None])
        held_out_success = evaluations[-1].success.mean()
        progress.set_postfix(solved=f"{solved:.2f}", held_out=f"{held_out_success:.3f}", refresh=False)
        progress.update()
    progress.close()
    batches = [record.batch for record in run.history() if record.batch is not None]
    return Trained(
        seed=seed,
        run_id=run.run_id,
        seconds=time.monotonic() - began,
        evaluations=evaluations,
        arm_ids=[arm.arm_id for arm in run.get().state.arms],
        arms=np.array([record.probabilities for record in batches]),
    )


# --- The report. ---


@dataclass(frozen=True)
class Figures:
    """Result of one seed in numbers; `gain_low` and `gain_high` bound the gain's 95% interval."""

    seed: int
    run_id: str
    start: float
    end: float
    gain: float
    gain_low: float
    gain_high: float
    end_by_tier: dict[str, float]
    seconds: float


def figures(trained: Trained) -> Figures:
    """Returns the figures of one seed."""
    start, end = trained.evaluations[0].success, trained.evaluations[-1].success
    low, high = interval(end - start)
    return Figures(
        seed=trained.seed,
        run_id=trained.run_id,
        start=float(start.mean()),
        end=float(end.mean()),
        gain=float((end - start).mean()),
        gain_low=low,
        gain_high=high,
        end_by_tier=dict(zip(TIERS, end.reshape(len(TIERS), -1).mean(axis=1).tolist(), strict=True)),
        seconds=round(trained.seconds, 1),
    )


def table(rows: Sequence[Figures]) -> str:
    """Returns the figures as a table."""
    lines = ["seed  start    end   gain  95% interval    seconds  end by tier"]
    for row in rows:
        tiers = ", ".join(f"{tier} {share:.2f}" for tier, share in row.end_by_tier.items())
        lines.append(
            f"{row.seed:>4}  {row.start:.3f}  {row.end:.3f}  {row.gain:.3f}"
            f"  {row.gain_low:.3f} to {row.gain_high:.3f}  {row.seconds:>7.1f}  {tiers}"
        )
    return "\n".join(lines)


def draw(out: Path, results: Sequence[Trained]) -> list[Path]:
    """Writes the plots, and returns their paths."""
    out.mkdir(parents=True, exist_ok=True)
    success, arms = out / "success.png", out / "arms.png"
    points = {
        each.seed: [(e.update, float(e.success.mean()), *interval(e.success)) for e in each.evaluations]
        for each in results
    }
    plot_success(success, points)
    plot_arms(arms, {each.seed: (each.arm_ids, each.arms) for each in results})
    return [success, arms]


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the command line. Returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--server", default="localhost:50051", help="address of the gRPC port (default: %(default)s)")
    parser.add_argument("--token", help="the server's bearer token, if it wants one")
    parser.add_argument(
        "--seeds", type=int, default=1, help="how many seeds to train, from 0 on (default: %(default)s)"
    )
    parser.add_argument("--updates", type=int, default=Settings.updates, help="of each seed (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("out/grpo-countdown"), help="folder of the plots")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(arguments)
    settings = Settings(updates=options.updates)
    try:
        with Client(options.server, token=options.token) as client:
            results = [train(client, seed, settings) for seed in range(options.seeds)]
    except gradus.GradusError as error:
        print(f"grpo_countdown: {error}", file=sys.stderr)
        return 1
    plots = draw(options.out, results)
    rows = [figures(each) for each in results]
    if options.json:
        report = {"settings": asdict(settings), "seeds": [asdict(each) for each in rows], "plots": [*map(str, plots)]}
        print(json.dumps(report))
    else:
        print(table(rows), *(f"plot: {each}" for each in plots), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
