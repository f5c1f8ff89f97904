"""Runs one training of the study of sequences, with a Gradus server."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from sequence_plan import (
    EVALUATE_EVERY,
    GENERATIONS,
    GROUPS_MAX,
    HELD_OUT,
    IMITATION_ROWS,
    IMITATION_STEPS,
    PROMPTS,
    RATE,
    Condition,
    Family,
    Part,
)
from sequence_policy import Rows, State, given_rows, improve, initial, optimizer, sample
from tqdm import tqdm

from gradus import Arm, Client, GroupOutcome, Run, Task, task_spec

_DIGITS_STEP = 5
"""The number of digits that are computed is a multiple of it, so that jax compiles few shapes."""
_EVALUATED_EVERY = EVALUATE_EVERY * PROMPTS * GENERATIONS
"""Rollouts."""


@dataclass(frozen=True)
class Point:
    """Point of the learning curve: the share of held-out tasks that is right, by length."""

    rollouts: int
    right: Sequence[float]


@dataclass(frozen=True)
class Trained:
    """Result of one seed of one condition; `drawn`: tasks of each length by update batch, (batches, lengths)."""

    part: str
    condition: str
    seed: int
    rate: float
    curve: Sequence[Point]
    drawn: Sequence[Sequence[int]]
    seconds: float


@dataclass(frozen=True)
class _Rows:
    """Completions to learn from, of at most PROMPTS groups."""

    given: Rows
    answers: Rows
    lengths: Rows
    advantages: np.ndarray

    @classmethod
    def none(cls, length_max: int) -> _Rows:
        """Returns no rows."""
        empty = np.zeros((0, length_max), np.int32)
        return cls(given_rows([], length_max), empty, np.zeros(0, np.int32), np.zeros(0))

    def and_those_of(self, more: _Rows) -> _Rows:
        """Returns these rows and others."""
        return _Rows(
            np.concatenate([self.given, more.given]),
            np.concatenate([self.answers, more.answers]),
            np.concatenate([self.lengths, more.lengths]),
            np.concatenate([self.advantages, more.advantages]),
        )

    def useful_first(self) -> _Rows:
        """Returns rows of PROMPTS groups: first groups whose outcomes differ, then others. Their number is constant."""
        differ = self.advantages.reshape(-1, GENERATIONS).any(axis=1)
        order = np.argsort(~differ, kind="stable")[:PROMPTS]
        rows = (order[:, None] * GENERATIONS + np.arange(GENERATIONS)).ravel()
        return _Rows(self.given[rows], self.answers[rows], self.lengths[rows], self.advantages[rows])


class SequenceTrainer:
    """Trains one policy, from start to end."""

    def __init__(
        self, client: Client, part: Part[Family], condition: Condition, seed: int, shares: Sequence[float]
    ) -> None:
        self.client, self.part, self.family = client, part, part.family
        self.condition, self.seed, self.shares = condition, seed, shares
        self.length_max = max(part.family.lengths)
        weights = initial(seed, self.length_max)
        self.state: State = (weights, optimizer(RATE).init(weights))
        self.rollouts = 0

    def train(self) -> Trained:
        """Trains, with evaluations on the way."""
        began = time.monotonic()
        if self.family.imitated:
            self._imitate()
        held_out = self._held_out()
        curve = [self._point(held_out)]
        drawn: list[list[int]] = []
        rows, batch_of_rows = _Rows.none(self.length_max), -1
        label = f"{self.part.name}: {self.condition.name}, seed {self.seed}"
        progress = tqdm(total=self.part.rollouts, desc=label, unit="rollout")
        for batch in self._run().batches():
            # With a reserve, a batch goes on until enough groups are useful. Only then is there a step.
            if batch.tasks[0].update_batch != batch_of_rows:
                self._learn(rows)
                rows, batch_of_rows = _Rows.none(self.length_max), batch.tasks[0].update_batch
                drawn.append([0] * self.length_max)
                if self.rollouts >= len(curve) * _EVALUATED_EVERY:
                    curve.append(self._point(held_out))
                if self.rollouts >= self.part.rollouts:
                    break
            for task in batch.tasks:
                drawn[-1][len(_sequence(task)) - 1] += 1
            rows = rows.and_those_of(self._rollouts(batch.tasks))
            progress.update(len(batch.tasks) * GENERATIONS)
        else:
            self._learn(rows)
        if self.rollouts > curve[-1].rollouts:
            curve.append(self._point(held_out))
        drawn = [each for each in drawn if any(each)]
        seconds = round(time.monotonic() - began, 1)
        return Trained(self.part.name, self.condition.name, self.seed, RATE, curve, drawn, seconds)

    def _run(self) -> Run:
        # An interrupted training starts again as a new run; the draws do not depend on the run's name.
        run = self.client.run(f"sequences-{uuid.uuid4().hex}")
        run.create(
            arms=self._arms(),
            policy=self.condition.policy(self.seed, self.shares),
            answer_format="answer_tag",
            num_generations=GENERATIONS,
            prompts_per_update=PROMPTS,
            length=self.part.updates * PROMPTS,
            seed=self.seed,
            **self.condition.options,
        )
        return run

    def _arms(self) -> list[Arm]:
        arms = self.condition.arms(self.family)
        if not self.condition.needs:
            return arms
        return [replace(arm, weight=share) for arm, share in zip(arms, self.shares, strict=True)]

    def _rollouts(self, tasks: Sequence[Task]) -> _Rows:
        sequences = [_sequence(task) for task in tasks for _ in range(GENERATIONS)]
        given = given_rows(sequences, self.length_max)
        # The number of rows is constant, so that jax compiles only one shape.
        padded = np.concatenate([given, np.repeat(given[-1:], PROMPTS * GENERATIONS - len(given), axis=0)])
        digits = self._digits(max(map(len, sequences)))
        answers = self._sample(padded, self.rollouts, digits)[: len(given)]
        groups = self._score(tasks, sequences, answers)
        advantages = np.array([each.rloo_advantage or 0.0 for group in groups for each in group.outcomes])
        self.rollouts += len(given)
        return _Rows(given, answers, np.array([len(each) for each in sequences], np.int32), advantages)

    def _digits(self, length: int) -> int:
        """Returns the number of digits to compute for answers of this length."""
        return min(-(-length // _DIGITS_STEP) * _DIGITS_STEP, self.length_max)

    def _sample(self, given: Rows, at: int, digits: int) -> Rows:
        """Returns answers to rows, (rows, length_max), with 0 from place `digits` on."""
        key = jax.random.fold_in(jax.random.key(self.seed), at)
        answers = np.zeros((len(given), self.length_max), np.int32)
        answers[:, :digits] = sample(self.state[0], given, key, self.family.symbols, digits)
        return answers

    def _score(self, tasks: Sequence[Task], sequences: Sequence[Sequence[int]], answers: Rows) -> list[GroupOutcome]:
        texts = _texts(sequences, answers)
        each = len(texts) // len(tasks)
        # A token is a digit.
        groups = [
            task.group(texts[i * each : (i + 1) * each], tokens=[len(_sequence(task))] * each)
            for i, task in enumerate(tasks)
        ]
        found = {result.group.group_id: result.result() for result in self.client.stream_steps(groups)}
        return [found[task.group_id] for task in tasks]

    def _learn(self, rows: _Rows) -> None:
        if len(rows.advantages) == 0:
            return
        kept = rows.useful_first()
        missing = PROMPTS * GENERATIONS - len(kept.advantages)
        if missing:
            empty = _Rows(kept.given[:1], kept.answers[:1], kept.lengths[:1], np.zeros(1))
            for _ in range(missing):
                kept = kept.and_those_of(empty)
        self._step(kept)

    def _step(self, rows: _Rows, rate: float = RATE) -> None:
        symbols = self.family.symbols
        answers = rows.answers[:, : self._digits(int(rows.lengths.max()))]
        arrays = (jnp.asarray(each) for each in (rows.given, answers, rows.lengths, rows.advantages))
        self.state = improve(self.state, *arrays, symbols, rate)

    def _imitate(self) -> None:
        """Imitates right answers of length 1, which teach a cipher's table but nothing about longer sequences."""
        right = self._right_digits()
        rng = np.random.default_rng([self.seed, 31])
        for _ in range(IMITATION_STEPS):
            digits = rng.integers(self.family.symbols, size=IMITATION_ROWS)
            answers = np.zeros((IMITATION_ROWS, self.length_max), np.int32)
            answers[:, 0] = [right[digit] for digit in digits]
            ones = np.ones(IMITATION_ROWS)
            self._step(
                _Rows(given_rows(digits[:, None].tolist(), self.length_max), answers, ones.astype(np.int32), ones),
                RATE / 10,
            )

    def _right_digits(self) -> dict[int, int]:
        """Returns the right answer for each single digit, which it finds by the server's scores."""
        spec = task_spec(self.family.environment, parameters=self.family.parameters(1), answer_format="answer_tag")
        tasks = {_sequence(made.result())[0]: made.result() for made in self.client.batch_reset(spec, range(HELD_OUT))}
        digits = range(self.family.symbols)
        groups = [tasks[digit].group(_texts([[0]] * len(digits), np.array(digits)[:, None])) for digit in digits]
        outcomes = self.client.batch_step(groups)
        return {
            digit: next(answer for answer, outcome in enumerate(group.outcomes) if outcome.solved)
            for digit, group in zip(digits, outcomes, strict=True)
        }

    def _held_out(self) -> list[list[Task]]:
        """Returns held-out tasks by length, which depend on the seed alone."""
        sets = []
        for length in self.family.lengths:
            spec = task_spec(
                self.family.environment,
                parameters=self.family.parameters(length),
                split="eval",
                answer_format="answer_tag",
            )
            seeds = [(self.seed << 32) + i for i in range(HELD_OUT)]
            sets.append([made.result() for made in self.client.batch_reset(spec, seeds)])
        return sets

    def _point(self, held_out: Sequence[Sequence[Task]]) -> Point:
        tasks = [task for tasks in held_out for task in tasks]
        sequences = [_sequence(task) for task in tasks]
        # This seed is unlike those of all rollouts.
        answers = self._sample(given_rows(sequences, self.length_max), (1 << 30) + self.rollouts, self.length_max)
        groups = [task.group([text]) for task, text in zip(tasks, _texts(sequences, answers), strict=True)]
        parts = [groups[i : i + GROUPS_MAX] for i in range(0, len(groups), GROUPS_MAX)]
        solved = [group.outcomes[0].solved for part in parts for group in self.client.batch_step(part)]
        by_length = np.array(solved, float).reshape(len(held_out), HELD_OUT).mean(axis=1)
        return Point(self.rollouts, by_length.tolist())


def _sequence(task: Task) -> list[int]:
    return [int(digit) for digit in task.metadata["sequence"].split()]


def _texts(sequences: Sequence[Sequence[int]], answers: Rows) -> list[str]:
    """Returns completions, each cut to as many digits as its sequence has."""
    return [
        f"<answer>[{', '.join(map(str, answer[: len(sequence)]))}]</answer>"
        for sequence, answer in zip(sequences, answers, strict=True)
    ]


def shares_of(drawn: Sequence[Sequence[Sequence[int]]]) -> list[float]:
    """Returns the mean shares of arms over trainings, from the tasks that each drew, (trainings, batches, arms)."""
    totals = [np.sum(each, axis=0) for each in drawn]
    shares: list[float] = np.mean([each / each.sum() for each in totals], axis=0).tolist()
    return shares
