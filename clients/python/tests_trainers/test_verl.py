"""Test gradus.verl in verl's own data loader, collation, reward manager and configuration, without a model."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import verl
from omegaconf import OmegaConf
from policies import create, recorded, written
from real_server import Server
from tensordict import TensorDict
from tiny import tokenizer
from torchdata.stateful_dataloader import StatefulDataLoader
from verl import DataProto
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
from verl.trainer.ppo.reward import get_custom_reward_fn, load_reward_manager
from verl.trainer.ppo.utils import create_rl_dataset, create_rl_sampler
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn, get_dataset_class

import gradus
from gradus import Client, Run
from gradus.training import RunAddress, TaskReference, UnscoredError
from gradus.verl import RunDataset

TOKENIZER = tokenizer()


@pytest.fixture
def run(client: Client, run_id: str) -> Run:
    return create(client.run(run_id))


@pytest.fixture
def address(server: Server, run: Run) -> str:
    return str(RunAddress(server.address, run.run_id))


def configuration(address: str, **data: Any) -> Any:
    """Returns verl's default configuration with the lines of the guide."""
    config = OmegaConf.load(Path(verl.__file__).parent / "trainer/config/_generated_ppo_trainer.yaml")
    config.data.train_files = address
    config.data.val_files = f"{address}#held-out"
    config.data.custom_cls = {"path": "pkg://gradus.verl", "name": "RunDataset"}
    config.data.shuffle = False
    config.data.dataloader_num_workers = 0
    config.data.train_batch_size = 4
    config.data.max_prompt_length = 4096
    config.actor_rollout_ref.rollout.n = 4
    config.trainer.total_epochs = 1
    config.reward.custom_reward_function = {"path": "pkg://gradus.verl", "name": "compute_score"}
    config.reward.reward_manager.source = "importlib"
    config.reward.reward_manager.name = "RewardManager"
    config.reward.reward_manager.module.path = "pkg://gradus.verl"
    for name, value in data.items():
        config.data[name] = value
    return config


def loader(config: Any) -> StatefulDataLoader:
    """Makes the data loader as verl's trainers do (trainer/ppo/v1/trainer_base.py, trainer/ppo/ray_trainer.py)."""
    dataset = create_rl_dataset(
        config.data.train_files,
        config.data,
        TOKENIZER,
        None,
        is_train=True,
        max_samples=config.data.get("train_max_samples", -1),
    )
    return StatefulDataLoader(
        dataset=dataset,
        batch_size=config.data.get("gen_batch_size") or config.data.train_batch_size,
        num_workers=config.data["dataloader_num_workers"],
        drop_last=True,
        collate_fn=collate_fn,
        sampler=create_rl_sampler(config.data, dataset),
    )


async def reward(manager: NaiveRewardManager, batch: dict[str, Any], row: int, text: str) -> dict[str, Any]:
    """Score one completion as verl's agent loop does: tokens, a DataProto of one row, the reward manager."""
    prompt = TOKENIZER.apply_chat_template(batch["raw_prompt"][row], tokenize=True, return_dict=False)
    prompts, responses = torch.tensor([prompt]), torch.tensor([TOKENIZER.encode(text, add_special_tokens=False)])
    ids = torch.cat([prompts, responses], dim=1)
    tensors = {"prompts": prompts, "responses": responses, "input_ids": ids, "attention_mask": torch.ones_like(ids)}
    others = {name: copy.deepcopy(batch[name][row : row + 1]) for name in batch if name != "dummy_tensor"}
    result: dict[str, Any] = await manager.run_single(
        DataProto(TensorDict(tensors, batch_size=1), {**others, "__num_turns__": np.array([2])})
    )
    return result


def rewards(config: Any, batch: dict[str, Any], texts: list[list[str]]) -> list[dict[str, Any]]:
    """Score all completions of a batch at once, as a reward worker does, and return the results by row."""

    async def ask() -> list[dict[str, Any]]:
        manager = load_reward_manager(config, TOKENIZER)
        assert manager.is_async_reward_score
        asked = [reward(manager, batch, row, text) for row, written in enumerate(texts) for text in written]
        return await asyncio.gather(*asked)

    return asyncio.run(ask())


