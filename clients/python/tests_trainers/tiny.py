"""Makes a tiny random Qwen2 of characters, which sometimes writes answers in the right form. No download."""

from __future__ import annotations

import string
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import chat_template_utils

OPENING = "<think></think><answer>"
CLOSING = "</answer>"
SPECIAL = ["<pad>", "<|im_end|>"]
CALL = '<tool_call>\n{"name": "submit", "arguments": {"response": "<answer>1 + 1</answer>"}}\n</tool_call>'
WRITTEN = [CLOSING, *"12+"]
"""Tokens that the policy writes after OPENING: enough for right forms, wrong forms and sometimes a right answer."""

TEMPLATE = (
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def save(
    folder: Path, seed: int = 0, calls: bool = False, choices: Sequence[str] = (), texts: Sequence[str] = ()
) -> Path:
    """Saves the policy and its tokenizer for `from_pretrained`. With `calls` it only calls a tool.

    `choices`: its messages are one or several of these texts. `texts`: all texts that are tokens, with `choices`.
    """
    vocabulary = tokenizer(texts)
    if calls or choices:
        vocabulary.chat_template = qwen3_template()
    vocabulary.save_pretrained(folder)
    policy = model(vocabulary, seed)
    # It writes OPENING and then tokens of WRITTEN, or CALL and the end.
    ids = range(len(vocabulary))
    openings = set(vocabulary.convert_tokens_to_ids([*choices] or [CALL if calls else OPENING]))
    after = [] if calls or choices else WRITTEN
    written = {*openings, vocabulary.eos_token_id, *map(vocabulary.convert_tokens_to_ids, after)}
    policy.generation_config.begin_suppress_tokens = [i for i in ids if i not in openings]
    policy.generation_config.suppress_tokens = [i for i in ids if i not in written]
    if choices:
        # Most messages are one text, although there are many texts and one end.
        policy.generation_config.sequence_bias = [[[vocabulary.eos_token_id], 6.0]]
    policy.save_pretrained(folder)
    return folder


def tokenizer(more: Sequence[str] = ()) -> PreTrainedTokenizerFast:
    """Returns a tokenizer of characters, OPENING, CLOSING and `more`."""
    tokens = [*SPECIAL, "<unk>", OPENING, CLOSING, CALL, *sorted(set(string.printable)), *more]
    core = Tokenizer(models.WordLevel({token: i for i, token in enumerate(tokens)}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    core.decoder = decoders.Fuse()
    made = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="<pad>", eos_token="<|im_end|>", unk_token="<unk>", padding_side="left"
    )
    made.chat_template = TEMPLATE
    return made


def model(vocabulary: PreTrainedTokenizerFast, seed: int = 0) -> Qwen2ForCausalLM:
    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=len(vocabulary),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=4096,
        pad_token_id=vocabulary.pad_token_id,
        eos_token_id=vocabulary.eos_token_id,
        bos_token_id=None,
    )
    return Qwen2ForCausalLM(config)


def qwen3_template(training: bool = False) -> str:
    """Returns TRL's copy of Qwen3's template, which TRL can parse, or the variant that keeps earlier messages."""
    name = "qwen3_training.jinja" if training else "qwen3.jinja"
    return Path(chat_template_utils.__file__).with_name("chat_templates").joinpath(name).read_text()
