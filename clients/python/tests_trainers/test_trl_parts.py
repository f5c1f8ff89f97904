"""Test parts of gradus.trl without a whole training."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
import tiny
from policies import create
from real_server import StartServer, lasting_port
from trl.chat_template_utils import add_response_schema, parse_response
from trl_training import run_config

import gradus
from gradus import Client, CompletionGroup, Task, UnavailableWarning
from gradus.outcomes import NoReward, Reward
from gradus.trl import GradusSpec
from gradus.trl._callback import last_checkpoint
from gradus.trl._checks import Shape
from gradus.trl._rewards import texts_of
from gradus.trl._scorer import Scorer, groups_of


def first_stall(shape: Shape, prompts_per_update: int, lag: int, steps: int = 60) -> int | None:
    """Returns the optimizer step in which TRL would wait for its own scores, by playing it; None if it never does."""
    pulled = scored = 0
    for step in range(steps):
        for _ in range(step * shape.accumulated, (step + 1) * shape.accumulated + 1):
            last = _ // shape.repeats
            while pulled <= last:
                closed = scored * shape.prompts // prompts_per_update
                if ((pulled + 1) * shape.prompts - 1) // prompts_per_update > closed + lag:
                    return step
                pulled += 1
        scored = -(-(step + 1) * shape.accumulated // shape.repeats)
    return None


@pytest.mark.parametrize("prompts_per_update", [1, 4, 6, 32])
@pytest.mark.parametrize("repeats", [1, 2, 6])
@pytest.mark.parametrize("accumulated", [1, 2, 3, 8])
def test_the_least_lag_is_the_least(accumulated: int, repeats: int, prompts_per_update: int) -> None:
    shape = Shape(4, repeats, accumulated)
    lag = shape.lag_wanted(prompts_per_update)
    assert first_stall(shape, prompts_per_update, lag) is None
    assert first_stall(shape, prompts_per_update, lag - 1) is not None


def test_a_group_that_lies_on_two_ranks_has_each_sample_once(client: Client) -> None:
    tasks = [client.reset("countdown", seed=seed) for seed in range(3)]
    row = [(task, f"{task.group_id}-{sample}") for task in tasks for sample in range(4)]
    found: dict[tuple[str, int], str] = {}
    for rank in (0, 1):
        mine = row[rank * 6 : rank * 6 + 6]
        parts = groups_of(
            [task for task, _ in mine],
            [text for _, text in mine],
            ["stop"] * 6,
            rank=rank,
            num_generations=4,
            policy_version=7,
        )
        assert all(part.num_generations == 4 for part in parts)
        found |= {(part.group_id, each.sample_index): each.text for part in parts for each in part.completions}
    assert found == {(task.group_id, i): f"{task.group_id}-{i}" for task in tasks for i in range(4)}


def test_a_batch_that_is_filled_up_from_its_beginning_has_the_reward_of_each(client: Client) -> None:
    """On several ranks, accelerate fills an evaluation's last batch so, where the batch is larger than the data set."""
    tasks = [client.reset("countdown", seed=seed) for seed in range(3)]
    row = [task for task in tasks for _ in range(2)] * 2
    texts = ["<think></think><answer>1</answer>" if i % 3 else "nothing" for i in range(12)]
    parts = groups_of(row, texts, ["stop"] * 12, rank=0, num_generations=2, policy_version=7)
    assert [each.text for part in parts for each in part.completions] == texts
    rewards = [each.reward for each in Scorer(client, patience=30).score(parts)]
    assert rewards == [client.step(task, text).reward for task, text in zip(row, texts, strict=True)]
    assert len(set(rewards)) == 2


def test_thoughts_that_a_template_moves_away_are_found_again() -> None:
    vocabulary: Any = tiny.tokenizer()
    vocabulary.chat_template = tiny.qwen3_template()
    vocabulary = add_response_schema(vocabulary)
    text = "<think>\nfour and two\n</think>\n\n<answer>4 + 2</answer>"
    ids = vocabulary(text)["input_ids"]
    parsed = [parse_response(vocabulary, ids, prefix=vocabulary("<|im_start|>assistant\n")["input_ids"])]
    assert "four" not in parsed[0]["content"], "it no longer moves them: this test is to find another template"
    assert texts_of([parsed], [ids], vocabulary) == [text]
    assert texts_of([[{"role": "assistant", "content": text}]], [[]], vocabulary) == [text]
    assert texts_of([text], [[]], vocabulary) == [text]