def train(config: Any, batches: Iterator[Any], steps: int) -> list[list[str]]:
    """Takes steps of a trainer without a model. Returns the prompts of each."""

    prompts = []
    for _ in range(steps):
        batch = next(batches)
        prompts.append([each[-1]["content"] for each in batch["raw_prompt"]])
        generations = range(config.actor_rollout_ref.rollout.n)
        results = rewards(config, batch, [[written(each, index) for index in generations] for each in prompts[-1]])
        assert {each["reward_score"] for each in results} <= {0.0, 0.1}
    return prompts


def test_a_run_is_trained_on_to_its_end(run: Run, address: str) -> None:
    config = configuration(address)
    assert get_dataset_class(config.data) is RunDataset
    batches = loader(config)
    assert len(batches.dataset) == 32
    prompts = train(config, iter(batches), 8)
    assert len({each for batch in prompts for each in batch}) == 32
    state = run.get().state
    assert (state.done, state.batches_closed, state.samples_recorded) == (True, 8, 128)
    # The rewards are the policy's, whichever index a completion received.
    assert [sorted(each) for each in recorded(run).values()] == [
        sorted(0.1 if "answer" in written(prompt, index) else 0.0 for index in range(4))
        for batch in prompts
        for prompt in batch
    ]


def test_a_row_has_what_verls_own_has(address: str, tmp_path: Path) -> None:
    row = loader(configuration(address)).dataset[0]
    (tmp_path / "rows.jsonl").write_text('{"prompt": [{"role": "user", "content": "?"}], "data_source": "x"}\n')
    # Filtering forks the process, which fails after an earlier training in it.
    options = OmegaConf.create({"cache_dir": str(tmp_path), "filter_overlong_prompts": False})
    own = RLHFDataset(str(tmp_path / "rows.jsonl"), TOKENIZER, options)[0]
    assert set(own) - {"prompt"} <= set(row)
    for name in set(own) & set(row):
        assert type(row[name]) is type(own[name]), name
    assert row["data_source"] in ("easy", "hard")
    assert TaskReference.from_row(row["extra_info"]["gradus"]).num_generations == 4


@pytest.mark.parametrize("stopped", [1, 3, 6])
def test_after_a_resume_the_tasks_are_those_of_the_undisturbed_run(
    client: Client, server: Server, run_id: str, stopped: int
) -> None:
    """The trainer dies two steps after its checkpoint, when the run has already learnt from them."""
    undisturbed, disturbed = (create(client.run(f"{run_id}-{which}")) for which in ("whole", "broken"))
    address = RunAddress(server.address, undisturbed.run_id)
    config = configuration(str(address))
    whole = train(config, iter(loader(config)), 8)

    config = configuration(str(RunAddress(server.address, disturbed.run_id)))
    batches = loader(config)
    rows = iter(batches)
    begun = train(config, rows, stopped)
    saved = copy.deepcopy(batches.state_dict())
    assert train(config, rows, 2) == whole[stopped : stopped + 2]

    resumed = loader(config)
    resumed.load_state_dict(saved)
    assert begun + train(config, iter(resumed), 8 - stopped) == whole
    assert list(recorded(disturbed).values()) == list(recorded(undisturbed).values())


def test_a_checkpoint_of_a_run_that_did_not_move_on_changes_nothing(run: Run, address: str) -> None:
    config = configuration(address)
    batches = loader(config)
    train(config, iter(batches), 2)
    saved = batches.state_dict()
    resumed = loader(config)
    resumed.load_state_dict(saved)
    train(config, iter(resumed), 1)
    assert run.get().state.epoch == 0


def test_validation_begins_a_round_each_time_and_tells_arms_apart(client: Client, server: Server, run_id: str) -> None:
    run = create(
        client.run(run_id),
        evaluation_arms=[gradus.evaluation_arm("countdown", "T0", tasks=6, arm_id="held-out", num_generations=1)],
    )
    config = configuration(str(RunAddress(server.address, run_id)))
    dataset = create_rl_dataset(config.data.val_files, config.data, TOKENIZER, None, is_train=False)
    batches = StatefulDataLoader(dataset=dataset, batch_size=3, num_workers=0, shuffle=True, collate_fn=collate_fn)
    for evaluation_round in range(2):
        for batch in batches:
            assert set(batch["data_source"]) == {"held-out"}
            results = rewards(config, batch, [["<think></think><answer>1 + 1</answer>"]] * 3)
            assert [each["reward_extra_info"] for each in results] == [{"score": 0.1, "acc": 0.0}] * 3
        (record,) = run.get().state.evaluations
        assert (record.evaluation_round, record.samples, record.closed) == (evaluation_round, 6, True)
    assert run.get().state.samples_recorded == 0


