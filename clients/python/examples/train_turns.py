"""Trains a tiny random model by GRPO with TRL on tasks of several turns, in minutes on a CPU.

    make serve                                              # the server, on localhost:50051
    pip install './clients/python[trl]'
    python train_turns.py --task mastermind --seeds 3       # or --task maze

Each message of the policy is one token, a call of the task's tool, so that it need not learn the form of calls. First
it learns to predict replies to random calls, and prefers no call. Then GRPO teaches it which call to make after the
replies so far. The figures are mean returns of the first and of the last quarter of GRPO's updates. The 95%
interval of their difference is a bootstrap over groups.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import sys
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

# This must be set before torch is imported: the network is small, and the server needs the other core.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from tqdm import tqdm
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, TrainerCallback
from transformers.trainer_callback import PrinterCallback
from trl import GRPOConfig, GRPOTrainer

import gradus
from gradus import Arm, Client, PolicyTurn, Run, RunGroup, Task
from gradus.trl import GradusSpec

BOOTSTRAPS = 10_000
PROMPTS, GENERATIONS, WARM_STEPS = 16, 8, 200
# Replies begin on a new line. Otherwise their first sentence would be part of the last token before.
TEMPLATE = r"{% for each in messages %}{{ each.content ~ ('' if each.role == 'assistant' else '\n') }}{% endfor %}"
SENTENCE = r"<tool_call>[\s\S]*?</tool_call>|[^.\n]*[.\n]\s*"


def call(tool: str, **arguments: Any) -> str:
    """Returns a message that calls a tool, in the form that the server reads (`text_tools`)."""
    return f"<tool_call>\n{json.dumps({'name': tool, 'arguments': arguments})}\n</tool_call>"


@dataclass(frozen=True)
class Game:
    """A family of tasks, all messages that the policy can write in it, and the number of updates."""

    arm: Arm
    calls: list[str]
    updates: int


GAMES = {
    "mastermind": Game(
        gradus.arm("games/mastermind", parameters={"places": 2, "colours": 3}, calls=4, tools=["guess"]),
        [call("guess", code=code) for code in itertools.product(range(1, 4), repeat=2)],
        100,
    ),
    "maze": Game(
        gradus.arm(
            "games/maze",
            parameters={"size": 3, "loops": 1, "moves_min": 2, "moves_max": 3},
            calls=6,
            tools=["move"],
        ),
        [call("move", direction=name) for name in ("north", "east", "south", "west")],
        60,
    ),
}


@dataclass(frozen=True)
class Figures:
    """Result of a seed. `low` and `high` bound the 95% interval of `last` minus `first`."""

    task: str
    seed: int
    run_id: str
    first: float
    last: float
    low: float
    high: float
    seconds: float


def played(client: Client, game: Game, tasks: Iterable[Task], seed: int) -> list[Sequence[Any]]:
    """Returns conversations of episodes with random calls."""
    chance = np.random.default_rng(seed)

    def generate(positions: Sequence[Any]) -> list[PolicyTurn]:
        return [PolicyTurn(str(chance.choice(game.calls)), text_tools="hermes") for _ in positions]

    return [each.messages for task in tasks for each in client.rollout(task, generate, samples=range(8))]


def tokenizer(game: Game, seen: Iterable[Sequence[Any]]) -> PreTrainedTokenizerFast:
    """Returns a tokenizer with a token for each call, and for each sentence of prompts and replies."""
    core = Tokenizer(models.WordLevel({}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Split(Regex(SENTENCE), behavior="isolated")
    texts = {f"{each['content']}\n" for messages in seen for each in messages if each["role"] != "assistant"}
    sentences = {piece for text in texts for piece, _ in core.pre_tokenizer.pre_tokenize_str(text)}
    tokens = dict.fromkeys(["<pad>", "<end>", "<unk>", *game.calls, *sorted(sentences)])
    core.model = models.WordLevel({token: i for i, token in enumerate(tokens)}, unk_token="<unk>")
    core.decoder = decoders.Fuse()
    made = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="<pad>", eos_token="<end>", unk_token="<unk>", padding_side="left"
    )
    made.chat_template = TEMPLATE
    return made


class Norm(torch.nn.Module):  # type: ignore[misc]
    """Makes the first feature of normalised hidden states 1, so that the head has a bias in its weights."""

    def __init__(self, norm: torch.nn.Module) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Returns features, (..., size), of hidden states, (..., size)."""
        features = self.norm(hidden)
        return torch.cat([torch.ones_like(features[..., :1]), features[..., 1:]], dim=-1)


def model(vocabulary: PreTrainedTokenizerFast, game: Game, seed: int) -> Qwen2ForCausalLM:
    """Returns a random transformer whose messages are one call each."""
    torch.manual_seed(seed)
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = Qwen2Config(
        vocab_size=len(vocabulary),
        num_key_value_heads=4,
        max_position_embeddings=1024,
        pad_token_id=vocabulary.pad_token_id,
        bos_token_id=None,
        tie_word_embeddings=False,
        initializer_range=0.1,
        **sizes,
    )
    made = Qwen2ForCausalLM(config)
    calls = vocabulary.convert_tokens_to_ids(game.calls)
    made.model.norm = Norm(made.model.norm)
    # TRL uses only the head's weights. They allow only calls, all equally likely at first.
    with torch.no_grad():
        made.lm_head.weight.zero_()
        made.lm_head.weight[:, 0] = -1e3
        made.lm_head.weight[calls, 0] = 0.0
    # A message ends with the token of its call.
    made.generation_config.eos_token_id = calls
    return made