class Busy:
    """A client whose server asks for some samples again, and gives some no score."""

    def __init__(self, client: Client, times: int) -> None:
        self._client = client
        self._times = times
        self.sent: list[list[int]] = []
        self.closed: list[Any] = []

    @property
    def _core(self) -> Any:
        return self

    def rewards(self, messages: Any, _: Any, read: Any) -> Any:
        groups = [group for message in messages for group in message]
        self.sent.append([each.sample_index for group in groups for each in group.completions])
        found = yield from self._client._core.rewards([groups], {}, read)
        return [tuple(map(self._reward, rewards)) for rewards in found]

    def _reward(self, reward: Reward) -> Reward:
        if reward.sample_index % 2 == 0 or len(self.sent) > self._times:
            return reward
        return reward._replace(reward=None, no_reward=NoReward("overloaded", "busy", 0.01))

    def run(self, run_id: str) -> Any:
        return self

    def close_groups(self, groups: Any, reason: str) -> None:
        self.closed += groups


def group_of(client: Client, run_id: str) -> tuple[Task, CompletionGroup]:
    task = client.reset("countdown", seed=1)
    text = (f"<think></think><answer>{i}</answer>" for i in count())
    group = task.group([next(text) for _ in range(4)])
    return task, CompletionGroup(group.task_id, group.group_id, group.completions, 4, run_id)


def test_what_the_server_asks_for_again_is_sent_again(client: Client) -> None:
    busy: Any = Busy(client, times=1)
    _, group = group_of(client, "")
    outcomes = Scorer(busy, patience=30).score([group])
    assert [each.reward for each in outcomes] == [0.1] * 4
    assert busy.sent == [[0, 1, 2, 3], [1, 3]]


def test_what_has_no_score_is_none_and_its_group_is_closed(client: Client) -> None:
    busy: Any = Busy(client, times=9)
    _, group = group_of(client, "a-run")
    outcomes = Scorer(busy, patience=0.5).score([group])
    assert [each.reward for each in outcomes] == [0.1, None, 0.1, None]
    assert [each.group_id for each in busy.closed] == [group.group_id]


def test_an_evaluation_whose_samples_are_given_up_goes_on(client: Client, run_id: str) -> None:
    run = client.run(run_id)
    arm = gradus.evaluation_arm("countdown", "T1", tasks=1, num_generations=4)
    create(run, evaluation_arms=[arm])
    (arm,) = run.get().config.evaluation_arms
    group = run.next_evaluation(arm.arm_id, 0).tasks[0].group(["nothing"] * 4)
    busy: Any = Busy(client, times=9)
    busy.run = client.run
    assert [each.reward for each in Scorer(busy, patience=0.5).score([group])] == [0.0, None, 0.0, None]


def test_the_last_checkpoint_is_the_newest_that_is_whole_and_numbered(tmp_path: Path) -> None:
    for name in ("checkpoint-9", "checkpoint-10", "checkpoint-11", "checkpoint-best", "checkpoint-12.old"):
        callbacks = {} if name == "checkpoint-11" else {"GradusCallback": {}}
        (tmp_path / name).mkdir()
        (tmp_path / name / "trainer_state.json").write_text(json.dumps({"stateful_callbacks": callbacks}))
    assert last_checkpoint(str(tmp_path)) == str(tmp_path / "checkpoint-10")
    assert last_checkpoint(str(tmp_path / "none")) is None


def test_a_spec_may_be_made_before_its_server_is_up(start_server: StartServer) -> None:
    port = lasting_port()
    starting = Timer(3, lambda: start_server(port=port))
    starting.start()
    with pytest.warns(UnavailableWarning, match=f"no Gradus server answers at localhost:{port}"):
        spec = GradusSpec(f"localhost:{port}", "early", run_config(), patience=120)
    starting.join()
    assert spec.run.get().state.cursor == 0
