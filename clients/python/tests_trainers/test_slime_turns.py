"""Test that gradus.slime plays episodes as a custom generate function of slime, with a scripted SGLang."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import slime_interface
import tiny
from mastermind import next_code
from real_server import Server
from slime_interface import arguments, load_function

import gradus
from gradus import Client
from gradus.training import RunAddress

slime_interface.install()


class SGLang:
    """Writes the next guess as tokens. If `abort_first`, each sample's first message is cut off in its middle."""

    def __init__(self, vocabulary: Any, abort_first: bool) -> None:
        self.vocabulary = vocabulary
        self.abort_first = abort_first
        self.written = 0

    async def post(self, url: str, payload: dict[str, Any]) -> dict[str, Any]:
        assert url == "http://127.0.0.1:30000/generate"
        text = self.vocabulary.decode(payload["input_ids"])
        begun = text.rpartition("<|im_start|>assistant\n")[2]
        guesses = [tuple(json.loads(each)) for each in re.findall(r'"code": (\[[\d, ]+\])\}\}', text)]
        replies = re.findall(r"\d of \d in place.*", text)
        code = list(next_code(guesses, replies))
        whole = f'<tool_call>\n{{"name": "guess", "arguments": {{"code": {code}}}}}\n</tool_call>'
        ids = self.vocabulary.encode(whole[len(begun) :], add_special_tokens=False)
        aborted = self.abort_first and not begun and not replies
        ids = ids[:10] if aborted else [*ids, self.vocabulary.eos_token_id]
        ids = ids[: payload["sampling_params"]["max_new_tokens"]]
        self.written += len(ids)
        cut = not aborted and ids[-1] != self.vocabulary.eos_token_id
        reason = "abort" if aborted else "length" if cut else "stop"
        logprobs = [(-0.5, each, None) for each in ids]
        return {"meta_info": {"output_token_logprobs": logprobs, "finish_reason": {"type": reason}}}


@pytest.mark.parametrize(("abort_first", "length"), [(False, 2048), (True, 2048), (False, 100)])
def test_episodes_are_played(
    abort_first: bool,
    length: int,
    server: Server,
    client: Client,
    run_id: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = client.run(run_id)
    arms = [gradus.arm("games/mastermind", "easy", tools=["guess"])]
    run.create(arms, gradus.mixture(), num_generations=4, prompts_per_update=2, length=2)
    vocabulary = tiny.tokenizer()
    vocabulary.chat_template = tiny.qwen3_template(training=True)
    engine = SGLang(vocabulary, abort_first)
    monkeypatch.setattr(sys.modules["slime.rollout.sglang_rollout"].GenerateState, "tokenizer", vocabulary)
    monkeypatch.setattr(sys.modules["slime.utils.http_utils"], "post", engine.post)
    monkeypatch.setattr("gradus.slime.load_tokenizer", lambda *_, **__: vocabulary)
    router = {"sglang_router_ip": "127.0.0.1", "sglang_router_port": 30000, "rollout_max_response_len": length}
    sizes = {"rollout_batch_size": 2, "over_sampling_batch_size": 2, "num_rollout": 1}
    args = arguments(str(RunAddress(server.address, run_id)), str(tmp_path), **router, **sizes)
    source = load_function(args.data_source_path)(args)
    generate, reward = load_function("gradus.slime.generate"), load_function(args.custom_rm_path)

    async def one(sample: Any) -> Any:
        sample = await generate(args, sample, {"temperature": 1.0})
        while sample.status.value == "aborted":
            sample = await generate(args, sample, {"temperature": 1.0})
        return sample

    async def play() -> list[tuple[list[Any], list[float]]]:
        groups = [await asyncio.gather(*map(one, group)) for group in source.get_samples(2)]
        return [(group, await reward(args, list(group))) for group in groups]

    played = asyncio.run(play())
    groups = list(run.groups(0))
    assert [[each.reward for each in group.samples] for group in groups] == [rewards for _, rewards in played]
    samples = [sample for group, _ in played for sample in group]
    assert sum(sum(each.loss_mask) for each in samples) == engine.written
    for sample in samples:
        assert sample.response_length == len(sample.loss_mask) == len(sample.rollout_log_probs) <= length
        assert [each == -0.5 for each in sample.rollout_log_probs] == [each == 1 for each in sample.loss_mask]
        assert vocabulary.decode(sample.tokens).endswith(sample.response)
    if length > 100:
        assert {sample.status.value for sample in samples} == {"completed"}
        assert all(reward > 0.5 for _, rewards in played for reward in rewards)
