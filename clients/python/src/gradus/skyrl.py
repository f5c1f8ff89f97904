"""SkyRL-gym: an environment of tasks with or without turns, and the rows of a data set for it.

```python
skyrl_gym.register("gradus", "gradus.skyrl:TextEnv")
datasets.Dataset.from_list(gradus.skyrl.rows("gradus://localhost:50051", spec, range(1000))).to_parquet("train.parquet")
```

docs/guides/trainers.md has the rest.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from skyrl_gym.envs.base_text_env import BaseTextEnv

from gradus.client import Client
from gradus.enums import TextTools
from gradus.rollouts import PolicyTurn
from gradus.tasks import Task, TaskSpec
from gradus.training import PATIENCE_SECONDS, Place, RunAddress, reward_or

__all__ = ["TextEnv", "rows"]

_SEEDS_AT_ONCE = 64


def rows(address: str, spec: TaskSpec, seeds: Iterable[int]) -> list[dict[str, Any]]:
    """Returns a row for each seed of a family of tasks, (n,): `prompt`, `env_class` and what `TextEnv` reads.

    Parameters
    ----------
    address
        Address of the server, see `gradus.training.RunAddress`.
    spec
        The family; `gradus.task_spec` makes one.
    seeds
        (n,), each in [0, 2**64).

    """
    client, wanted, found = _client(address), list(seeds), []
    for first in range(0, len(wanted), _SEEDS_AT_ONCE):
        results = client.batch_reset(spec, wanted[first : first + _SEEDS_AT_ONCE])
        found += [row_of(each.result(), address) for each in results]
    return found


def row_of(task: Task, address: str) -> dict[str, Any]:
    """Returns the row for a task, whether the task belongs to a run or not."""
    prompt = [{"role": each["role"], "content": each["content"]} for each in task.prompt]
    return {"prompt": prompt, "env_class": "gradus", "gradus_task": task.to_json(), "gradus_address": address}


class TextEnv(BaseTextEnv):
    """One episode of a task: a step is a completion, as raw text.

    SkyRL-gym adds up the rewards of steps, so the last step has the reward of the whole episode, and the others have 0.
    Each episode has a random key, because an environment does not know the index of its sample.

    Parameters
    ----------
    env_config
        Settings, all optional. `text_tools`: "hermes" if the server reads calls of tools from the text. `unscored`:
        reward of an episode that could not be scored; None: an `UnscoredError`.
    extras
        A row from `rows`.

    """

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        if extras is None or "gradus_task" not in extras:
            raise ValueError("the row has no gradus_task: make the data set's rows by gradus.skyrl.rows")
        settings: Mapping[str, Any] = env_config or {}
        self._text_tools: TextTools | None = settings.get("text_tools")
        self._unscored: float | None = settings.get("unscored")
        self._client = _client(extras["gradus_address"])
        task = Task.from_json(extras["gradus_task"])
        self.max_turns = task.calls_max or 1
        self._place: Place | None = Place(task, 0, 0, task.task_id, uuid4().hex)
        self._metrics: dict[str, Any] = {}

    def step(self, action: str) -> Any:
        """Scores a completion. Returns the replies as `observations`, the reward, and whether the episode is over."""
        if self._place is None:
            raise ValueError("the episode is over: make another environment for the next one")
        turn = PolicyTurn(action, text_tools=self._text_tools)
        # The episode's position stays until the completion is scored, so a step that fails can be repeated.
        self._place, outcome = self._place.after(self._client, turn, PATIENCE_SECONDS)
        if outcome.turn is not None:
            replies = [{"role": each["role"], "content": each["content"]} for each in outcome.turn.messages]
            return _output(replies, 0.0, False, {"calls_left": outcome.turn.calls_left})
        reward = reward_or(outcome, self._unscored)
        self._metrics = {"solved": float(outcome.solved or False), "calls": float(outcome.calls or 1)}
        return _output([], reward, True, {"verdict": outcome.verdict, "stop_reason": outcome.stop_reason})

    def get_metrics(self) -> dict[str, Any]:
        """Returns figures of the episode; empty until it is over."""
        return self._metrics


def _output(observations: list[dict[str, str]], reward: float, done: bool, metadata: dict[str, Any]) -> Any:
    return {"observations": observations, "reward": reward, "done": done, "metadata": metadata}


@functools.lru_cache(maxsize=16)
def _client(address: str) -> Client:
    """Returns the client of a server, which all environments of the process share."""
    return RunAddress.parse(address).client()
