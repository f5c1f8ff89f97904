"""Test episodes of gradus.verl in verl's own agent loop worker, with an engine that knows the game."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
from mastermind import next_code
from omegaconf import OmegaConf
from real_server import Server
from test_verl import configuration, loader
from verl import DataProto
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.workers.rollout.replica import TokenOutput

import gradus
from gradus import Client, Run
from gradus.training import RunAddress, reward_or
from gradus.verl import AgentLoop

VOCABULARY = tiny.tokenizer()
VOCABULARY.chat_template = tiny.qwen3_template()


def call_of(code: Any) -> str:
    return f'<tool_call>\n{{"name": "guess", "arguments": {{"code": {list(code)}}}}}\n</tool_call>'


class Engine:
    """In place of the policy's servers: reads the conversation, and returns the next call as tokens."""

    def __init__(self, tools: bool) -> None:
        self.tools = tools
        self.written: list[tuple[list[int], list[int]]] = []
        self.going = self.most = 0

    async def generate(self, request_id: str, prompt_ids: list[int], sampling_params: Any, **_: Any) -> TokenOutput:
        self.going += 1
        self.most = max(self.most, self.going)
        await asyncio.sleep(0.01)
        self.going -= 1
        text = VOCABULARY.decode(prompt_ids)
        assert ("<tools>" in text) == self.tools
        guesses = [tuple(json.loads(each)) for each in re.findall(r"(\[[\d, ]+\])(?:\}|</answer>)", text)]
        replies = re.findall(r"\d of \d in place.*", text)
        code = next_code(guesses[-len(replies) :] if replies else [], replies)
        written = call_of(code) if self.tools else f"<think></think><answer>{list(code)}</answer>"
        ids = [*VOCABULARY.encode(written, add_special_tokens=False), VOCABULARY.eos_token_id]
        self.written.append((list(prompt_ids), ids))
        return TokenOutput(token_ids=ids, log_probs=[-float(i + 1) for i in range(len(ids))])


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tiny.save(tmp_path_factory.mktemp("model"))
    VOCABULARY.save_pretrained(folder)
    return folder


def run_of(run: Run, tools: bool) -> Run:
    chosen: dict[str, Any] = {"tools": ["guess"]} if tools else {}
    arms = [gradus.arm("games/mastermind", "easy", **chosen)]
    run.create(arms, gradus.mixture(), num_generations=4, prompts_per_update=2, length=8, seed=1)
    return run


def played(address: str, model: Path, engine: Engine, **rollout: Any) -> DataProto:
    """Plays a batch as verl's trainers do: each row of the data loader n times, in a worker of agent loops."""
    config = configuration(address, train_batch_size=2)
    config.data.apply_chat_template_kwargs = {"sanitize_control_tokens": True}
    config.actor_rollout_ref.model.path = str(model)
    agent = model / "gradus-agent.yaml"
    agent.write_text("- {name: gradus, _target_: gradus.verl.AgentLoop}\n")
    config.actor_rollout_ref.rollout.agent.agent_loop_config_path = str(agent)
    config.actor_rollout_ref.rollout.agent.default_agent_loop = "gradus"
    config.actor_rollout_ref.rollout.multi_turn.format = "hermes"
    config.actor_rollout_ref.rollout.name = "vllm"
    config.actor_rollout_ref.rollout.prompt_length = 4096
    config.actor_rollout_ref.rollout.response_length = 2048
    for name, value in rollout.items():
        config.actor_rollout_ref.rollout[name] = value
    rows = next(iter(loader(config)))
    tensors = {"dummy_tensor": rows["dummy_tensor"].repeat_interleave(4, 0)}
    others = {name: np.repeat(rows[name], 4) for name in rows if name != "dummy_tensor"}
    batch = DataProto.from_dict(tensors=tensors, non_tensors=others, meta_info={"global_steps": 0})
    worker = AgentLoopWorker(config, engine)
    worker.tokenizer = VOCABULARY
    return asyncio.run(worker.generate_sequences(batch))


@pytest.mark.parametrize("tools", [True, False])
def test_episodes_are_played_and_their_tokens_are_aligned(
    tools: bool, server: Server, client: Client, run_id: str, model: Path
) -> None:
    run = run_of(client.run(run_id), tools)
    engine = Engine(tools)
    batch = played(str(RunAddress(server.address, run_id)), model, engine).batch
    assert engine.most == 8
    groups = list(run.groups(0))
    assert [{sample.sample_index for sample in group.samples} for group in groups] == [{0, 1, 2, 3}] * 2
    rewards = [sample.reward for group in groups for sample in group.samples]
    assert all(each is not None and each > 0.5 for each in rewards)
    assert batch["rm_scores"].sum(1).tolist() == pytest.approx([each or 0 for each in rewards])
    # The trained tokens are those that the policy wrote, each after the same prefix.
    assert int(batch["response_mask"].sum()) == sum(len(ids) for _, ids in engine.written)
    whole = {tuple(prompt + ids): len(ids) for prompt, ids in engine.written}
    for row in range(8):
        prompt = batch["prompts"][row][batch["attention_mask"][row, : batch["prompts"].shape[1]].bool()].tolist()
        mask, ids = batch["response_mask"][row].tolist(), batch["responses"][row].tolist()
        logprobs = batch["rollout_log_probs"][row].tolist()
        ends = [at for at, own in enumerate(mask) if own and not (mask[at + 1] if at + 1 < len(mask) else 0)]
        for end in ends:
            length = whole[tuple(prompt + ids[: end + 1])]
            assert logprobs[end + 1 - length : end + 1] == [-float(i + 1) for i in range(length)]
        assert sum(mask) == sum(whole[tuple(prompt + ids[: end + 1])] for end in ends)


def test_an_episode_without_room_ends(server: Server, client: Client, run_id: str, model: Path) -> None:
    run = run_of(client.run(run_id), tools=True)
    batch = played(str(RunAddress(server.address, run_id)), model, Engine(tools=True), response_length=100).batch
    assert batch["responses"].shape[1] == 100
    samples = [sample for group in run.groups(0) for sample in group.samples]
    assert len(samples) == 8
    assert all(each.reward is not None for each in samples)


def test_control_tokens_must_stay_text(server: Server, client: Client, run_id: str, model: Path) -> None:
    run_of(client.run(run_id), tools=True)
    config = OmegaConf.create({"data": {}, "actor_rollout_ref": {"rollout": {}}})
    with pytest.raises(ValueError, match="sanitize_control_tokens=True"):
        AgentLoop(
            type("Wrapped", (), {"config": config}), None, VOCABULARY, None, None, type("Wrapped", (), {"config": {}})
        )


def test_what_the_loop_is_for_is_refused_without_it(client: Client) -> None:
    task = client.reset("games/mastermind", level="easy")
    outcome = client.step(task, "<think></think><answer>[1, 1, 1]</answer>")
    with pytest.raises(ValueError, match="has turns"):
        reward_or(outcome, None)
