"""RLOO against a Gradus server: one condition, one seed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import optax
from conditions import Condition
from measures import curve_of
from model import Parameters, Size, log_probabilities, sample
from settings import Settings
from tokens import COMPLETION_LENGTH, END, PAD, PROMPT_LENGTH, decode, encode_prompt
from tqdm import tqdm

from gradus import Client, ContrastPair, GroupOutcome, Run, Task

Tokens = npt.NDArray[np.int32]

_CHUNK = 1024
"""Rows that are sampled at a time in evaluation."""

_PAIRS = 64
"""Contrast pairs of an update that are learned from: the server makes at most four for each of sixteen prompts."""


@dataclass(frozen=True)
class Point:
    """Of the learning curve: share of samples that are right, by set of held-out prompts."""

    update: int
    rollouts: int
    solved: Mapping[str, float]


@dataclass(frozen=True)
class Trained:
    """What one seed of one condition came to.

    Attributes
    ----------
    passes
        By held-out set, pass@k for k = 1 to `Settings.samples`.
    drawn
        Tasks that each arm gave in each update, (updates, arms).
    seconds, waiting
        Of training without evaluations; and of these, spent on calls to the server.

    """

    condition: str
    seed: int
    settings: str
    curve: Sequence[Point]
    passes: Mapping[str, Sequence[float]]
    arms: Sequence[str]
    drawn: Sequence[Sequence[int]]
    seconds: float
    waiting: float


@partial(jax.jit, static_argnames=("size", "optimizer", "entropy", "contrast", "beta"))
def _improve(
    p: Parameters,
    state: optax.OptState,
    tokens: jnp.ndarray,
    advantages: jnp.ndarray,
    pairs: tuple[jnp.ndarray, jnp.ndarray, jnp.ndarray] | None,
    *,
    size: Size,
    optimizer: optax.GradientTransformation,
    entropy: float,
    contrast: float,
    beta: float,
) -> tuple[Parameters, optax.OptState]:
    """One step of RLOO, on-policy, with a bonus for entropy and, where there are pairs, their loss."""

    def loss(p: Parameters) -> jnp.ndarray:
        written = tokens[:, PROMPT_LENGTH:] != PAD
        log_p = log_probabilities(p, size, tokens) * written
        of_sample = log_p.sum(axis=1)
        # The gradient of −E[log p] log p is that of the entropy, estimated by what was sampled.
        surprise = jax.lax.stop_gradient(of_sample)
        total = -(advantages * of_sample).mean() + entropy * (surprise * of_sample).mean()
        return total if pairs is None else total + contrast * _contrast(p, size, pairs, beta)

    change, state = optimizer.update(jax.grad(loss)(p), state, p)
    return optax.apply_updates(p, change), state


def _contrast(
    p: Parameters, size: Size, pairs: tuple[jnp.ndarray, jnp.ndarray, jnp.ndarray], beta: float
) -> jnp.ndarray:
    """−log σ(β (preferred − rejected)) of length-averaged log-probabilities (Curriculum RLOO 3.3)."""
    preferred, rejected, there = pairs

    def average(tokens: jnp.ndarray) -> jnp.ndarray:
        written = tokens[:, PROMPT_LENGTH:] != PAD
        return (log_probabilities(p, size, tokens) * written).sum(axis=1) / jnp.maximum(written.sum(axis=1), 1)

    losses = -jax.nn.log_sigmoid(beta * (average(preferred) - average(rejected)))
    return (losses * there).sum() / jnp.maximum(there.sum(), 1)


class Trainer:
    """One policy in training."""

    def __init__(self, client: Client, condition: Condition, seed: int, settings: Settings, start: Parameters) -> None:
        self.client, self.condition, self.seed, self.settings = client, condition, seed, settings
        self.p = start
        self.optimizer = optax.chain(optax.clip_by_global_norm(1), optax.adam(settings.rate))
        self.state = self.optimizer.init(start)
        self.waiting = 0.0

    def run(self, held_out: Mapping[str, Sequence[Task]]) -> Trained:
        """Trains from start to end."""
        settings, run = self.settings, self._create_run()
        arms = [arm.arm_id for arm in self.condition.arms()]
        curve = [self._point(0, held_out)]
        drawn, seconds, began = [], 0.0, time.monotonic()
        label = f"{self.condition.name}, seed {self.seed}"
        for update, batch in enumerate(tqdm(run.batches(), desc=label, total=settings.updates, unit="update"), start=1):
            given = [task.arm_id for task in batch.tasks]
            drawn.append([given.count(arm) for arm in arms])
            self._update(update, batch.tasks)
            if update % settings.evaluate_every == 0:
                seconds += time.monotonic() - began
                curve.append(self._point(update, held_out))
                began = time.monotonic()
        passes = {name: curve_of(self._solved(tasks, settings.samples)) for name, tasks in held_out.items()}
        return Trained(
            self.condition.name, self.seed, settings.name, curve, passes, arms, drawn, seconds, self.waiting
        )

    def _create_run(self) -> Run:
        settings = self.settings
        name = "".join(each if each.isalnum() else "-" for each in self.condition.name)
        run = self.client.run(f"study-{settings.name}-{name}-{self.seed}")
        run.create(
            arms=self.condition.arms(),
            policy=self.condition.policy(),
            reward_scheme="vcc" if self.condition.contrast else None,
            answer_format="answer_tag",
            num_generations=settings.generations,
            prompts_per_update=settings.prompts,
            length=settings.updates * settings.prompts,
            seed=self.seed,
        )
        return run

    def _update(self, update: int, tasks: Sequence[Task]) -> None:
        settings = self.settings
        prompts = np.repeat(_prompts(tasks), settings.generations, axis=0)
        key = jax.random.fold_in(jax.random.key(self.seed), update)
        completions = np.asarray(sample(self.p, settings.size, prompts, key, 1.0))
        outcomes = self._score(tasks, completions)
        advantages = [each.rloo_advantage or 0.0 for group in outcomes for each in group.outcomes]
        self.p, self.state = _improve(
            self.p,
            self.state,
            _cut(np.concatenate([prompts, completions], axis=1)),
            jnp.array(advantages),
            _pair_tokens(prompts, completions, outcomes, settings.generations) if self.condition.contrast else None,
            size=settings.size,
            optimizer=self.optimizer,
            entropy=settings.entropy,
            contrast=settings.contrast,
            beta=settings.contrast_beta,
        )

    def _score(self, tasks: Sequence[Task], completions: Tokens) -> list[GroupOutcome]:
        """Outcomes in the order of tasks."""
        texts = [decode(each) for each in completions]
        share = len(texts) // len(tasks)
        groups = [task.group(texts[i * share : (i + 1) * share]) for i, task in enumerate(tasks)]
        began = time.monotonic()
        found = {result.group.group_id: result.result() for result in self.client.stream_steps(groups)}
        self.waiting += time.monotonic() - began
        return [found[task.group_id] for task in tasks]

    def _point(self, update: int, held_out: Mapping[str, Sequence[Task]]) -> Point:
        rollouts = update * self.settings.prompts * self.settings.generations
        samples = self.settings.curve_samples
        return Point(update, rollouts, {k: float(self._solved(v, samples).mean()) for k, v in held_out.items()})

    def _solved(self, tasks: Sequence[Task], samples: int) -> npt.NDArray[np.float64]:
        """Which samples of held-out prompts are right, (prompts, samples); they belong to no run."""
        waited = self.waiting
        prompts = np.repeat(_prompts(tasks), samples, axis=0)
        padding = np.repeat(prompts[-1:], -len(prompts) % _CHUNK, axis=0)
        rows = np.concatenate([prompts, padding])
        key = jax.random.key(1_000_003)
        chunks = [
            np.asarray(
                sample(self.p, self.settings.size, rows[i : i + _CHUNK], jax.random.fold_in(key, i), self.settings.temperature)
            )
            for i in range(0, len(rows), _CHUNK)
        ]
        outcomes = self._score(tasks, np.concatenate(chunks)[: len(prompts)])
        self.waiting = waited
        return np.array([[bool(each.solved) for each in group.outcomes] for group in outcomes], float)


def _prompts(tasks: Sequence[Task]) -> Tokens:
    return np.array([encode_prompt(task.prompt[-1]["content"]) for task in tasks], np.int32)


def _cut(tokens: Tokens) -> Tokens:
    """Without columns in which nobody writes; widths are multiples of 8, so that few shapes are compiled."""
    written = int((tokens != PAD).any(axis=0).nonzero()[0].max()) + 1 - PROMPT_LENGTH
    return tokens[:, : PROMPT_LENGTH + min(-(-written // 8) * 8, COMPLETION_LENGTH)]


def _pair_tokens(
    prompts: Tokens, completions: Tokens, outcomes: Sequence[GroupOutcome], generations: int
) -> tuple[Tokens, Tokens, npt.NDArray[np.float32]]:
    """Preferred and rejected rows, (pairs, tokens) each, and 1 where there is a pair."""
    preferred = np.zeros((_PAIRS, prompts.shape[1] + completions.shape[1]), np.int32)
    rejected, there = preferred.copy(), np.zeros(_PAIRS, np.float32)
    found: list[tuple[int, ContrastPair]] = [
        (i * generations, pair) for i, group in enumerate(outcomes) for pair in group.contrast_pairs
    ]
    for at, (first, pair) in enumerate(found[:_PAIRS]):
        for side, index, end in (
            (preferred, pair.preferred_sample_index, pair.preferred_end),
            (rejected, pair.rejected_sample_index, pair.rejected_end),
        ):
            row = first + index
            side[at] = np.concatenate([prompts[row], _up_to(completions[row], end)])
        there[at] = 1
    return preferred, rejected, there


def _up_to(completion: Tokens, end: int) -> Tokens:
    """The tokens that make the first `end` characters of the text; with the end mark, if that is all of it."""
    text = decode(completion)
    if end >= len(text):
        return completion
    kept = completion.copy()
    kept[len(text[:end].split()) :] = PAD
    assert END not in kept
    return kept
