"""Test episodes of gradus.trl with TRL's real trainer: tokens, masks, tools, texts, ends and failures."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import tiny
import torch
import trl
from conftest import Nursery, Server
from lossy import lossy
from mastermind import CODES
from real_server import lasting_port
from test_trl_ranks import rank_of
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer
from trl_training import settings

import gradus
from gradus import Client
from gradus.training import Chat
from gradus.trl import GradusSpec, _inside
from gradus.trl._tools import method_of
from gradus.v1 import environment_pb2
from gradus.v1.outcome_pb2 import NoRewardReason

CALLS = [f'<tool_call>\n{{"name": "guess", "arguments": {{"code": {list(code)}}}}}\n</tool_call>' for code in CODES]
ANSWERS = [f"<think></think><answer>{list(code)}</answer>" for code in CODES]
TEXTS = [*CALLS, *ANSWERS]


def run_of(tools: bool = True, **changes: Any) -> dict[str, Any]:
    chosen: dict[str, Any] = {"tools": ["guess"]} if tools else {}
    return {
        "arms": [gradus.arm("games/mastermind", "easy", calls=4, **chosen)],
        "policy": gradus.mixture(),
        "num_generations": 4,
        "prompts_per_update": 2,
        "seed": 1,
        **changes,
    }


@pytest.fixture(scope="session")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy that calls the tool with any code, once or several times in a message."""
    return tiny.save(tmp_path_factory.mktemp("caller"), choices=CALLS, texts=TEXTS)


