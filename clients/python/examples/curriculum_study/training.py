"""Trains one policy with a Gradus server, for one condition and one seed."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax
from experiment import Condition, Settings, Setup, slug
from learning import Objective, improve, pairs_of, without_empty_columns
from measures import curve_of
from model import sample
from start import Start
from tokens import Tokens
from tqdm import tqdm

from gradus import Client, GroupOutcome, Outcome, Run, Task

_CHUNK, _ROWS_STEP = 1024, 64
"""Maximum rows that are sampled at a time in evaluation; their number is a multiple of the step."""

Facts = Mapping[str, float]
"""Means over all samples of a held-out set: "solved", "feasible", and "quality", which is 0 if none is feasible."""


@dataclass(frozen=True)
class Point:
    """Point of the learning curve: facts by held-out set."""

    update: int
    rollouts: int
    sets: Mapping[str, Facts]


@dataclass(frozen=True)
class Trained:
    """Result of one seed of one condition.

    Attributes
    ----------
    final, passes
        Facts and pass@k for k = 1 to `Settings.samples`, by held-out set.
    start
        Name of the weights at the start. Figures of different starts are not compared.
    drawn
        Tasks of each arm, or of each of `Setup.kinds`, in each update, (updates, arms).
    seconds, waiting
        Seconds of training without evaluations, and the part of them that was spent on scoring.

    """

    experiment: str
    condition: str
    seed: int
    settings: str
    start: str
    curve: Sequence[Point]
    final: Mapping[str, Facts]
    passes: Mapping[str, Sequence[float]]
    arms: Sequence[str]
    drawn: Sequence[Sequence[int]]
    seconds: float
    waiting: float


class Trainer:
    """One policy, from start to end."""

    def __init__(
        self,
        client: Client,
        experiment: Setup,
        size: str,
        condition: Condition,
        seed: int,
        start: Start,
    ) -> None:
        settings = experiment.settings[size]
        self.client, self.experiment, self.condition, self.seed = client, experiment, condition, seed
        self.name, self.settings, self.language = size, settings, experiment.language
        optimizer = optax.chain(optax.clip_by_global_norm(1), optax.adam(settings.rate))
        self.start, self.p, self.state = start.name, start.weights, optimizer.init(start.weights)
        self.objective = Objective(
            settings.size, optimizer, settings.entropy, settings.contrast, settings.contrast_beta
        )
        self.waiting = 0.0

    def train(self) -> Trained:
        """Trains, with evaluations on the way and at the end."""
        settings, run = self.settings, self._create_run()
        held_out = self.experiment.held_out(self.client, settings)
        arms = self.experiment.kinds or [arm.arm_id for arm in self.condition.arms()]
        curve = [self._point(0, held_out, settings)]
        drawn, seconds, began = [], 0.0, time.monotonic()
        label = f"{self.condition.name}, seed {self.seed}"
        for update, batch in enumerate(tqdm(run.batches(), desc=label, total=settings.updates, unit="update"), start=1):
            given = [self.experiment.kind_of(task) for task in batch.tasks]
            drawn.append([given.count(arm) for arm in arms])
            self._update(update, batch.tasks)
            if update % settings.evaluate_every == 0:
                seconds += time.monotonic() - began
                curve.append(self._point(update, held_out, settings))
                began = time.monotonic()
        final = {name: self._evaluate(tasks, settings.samples) for name, tasks in held_out.items()}
        return Trained(
            experiment=self.experiment.name,
            condition=self.condition.name,
            seed=self.seed,
            settings=self.name,
            start=self.start,
            curve=curve,
            final={name: _facts(outcomes) for name, outcomes in final.items()},
            passes={name: curve_of(_solved(outcomes)) for name, outcomes in final.items()},
            arms=arms,
            drawn=drawn,
            seconds=round(seconds, 1),
            waiting=round(self.waiting, 2),
        )

    def _create_run(self) -> Run:
        settings, condition = self.settings, self.condition
        # An interrupted training starts again as a new run; the draws do not depend on the run's name.
        run = self.client.run(
            f"{self.experiment.name}-{self.name}-{slug(condition.name)}-{self.seed}-{uuid.uuid4().hex[:8]}"
        )
        run.create(
            arms=condition.arms(),
            policy=condition.policy(),
            reward_scheme=condition.reward_scheme,
            answer_format="answer_tag",
            num_generations=settings.generations,
            prompts_per_update=settings.prompts,
            length=settings.updates * settings.prompts,
            seed=self.seed,
        )
        return run

    def _update(self, update: int, tasks: Sequence[Task]) -> None:
        settings = self.settings
        prompts = np.repeat(self._prompts(tasks), settings.generations, axis=0)
        key = jax.random.fold_in(jax.random.key(self.seed), update)
        completions = np.asarray(sample(self.p, settings.size, prompts, key, 1.0))
        began = time.monotonic()
        groups = self._score(tasks, completions)
        self.waiting += time.monotonic() - began
        # A sample without a reward teaches nothing, because that is not the policy's fault.
        advantages = [each.rloo_advantage or 0.0 for group in groups for each in group.outcomes]
        pairs = None
        if self.condition.contrast:
            pairs = pairs_of(self.language, prompts, completions, groups, settings.generations)
        rows = without_empty_columns(self.language, np.concatenate([prompts, completions], axis=1))
        self.p, self.state = improve(self.p, self.state, rows, jnp.array(advantages), pairs, self.objective)

    def _score(self, tasks: Sequence[Task], completions: Tokens) -> list[GroupOutcome]:
        """Returns outcomes in the order of tasks. Completions of a task are in a row."""
        texts = [self.language.text(each) for each in completions]
        share = len(texts) // len(tasks)
        groups = [task.group(texts[i * share : (i + 1) * share]) for i, task in enumerate(tasks)]
        found = {result.group.group_id: result.result() for result in self.client.stream_steps(groups)}
        return [found[task.group_id] for task in tasks]

    def _point(self, update: int, held_out: Mapping[str, Sequence[Task]], settings: Settings) -> Point:
        sets = {name: _facts(self._evaluate(tasks, settings.curve_samples)) for name, tasks in held_out.items()}
        return Point(update, update * settings.prompts * settings.generations, sets)

    def _evaluate(self, tasks: Sequence[Task], samples: int) -> list[Sequence[Outcome]]:
        """Returns outcomes of each held-out prompt. The tasks belong to no run, so no curriculum learns from them."""
        prompts = np.repeat(self._prompts(tasks), samples, axis=0)
        # Rows are padded, so that jax compiles few shapes.
        chunk = min(_CHUNK, len(prompts) + -len(prompts) % _ROWS_STEP)
        padding = np.repeat(prompts[-1:], -len(prompts) % chunk, axis=0)
        rows = np.concatenate([prompts, padding])
        key, size, temperature = jax.random.key(1_000_003), self.settings.size, self.settings.temperature
        chunks = [
            np.asarray(sample(self.p, size, rows[i : i + chunk], jax.random.fold_in(key, i), temperature))
            for i in range(0, len(rows), chunk)
        ]
        return [group.outcomes for group in self._score(tasks, np.concatenate(chunks)[: len(prompts)])]

    def _prompts(self, tasks: Sequence[Task]) -> Tokens:
        return np.stack([self.language.prompt(task.prompt[-1]["content"]) for task in tasks])


def _solved(outcomes: Sequence[Sequence[Outcome]]) -> np.ndarray:
    return np.array([[bool(each.solved) for each in group] for group in outcomes], float)


def _facts(outcomes: Sequence[Sequence[Outcome]]) -> Facts:
    every = [each for group in outcomes for each in group]
    feasible = np.array([each.verdict == "feasible" for each in every], float)
    quality = np.array([each.ratio or float(bool(each.solved)) for each in every])
    return {
        "solved": float(_solved(outcomes).mean()),
        "feasible": float(feasible.mean()),
        "quality": float((feasible * quality).mean()),
    }