def test_the_reward_function_is_awaited_with_its_options(address: str) -> None:
    config = configuration(address)
    config.reward.custom_reward_function.reward_kwargs = {"unscored": -1.0}
    assert inspect.iscoroutinefunction(get_custom_reward_fn(config))
    batch = next(iter(loader(config)))
    row = batch["extra_info"][0]["gradus"]
    batch["extra_info"][0]["gradus"] = {**row, "task_id": row["task_id"][:-4] + "AAAA"}
    (result,) = rewards(config, batch, [["<answer>1 + 1</answer>"]])
    assert result["reward_score"] == -1.0
    assert np.isnan(result["reward_extra_info"]["acc"])
    with pytest.raises(UnscoredError, match="invalid_task_id"):
        rewards(configuration(address), batch, [["<answer>1 + 1</answer>"]])


UNCLOSED = "<think>97 - 44 is 53</think><answer>82 - (97 - 44)"


@pytest.mark.parametrize(
    ("longest", "ending", "reward_given"),
    [
        (1000, "", 1.0),
        (None, "", 0.0),
        (None, TOKENIZER.eos_token, 1.0),
        (1000, TOKENIZER.eos_token, 1.0),
    ],
)
def test_a_completion_of_the_greatest_length_without_an_end_was_cut(
    client: Client, server: Server, longest: int | None, ending: str, reward_given: float
) -> None:
    """The text has the task's right answer. If `longest` is None, the text has the maximum length."""
    task = client.reset("countdown", level="T0", seed=7)
    reference = TaskReference.of(task, RunAddress.parse(f"gradus://{server.address}"), 1)
    config = OmegaConf.load(Path(verl.__file__).parent / "trainer/config/_generated_ppo_trainer.yaml")
    config.reward = configuration("gradus://localhost/run").reward
    text = UNCLOSED + ending
    config.actor_rollout_ref.rollout.response_length = longest or len(TOKENIZER.encode(text, add_special_tokens=False))
    row = {"raw_prompt": [task.prompt], "data_source": ["x"], "reward_model": [{"ground_truth": ""}]}
    batch = {name: np.array([*values, None], dtype=object)[:1] for name, values in row.items()}
    batch["extra_info"] = np.array([{"index": 0, "gradus": reference.to_row()}, None], dtype=object)[:1]
    (result,) = rewards(config, batch, [[text]])
    assert result["reward_score"] == reward_given


def test_verls_own_reward_manager_is_warned_of(address: str) -> None:
    config = configuration(address)
    config.reward.reward_manager.name = "naive"
    with pytest.warns(UserWarning, match="does not report which completions were cut"):
        loader(config)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"shuffle": True}, "data.shuffle=False"),
        ({"dataloader_num_workers": 8}, "data.dataloader_num_workers=0"),
        ({"train_batch_size": 12}, "Set data.train_batch_size to an update batch, 4"),
        ({"train_files": "rows.parquet"}, "not the address of a run"),
    ],
)
def test_what_would_wait_for_ever_or_go_wrong_is_refused(address: str, data: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        loader(configuration(address, **data))


def test_the_rest_of_verls_configuration_is_checked_too(address: str) -> None:
    config = configuration(address)
    config.actor_rollout_ref.rollout.n = 8
    with pytest.raises(ValueError, match=r"Set actor_rollout_ref\.rollout\.n=4"):
        loader(config)
    config = configuration(address)
    config.trainer.total_epochs = 30
    with pytest.raises(ValueError, match=r"trainer\.total_epochs=1"):
        loader(config)


def test_rows_out_of_order_and_prompts_that_are_too_long_are_refused(address: str) -> None:
    dataset = loader(configuration(address)).dataset
    with pytest.raises(ValueError, match="row 0 comes next"):
        dataset[1]
    with pytest.raises(ValueError, match=r"data\.max_prompt_length=10 is too small"):
        loader(configuration(address, max_prompt_length=10)).dataset[0]


def test_a_run_without_an_end_has_as_many_rows_as_the_trainer_says(client: Client, server: Server, run_id: str) -> None:
    create(client.run(run_id), length=0)
    address = str(RunAddress(server.address, run_id))
    with pytest.raises(ValueError, match=r"data\.train_max_samples"):
        loader(configuration(address))
    assert len(loader(configuration(address, train_max_samples=12)).dataset) == 12
