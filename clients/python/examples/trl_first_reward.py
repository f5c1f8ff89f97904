"""Earns a first reward with TRL in two minutes on a CPU, with a small random model and no download.

    make serve                                            # the server, on localhost:50051
    pip install './clients/python[trl]'                   # several GB
    python trl_first_reward.py                            # prints the mean reward, update by update

A model that is not tuned to follow instructions never writes an answer in the right form. All its rewards are 0, so it
learns nothing from them. The remedy is a warm start: before GRPO it learns the form from demonstrations. Here half of
them are right, and rewards teach the rest. For your own model use demonstrations of your own.
"""

from __future__ import annotations

import argparse
import random
import re
import string
from collections.abc import Sequence
from itertools import islice
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer

import gradus
from gradus.trl import GradusSpec

RUN: dict[str, Any] = {
    "arms": [gradus.arm("sequence/reverse", level) for level in ("L1", "L2")],
    "policy": gradus.recommended(),
    "num_generations": 8,
    "prompts_per_update": 8,
    "seed": 1,
}
OPENING, CLOSING, END = "<think></think><answer>", "</answer>", "<|im_end|>"
TEMPLATE = "{% for message in messages %}{{ message.content }}\n{% endfor %}"


def tokenizer(prompts: Sequence[Any]) -> PreTrainedTokenizerFast:
    """Returns a tokenizer with a token for each word of prompts, each digit, and the marks around an answer."""
    pieces = re.compile(f"{OPENING}|{CLOSING}|[0-9]|[^\\W0-9]+|[\\s\\S]")
    words = {word for prompt in prompts for message in prompt for word in pieces.findall(message["content"])}
    tokens = dict.fromkeys(["<pad>", END, "<unk>", OPENING, CLOSING, *string.printable, *sorted(words)])
    core = Tokenizer(models.WordLevel({token: i for i, token in enumerate(tokens)}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Split(Regex(pieces.pattern), behavior="isolated")
    core.decoder = decoders.Fuse()
    made = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="<pad>", eos_token=END, unk_token="<unk>", padding_side="left"
    )
    made.chat_template = TEMPLATE
    return made


def model(vocabulary: PreTrainedTokenizerFast) -> Qwen2ForCausalLM:
    """Returns a random transformer of a tenth of a million parameters."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = Qwen2Config(
        vocab_size=len(vocabulary),
        num_key_value_heads=4,
        max_position_embeddings=1024,
        pad_token_id=vocabulary.pad_token_id,
        eos_token_id=vocabulary.eos_token_id,
        bos_token_id=None,
        **sizes,
    )
    return Qwen2ForCausalLM(config)


def demonstration(prompt: str, chance: random.Random) -> str:
    """Returns a completion in the right form, which is right half of the time."""
    shown = re.search(r":\s+([0-9 ]+)", prompt)
    digits = [] if shown is None else shown[1].split()[::-1]
    if chance.random() < 0.5:  # noqa: PLR2004
        digits = [chance.choice(string.digits) for _ in digits]
    return f"{OPENING}{''.join(digits)}{CLOSING}{END}"


def warm_start(
    policy: Qwen2ForCausalLM, vocabulary: PreTrainedTokenizerFast, prompts: Sequence[Any], steps: int
) -> None:
    """Trains the model on demonstrations, by the cross entropy of their completions."""
    chance, size = random.Random(0), 32
    optimizer = torch.optim.AdamW(policy.parameters(), lr=3e-3)
    for step in range(steps):
        rows = []
        for prompt in chance.sample(prompts, size):
            asked = vocabulary.apply_chat_template(prompt, tokenize=False)
            answered = vocabulary.encode(demonstration(asked, chance), add_special_tokens=False)
            rows.append((vocabulary.encode(asked, add_special_tokens=False), answered))
        longest = max(len(asked) + len(answered) for asked, answered in rows)
        ids = torch.full((size, longest), vocabulary.pad_token_id)
        labels = torch.full((size, longest), -100)
        for i, (asked, answered) in enumerate(rows):
            ids[i, longest - len(asked) - len(answered) :] = torch.tensor(asked + answered)
            labels[i, longest - len(answered) :] = torch.tensor(answered)
        loss = policy(input_ids=ids, attention_mask=(ids != vocabulary.pad_token_id).long(), labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 25 == 0:
            print(f"warm start, step {step}: loss {loss.item():.2f}", flush=True)


def main(arguments: Sequence[str] | None = None) -> list[float]:
    """Trains, and returns the mean reward of each update."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="localhost:50051")
    parser.add_argument("--run", default="first-reward")
    parser.add_argument("--output", default="out/first-reward")
    parser.add_argument("--warm", type=int, default=300, help="steps on demonstrations; 0 shows what happens without")
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args(arguments)

    spec = GradusSpec(options.server, options.run, RUN, restart=True)
    # Before the training the data set gives sample tasks, which are not taken from the run.
    prompts = [row["prompt"] for row in islice(spec.train_dataset, 256)]
    vocabulary = tokenizer(prompts)
    policy = model(vocabulary)
    warm_start(policy, vocabulary, prompts, options.warm)
    config = GRPOConfig(
        **spec.config(
            output_dir=options.output,
            max_steps=options.steps,
            per_device_train_batch_size=64,
            max_completion_length=8,
            learning_rate=1e-3,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            bf16=False,
            disable_tqdm=True,
        )
    )
    trainer = GRPOTrainer(
        policy,
        args=config,
        processing_class=vocabulary,
        train_dataset=spec.train_dataset,
        reward_funcs=spec.reward_funcs,
        callbacks=spec.callbacks,
    )
    trainer.train()
    rewards = [float(each["reward"]) for each in trainer.state.log_history if "reward" in each]
    tenth = max(1, len(rewards) // 10)
    first, last = (sum(each) / tenth for each in (rewards[:tenth], rewards[-tenth:]))
    print(f"mean reward: {first:.2f} in the first updates, {last:.2f} in the last")
    return rewards


if __name__ == "__main__":
    main()
