"""Common part of `TextEnv` and `TextVectorEnv`: gets tasks and scores completions."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from gradus._arguments import check_text, listed
from gradus.arms import SpecOptions, task_spec
from gradus.client import Client
from gradus.enums import TextTools
from gradus.outcomes import Outcome
from gradus.rollouts import PolicyTurn
from gradus.runs import RunConfig
from gradus.tasks import Task, TaskSpec
from gradus.training import (
    Place,
    RunAddress,
    SampleIndices,
    TaskReader,
    TaskReference,
    WrittenCompletion,
    check_batches,
    check_scored_by_step,
    reward_or,
    score_all,
)

SERVER = "gradus://localhost:50051"
FAMILY = frozenset(SpecOptions.__annotations__)
"""Names of the options of a family of tasks."""

_SEED_END = 2**63
"""Upper bound of random seeds of tasks, because numpy's random integers are below it."""


class Shown:
    """A task whose prompt was shown and has no completion yet, with the index of that completion in its group."""

    def __init__(self, task: Task, reference: TaskReference, sample_index: int | None) -> None:
        self.task = task
        self.reference = reference
        self.sample_index = sample_index
        self.is_answered = False
        self.prompt = "\n\n".join(each["content"] for each in task.prompt)

    @property
    def place(self) -> Place:
        """Returns the position at which the episode begins."""
        size = self.reference.num_generations
        return Place(self.task, self.sample_index or 0, size, self.task.task_id)

    def info(self) -> dict[str, Any]:
        """Returns Gymnasium's `info` about the task, as a new dictionary, because the caller may change it."""
        task = self.task
        return {
            "environment": task.environment,
            "level": task.level,
            "arm": task.arm_id,
            "instance_hash": task.instance_hash,
            "messages": [dict(each) for each in task.prompt],
            "metadata": dict(task.metadata),
        }


class _Source(Protocol):
    def next(self, count: int, seed: int | None, random: np.random.Generator) -> list[Shown]: ...

    def put_back(self, shown: Sequence[Shown]) -> None: ...


class Game:
    """Gets tasks and scores completions."""

    def __init__(
        self,
        environment: str | None,
        address: str,
        max_prompt_length: int,
        unscored: float | None,
        patience: float,
        family: SpecOptions,
        at_once: int,
    ) -> None:
        at = self._at = RunAddress.parse(address)
        self.client = at.client(patience=patience)
        self._places = SampleIndices()
        self._max_prompt_length = max_prompt_length
        self._unscored = unscored
        self._patience = patience
        if (environment is None) != bool(at.run_id):
            raise ValueError(
                f'environment={environment!r} and address="{address}": name an environment of the server, or the '
                f"address of a run ({SERVER}/my-run), and not both"
            )
        self._source: _Source = (
            _Run(self.client, at, at_once)
            if environment is None
            else _Family(self.client, at, task_spec(environment, **family))
        )

    def show(self, count: int, seed: int | None, random: np.random.Generator) -> list[Shown]:
        """Returns the next tasks, (count,)."""
        shown = self._source.next(count, seed, random)
        for each in shown:
            if len(each.prompt) > self._max_prompt_length:
                raise ValueError(
                    f"max_prompt_length={self._max_prompt_length} is too small: a prompt of "
                    f"{each.task.environment} has {len(each.prompt)} characters"
                )
        return shown

    def go_on(
        self, shown: Shown, place: Place, text: str, text_tools: TextTools | None
    ) -> tuple[Place | None, Outcome, float]:
        """Plays a step of an episode. Returns the next position (None: it was the last step), outcome and reward.

        The last step has the reward of the whole episode. The other steps have reward 0.
        """
        reason, end = getattr(text, "finish_reason", None), getattr(text, "end", False)
        turn = PolicyTurn(check_text(text, "action"), finish_reason=reason, end=end, text_tools=text_tools)
        after, outcome = place.after(self.client, turn, self._patience)
        shown.is_answered = after is None
        return after, outcome, 0.0 if after is not None else reward_or(outcome, self._unscored)

    def shown_at(self, place: Place) -> Shown:
        """Returns the task of a position."""
        return Shown(place.task, TaskReference.of(place.task, self._at, place.size), place.sample_index)

    def put_back(self, shown: Sequence[Shown]) -> None:
        """Takes back tasks. Shows those without a completion again later, because their run waits for it."""
        self._source.put_back([each for each in shown if not each.is_answered])

    def play(self, shown: Sequence[Shown], completions: Sequence[str]) -> list[tuple[Outcome, float]]:
        """Returns outcomes and rewards, (n,)."""
        texts = [check_text(text, f"actions[{at}]") for at, text in enumerate(listed(completions, str, "actions"))]
        if len(texts) != len(shown):
            raise ValueError(f"actions: want one for each environment, {len(shown)}; got {len(texts)}")
        written = [
            WrittenCompletion(each.reference, text, each.sample_index, getattr(text, "finish_reason", None))
            for each, text in zip(shown, texts, strict=True)
        ]
        outcomes = score_all(self.client, self._places, written, self._patience)
        for each in shown:
            each.is_answered = True
        return [(each, reward_or(each, self._unscored)) for each in outcomes]