@pytest.fixture(scope="session")
def answerer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy that answers with any code."""
    return tiny.save(tmp_path_factory.mktemp("answerer"), choices=ANSWERS, texts=TEXTS)


def trainer_of(
    spec: GradusSpec,
    policy: Path,
    output: Path,
    playing: dict[str, Any] | None = None,
    texts: Sequence[str] = TEXTS,
    **changes: Any,
) -> Any:
    vocabulary = tiny.tokenizer(texts)
    vocabulary.chat_template = tiny.qwen3_template()
    fitting = {"per_device_train_batch_size": 8, "max_completion_length": 500, "max_steps": 1}
    return GRPOTrainer(
        str(policy),
        reward_funcs=spec.reward_funcs,
        args=GRPOConfig(**spec.config(**settings(output, **{**fitting, **changes}))),
        train_dataset=spec.train_dataset,
        eval_dataset=spec.eval_dataset,
        processing_class=vocabulary,
        callbacks=spec.callbacks,
        **(playing or {"rollout_func": spec.rollout_func}),
    )


class Watched:
    """Records what the policy wrote and what TRL trains on."""

    def __init__(self, trainer: Any) -> None:
        self.written: list[tuple[list[int], list[int], list[float]]] = []
        self.batches: list[dict[str, Any]] = []
        generate, score = trainer._generate_single_turn, trainer._generate_and_score_completions

        def watched(prompt_ids: Any, *more: Any, **options: Any) -> Any:
            # As vLLM does, this gives the log-probability of each token that was written.
            ids, _ = generate(prompt_ids, *more, **options)
            found = [logprobs_of(trainer, prompt, each) for prompt, each in zip(prompt_ids, ids, strict=True)]
            self.written += zip(prompt_ids, ids, found, strict=True)
            return ids, found

        def scored(inputs: Any) -> Any:
            self.batches.append(score(inputs))
            return self.batches[-1]

        trainer._generate_single_turn, trainer._generate_and_score_completions = watched, scored


def logprobs_of(trainer: Any, prompt: list[int], ids: list[int]) -> list[float]:
    with torch.no_grad():
        logits = trainer.model(torch.tensor([prompt + ids])).logits[0, len(prompt) - 1 : -1] / trainer.temperature
    return [float(each) for each in logits.log_softmax(-1)[range(len(ids)), ids]]


def rows_of(batch: dict[str, Any]) -> list[tuple[list[int], list[int], list[int]]]:
    """Return the prompt, the completion and its mask of each sample, as TRL learns from them."""
    rows = zip(
        *(batch[name] for name in ("prompt_ids", "prompt_mask", "completion_ids", "completion_mask", "tool_mask")),
        strict=True,
    )
    return [
        (prompt[of_prompt.bool()].tolist(), ids[of_ids.bool()].tolist(), mask[of_ids.bool()].tolist())
        for prompt, of_prompt, ids, of_ids, mask in rows
    ]


def runs_of(mask: list[int]) -> list[tuple[int, list[int]]]:
    """Return the places of tokens that follow each other with the same mask."""
    runs = itertools.groupby(enumerate(mask), key=lambda each: each[1])
    return [(own, [place for place, _ in places]) for own, places in runs]


@pytest.mark.parametrize("tools", [True, False])
def test_tokens_masks_and_log_probabilities_are_aligned(
    tools: bool, client: Client, run_id: str, caller: Path, answerer: Path, tmp_path: Path
) -> None:
    spec = GradusSpec(client, run_id, run_of(tools))
    trainer = trainer_of(spec, caller if tools else answerer, tmp_path, learning_rate=0.0)
    watched = Watched(trainer)
    trainer.train()
    learnt = [row for batch in watched.batches for row in rows_of(batch)]
    # The trained tokens are those that the policy wrote, each after the same prefix.
    assert sum(sum(mask) for _, _, mask in learnt) == sum(len(ids) for _, ids, _ in watched.written)
    written = {(*prompt, *ids): logprobs for prompt, ids, logprobs in watched.written}
    for prompt, ids, mask in learnt:
        again = logprobs_of(trainer, prompt, ids)
        for own, places in runs_of(mask):
            if own:
                found = written[(*prompt, *ids[: places[-1] + 1])]
                assert found == pytest.approx([again[at] for at in places], abs=1e-4)
            else:
                reply = trainer.processing_class.decode([ids[at] for at in places])
                assert "in place" in reply
                assert ("<tool_response>" in reply) == tools
    assert any(0 in mask for _, _, mask in learnt)
    log = next(each for each in trainer.state.log_history if "reward" in each)
    assert log["reward"] == pytest.approx(mean_of(recorded(spec)), abs=1e-6)
    assert 1 <= log["gradus/games/mastermind/easy/calls"] <= 4
    assert spec.run.feedback_counts == {"recorded": 8}


def recorded(spec: GradusSpec) -> list[float | None]:
    """Return the rewards of the first update batch, of which each sample must be recorded."""
    groups = list(spec.run.groups(0))
    assert all({sample.sample_index for sample in group.samples} == {0, 1, 2, 3} for group in groups)
    return [sample.reward for group in groups for sample in group.samples]


def mean_of(rewards: list[float | None]) -> float:
    assert len(rewards) == 8
    return sum(each or 0.0 for each in rewards) / len(rewards)


def factory(spec: GradusSpec) -> dict[str, Any]:
    return {"environment_factory": spec.environment_factory}


@pytest.mark.parametrize("tools", [True, False])
def test_an_episode_without_room_ends(
    tools: bool, client: Client, run_id: str, caller: Path, answerer: Path, tmp_path: Path
) -> None:
    """With 120 tokens there is room for a reply or two; the other episodes end after their last reply, or are cut."""
    spec = GradusSpec(client, run_id, run_of(tools))
    trainer = trainer_of(spec, caller if tools else answerer, tmp_path, max_completion_length=120)
    watched = Watched(trainer)
    trainer.train()
    learnt = [row for batch in watched.batches for row in rows_of(batch)]
    assert all(len(ids) <= 120 and mask[-1] == 1 for _, ids, mask in learnt)
    assert mean_of(recorded(spec)) < 1
    assert spec.run.feedback_counts == {"recorded": 8}


def test_a_server_that_fails_loses_no_sample(server: Server, run_id: str, caller: Path, tmp_path: Path) -> None:
    """Every fifth call fails, before or after the server has worked on it, and every fifth outcome has no reward."""
    with lossy(server.address) as proxy, Client(proxy.address) as behind:
        spec = GradusSpec(behind, run_id, run_of())
        trainer = trainer_of(spec, caller, tmp_path)
        proxy.lose_every, proxy.change = 5, without_every_fifth_reward()
        trainer.train()
        assert len(proxy.made) >= 5
        rewards = recorded(spec)
    log = next(each for each in trainer.state.log_history if "reward" in each)
    assert None not in rewards
    assert log["reward"] == pytest.approx(mean_of(rewards), abs=1e-6)


def without_every_fifth_reward() -> Callable[[str, bytes], bytes]:
    counter = itertools.count(1)

    def change(name: str, reply: bytes) -> bytes:
        if name != "BatchStep":
            return reply
        read = environment_pb2.BatchStepResponse.FromString(reply)
        for outcome in (each for group in read.groups for each in group.outcomes):
            if next(counter) % 5 == 0:
                outcome.no_reward.reason = NoRewardReason.NO_REWARD_REASON_OVERLOADED
                outcome.no_reward.retry_delay_ms = 5
        return read.SerializeToString()

    return change


def test_environments_have_the_servers_tools(
    server: Server, client: Client, run_id: str, caller: Path, tmp_path: Path
) -> None:
    with lossy(server.address) as proxy, Client(proxy.address) as behind:
        spec = GradusSpec(behind, run_id, run_of())
        trainer = trainer_of(spec, caller, tmp_path, factory(spec))
        (tool,) = client.reset("games/mastermind", level="easy", tools=["guess"]).tools
        assert get_json_schema(trainer.tools[0]) == tool.openai()
        proxy.lose_every, proxy.change = 5, without_every_fifth_reward()
        watched = Watched(trainer)
        trainer.train()
        rewards = recorded(spec)
    log = next(each for each in trainer.state.log_history if "reward" in each)
    assert log["reward"] == pytest.approx(mean_of(rewards), abs=1e-6)
    assert None not in rewards
    # The policy writes only the four calls of an episode, because TRL ends it after the last result.
    assert all(len(runs_of(mask)) <= 7 for batch in watched.batches for _, _, mask in rows_of(batch))
    assert 1 <= log["gradus/games/mastermind/easy/calls"] <= 4
    assert "over over" not in trainer.processing_class.decode(watched.batches[0]["completion_ids"][0])


def test_hermes_calls_are_read_by_the_server(client: Client, run_id: str, caller: Path, tmp_path: Path) -> None:
    spec = GradusSpec(client, run_id, run_of(), text_tools="hermes")
    trainer = trainer_of(spec, caller, tmp_path)
    trainer.train()
    assert getattr(trainer.processing_class, "response_template", None) is None
    log = next(each for each in trainer.state.log_history if "reward" in each)
    assert log["reward"] == pytest.approx(mean_of(recorded(spec)), abs=1e-6)


def test_evaluations_are_rounds_of_the_run(client: Client, run_id: str, caller: Path, tmp_path: Path) -> None:
    evaluated = gradus.evaluation_arm("games/mastermind", "easy", tasks=2, num_generations=2, calls=3, tools=["guess"])
    spec = GradusSpec(client, run_id, run_of(evaluation_arms=[evaluated]))
    evaluating = {"eval_strategy": "steps", "eval_steps": 1, "num_generations_eval": 2, "per_device_eval_batch_size": 4}
    trainer = trainer_of(spec, caller, tmp_path, **evaluating)
    trainer.train()
    records = [
        each.evaluation for each in spec.run.history() if each.evaluation is not None and each.evaluation.samples
    ]
    assert [(each.evaluation_round, each.samples, each.closed) for each in records] == [(1, 4, True)]
    (logged,) = [each["eval_reward"] for each in trainer.state.log_history if "eval_reward" in each]
    assert logged == pytest.approx(records[0].reward_mean, abs=1e-6)


def test_without_a_player_the_trainer_stops(client: Client, run_id: str, caller: Path, tmp_path: Path) -> None:
    spec = GradusSpec(client, run_id, run_of())
    trainer = trainer_of(spec, caller, tmp_path, {"rollout_func": None})
    with pytest.raises(ValueError, match=re.escape("rollout_func=spec.rollout_func")):
        trainer.train()


def test_environments_want_the_same_tools_for_all(client: Client, run_id: str, caller: Path, tmp_path: Path) -> None:
    spec = GradusSpec(client, run_id, run_of(tools=False))
    with pytest.raises(ValueError, match="and the run's have none"):
        assert spec.environment_factory
    tooled = GradusSpec(client, f"{run_id}-tools", run_of())
    with pytest.raises(ValueError, match="sanitize_control_tokens=True"):
        trainer_of(tooled, caller, tmp_path, factory(tooled), chat_template_kwargs={"sanitize_control_tokens": False})


@pytest.mark.parametrize("name", ["_generate_single_turn", "_generate"])
def test_another_trl_is_refused_with_its_version(
    name: str, client: Client, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = GradusSpec(client, run_id, run_of())
    monkeypatch.setattr(GRPOTrainer, name, lambda self, prompts: None)
    with pytest.raises(ImportError, match=rf"TRL {re.escape(trl.__version__)} does not have"):
        assert spec.rollout_func


def chat_of(template: str) -> Chat:
    vocabulary = tiny.tokenizer()
    vocabulary.chat_template = template
    return Chat(vocabulary, {}, True, _inside.training_template)


def test_replies_hold_no_control_tokens() -> None:
    chat = chat_of(tiny.qwen3_template())
    replies: list[gradus.ChatMessage] = [
        {"role": "tool", "name": "guess", "tool_call_id": "a", "content": "one <|im_end|> two"},
        {"role": "tool", "name": "guess", "tool_call_id": "b", "content": "three"},
    ]
    ids, vocabulary = chat.replies(replies), tiny.tokenizer()
    end = vocabulary.eos_token_id
    assert ids.count(end) == 1
    text = vocabulary.decode(ids)
    assert text.index("one <|im_end|> two") < text.index("three") < text.rindex("<|im_end|>")
    assert text.endswith("<|im_start|>assistant\n")
    # A completion without its end token gets the template's.
    assert chat.replies(replies, ended=False) == [end, *ids]
    prompt = chat.prompt([{"role": "user", "content": "<|im_end|>"}], [])
    assert prompt.count(end) == 1


def test_a_template_that_rewrites_earlier_messages_is_refused() -> None:
    rewriting = "{% for message in messages %}{{ loop.revindex }}{{ message.content }}{% endfor %}"
    with pytest.raises(ValueError, match="template"):
        chat_of(rewriting)


@pytest.mark.parametrize(
    ("name", "schema", "words"),
    [
        ("reset", {"type": "object", "properties": {}}, "cannot be a method"),
        ("two words", {"type": "object", "properties": {}}, "cannot be a method"),
        ("odd", {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}}, "no Python signature has"),
    ],
)
def test_a_tool_that_is_no_method_is_refused(name: str, schema: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        method_of(gradus.Tool(name, "Does it.", json.dumps(schema)))


def test_a_tools_schema_is_that_of_its_method() -> None:
    properties = {
        "table": {"type": "string", "enum": ["a", "b"], "description": "Name of the table."},
        "rows": {"type": "array", "items": {"type": "integer"}, "description": "Numbers of rows."},
        "deep": {"type": "object", "description": "Anything."},
        "all": {"type": "boolean", "description": "Whether all."},
    }
    schema = {"type": "object", "properties": properties, "required": ["rows"]}
    tool = gradus.Tool("look_up", "Reads rows. Several at once.", json.dumps(schema))
    assert get_json_schema(method_of(tool)) == tool.openai()


def test_all_tools_of_the_server_can_be_methods(client: Client) -> None:
    tools = {tool for environment in client.list_environments() for tool in environment.tools}
    assert {"guess", "calculator"} <= {tool.name for tool in tools}
    for tool in tools:
        made, wanted = get_json_schema(method_of(tool)), tool.openai()
        for name, each in wanted["function"]["parameters"]["properties"].items():
            each.setdefault("description", f"The {name}.")
        assert made == wanted


def test_two_ranks_play_groups_that_lie_on_both(
    nursery: Nursery, server: Server, client: Client, run_id: str, caller: Path, tmp_path: Path
) -> None:
    """Three groups of four are six samples for each rank. The ranks' episodes end after different numbers of rounds."""
    port, log = lasting_port(), tmp_path / "log.json"
    given = {"server": server.address, "run_id": run_id, "policy": str(caller), "output": str(tmp_path / "out")}
    job = {"program": "trl_turns_training", "given": {**given, "log": str(log)}}
    logs = [tmp_path / f"rank-{rank}.txt" for rank in range(2)]
    nursery.start(*({**job, "log": str(each), "environment": rank_of(rank, port)} for rank, each in enumerate(logs)))
    assert nursery.statuses() == [0, 0], [each.read_text()[-5000:] for each in logs]
    groups = list(client.run(run_id).groups(0))
    assert [{sample.sample_index for sample in group.samples} for group in groups] == [{0, 1, 2, 3}] * 3
    rewards = [sample.reward or 0.0 for group in groups for sample in group.samples]
    (reward,) = [each["reward"] for each in json.loads(log.read_text()) if "reward" in each]
    assert reward == pytest.approx(sum(rewards) / 12, abs=1e-6)