def warm_start(policy: Qwen2ForCausalLM, vocabulary: PreTrainedTokenizerFast, seen: Sequence[Sequence[Any]]) -> None:
    """Trains the model to predict replies to random calls, by a temporary head. All calls stay equally likely."""
    ids = [torch.tensor(vocabulary.apply_chat_template(list(each), return_dict=False)) for each in seen]
    rows = torch.nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=vocabulary.pad_token_id)
    head = torch.nn.Linear(policy.config.hidden_size, len(vocabulary))
    optimizer = torch.optim.AdamW([*policy.model.parameters(), *head.parameters()], lr=3e-3)
    for _ in tqdm(range(WARM_STEPS), desc="warm start", unit="step"):
        batch = rows[torch.randint(len(rows), (64,))]
        hidden = policy.model(batch, attention_mask=(batch != vocabulary.pad_token_id).long()).last_hidden_state
        predicted = head(hidden[:, :-1]).flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(
            predicted, batch[:, 1:].flatten(), ignore_index=vocabulary.pad_token_id
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"warm start: loss {loss.item():.3f}")


class Progress(TrainerCallback):  # type: ignore[misc]
    """Progress bar with the last update's mean return. `means` has the mean return of each group so far."""

    def __init__(self, name: str, updates: int, run: Run) -> None:
        self.means: list[float] = []
        self._run = run
        self._bar = tqdm(total=updates, desc=name, unit="update")

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:
        """Updates the bar."""
        if logs and "reward" in logs:
            self._bar.set_postfix(mean=f"{float(logs['reward']):.3f}", refresh=False)
            self._bar.update()

    def on_step_end(self, args: Any, state: Any, *more: Any, **options: Any) -> None:
        """Reads the returns of the update's groups, which the server keeps for a limited time."""
        self.means += map(returns, self._run.groups(state.global_step - 1))

    def on_train_end(self, *arguments: Any, **more: Any) -> None:
        """Ends the bar."""
        self._bar.close()


def train(client: Client, name: str, seed: int, options: argparse.Namespace) -> Figures:
    """Trains one policy."""
    began, game = time.monotonic(), GAMES[name]
    updates = options.updates or game.updates
    run = {
        "arms": [game.arm],
        "policy": gradus.mixture(),
        "num_generations": GENERATIONS,
        "prompts_per_update": PROMPTS,
        "length": updates * PROMPTS,
        "seed": seed,
    }
    spec = GradusSpec(client, f"turns-{name}-{seed}-{uuid.uuid4().hex[:8]}", run, text_tools="hermes")
    # Before the training the data set gives sample tasks, which are not taken from the run.
    samples = (Task.from_json(row["gradus_task"]) for row in itertools.islice(spec.train_dataset, 100))
    seen = played(client, game, samples, seed)
    vocabulary = tokenizer(game, seen)
    policy = model(vocabulary, game, seed)
    warm_start(policy, vocabulary, seen)
    config = GRPOConfig(
        **spec.config(
            output_dir=options.output,
            max_steps=updates,
            per_device_train_batch_size=PROMPTS * GENERATIONS,
            max_completion_length=512,
            learning_rate=options.rate,
            lr_scheduler_type="constant",
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            bf16=False,
            disable_tqdm=True,
            seed=seed,
        )
    )
    progress = Progress(f"{name}, seed {seed}", updates, spec.run)
    trainer = GRPOTrainer(
        policy,
        reward_funcs=spec.reward_funcs,
        args=config,
        train_dataset=spec.train_dataset,
        processing_class=vocabulary,
        rollout_func=spec.rollout_func,
        callbacks=[*spec.callbacks, progress],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    means = np.array(progress.means)
    quarter = len(means) // 4
    return Figures(
        name,
        seed,
        spec.run.run_id,
        float(means[:quarter].mean()),
        float(means[-quarter:].mean()),
        *interval(means[:quarter], means[-quarter:]),
        round(time.monotonic() - began, 1),
    )


def returns(group: RunGroup) -> float:
    """Returns the mean return of a group's episodes."""
    return float(np.mean([sample.reward for sample in group.samples if sample.reward is not None]))


def interval(first: np.ndarray, last: np.ndarray) -> tuple[float, float]:
    """Returns the 95% bootstrap interval of the mean of `last` minus that of `first`."""
    chance = np.random.default_rng(0)
    before, after = (
        each[chance.integers(len(each), size=(BOOTSTRAPS, len(each)))].mean(axis=1) for each in (first, last)
    )
    low, high = np.percentile(after - before, [2.5, 97.5])
    return float(low), float(high)


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the command line. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="localhost:50051")
    parser.add_argument("--task", choices=sorted(GAMES), default="mastermind")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds to train, from 1 on")
    parser.add_argument("--updates", type=int, help="of each seed; each takes 128 episodes")
    parser.add_argument("--rate", type=float, default=2e-3, help="learning rate")
    parser.add_argument("--output", default="out/train-turns")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(arguments)
    with Client(options.server) as client, contextlib.redirect_stdout(sys.stderr):
        rows = [train(client, options.task, seed, options) for seed in range(1, options.seeds + 1)]
    if options.json:
        print(json.dumps([asdict(row) for row in rows]))
    else:
        print("seed  first   last   gain  95% interval    seconds")
        for row in rows:
            bounds = f"{row.low:.3f} to {row.high:.3f}"
            gain = row.last - row.first
            print(f"{row.seed:>4}  {row.first:.3f}  {row.last:.3f}  {gain:.3f}  {bounds}  {row.seconds:>7.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