class _Family:
    """Tasks of a family: those of a given seed and the seeds after it, or of random seeds."""

    def __init__(self, client: Client, address: RunAddress, spec: TaskSpec) -> None:
        self._client = client
        self._address = address
        self._spec = spec

    def next(self, count: int, seed: int | None, random: np.random.Generator) -> list[Shown]:
        seeds = random.integers(0, _SEED_END, count) if seed is None else range(seed, seed + count)
        results = self._client.batch_reset(self._spec, map(int, seeds))
        return [self._shown(each.result()) for each in results]

    def put_back(self, shown: Sequence[Shown]) -> None:
        """Does nothing: outside of a run nobody waits for a task's completion."""

    def _shown(self, task: Task) -> Shown:
        return Shown(task, TaskReference.of(task, self._address, 1), 0)


class _Run:
    """Tasks of a run, each as often as the run's `num_generations`."""

    def __init__(self, client: Client, address: RunAddress, at_once: int) -> None:
        run = client.run(address.run_id)
        self._address = address
        self._at_once = at_once
        self._size = 0
        self._reader = TaskReader(run, self._fit)
        self._ready: deque[Shown] = deque()
        self._fit(run.get().config_now)

    def _fit(self, config: RunConfig) -> None:
        """Checks the run's current sizes and stores num_generations, because `Run.update_shape` may change them."""
        check_scored_by_step(config)
        check_batches(config, self._at_once, "num_envs", of_a_prompt=config.num_generations)
        self._size = config.num_generations

    def next(self, count: int, seed: int | None, random: np.random.Generator) -> list[Shown]:
        while len(self._ready) < count:
            tasks = self._reader.take(-(-(count - len(self._ready)) // self._size))
            if not tasks:
                raise ValueError(
                    f"run {self._address.run_id!r} has ended: create one with a greater length, or 0 for no end"
                )
            for task in tasks:
                reference = TaskReference.of(task, self._address, self._size)
                self._ready += [Shown(task, reference, index) for index in range(self._size)]
        return [self._ready.popleft() for _ in range(count)]

    def put_back(self, shown: Sequence[Shown]) -> None:
        self._ready.extendleft(reversed(shown))


def facts(outcome: Outcome) -> dict[str, Any]:
    """Returns Gymnasium's `info` about a scored completion. A fact that is not known has no key."""
    if outcome.turn is not None:
        turn = outcome.turn
        reported = {} if turn.turn_reward is None else {"turn_reward": turn.turn_reward}
        return {"calls_left": turn.calls_left, "messages": [dict(each) for each in turn.messages], **reported}
    facts: dict[str, Any] = {"violation": outcome.violation}
    known = {
        "verdict": outcome.verdict,
        "solved": outcome.solved,
        "objective": outcome.objective,
        "ratio": outcome.ratio,
        "feedback": outcome.feedback,
        "stop_reason": outcome.stop_reason,
        "no_reward": None if outcome.no_reward is None else outcome.no_reward.reason,
    }
    facts |= {name: value for name, value in known.items() if value is not None}
    facts["components"] = {name: each.value for name, each in outcome.components.items() if each.value is not None}
    return facts
