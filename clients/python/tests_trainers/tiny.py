"""A tiny random Qwen2 that reads characters and writes answers in the right form now and then. Nothing is downloaded."""

from __future__ import annotations

import string
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

OPENING = "<think></think><answer>"
CLOSING = "</answer>"
SPECIAL = ["<pad>", "<eos>"]
WRITTEN = [CLOSING, *"12+"]
"""What the policy writes after OPENING: enough for right forms, wrong forms and now and then a right answer."""

TEMPLATE = (
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def tokenizer() -> PreTrainedTokenizerFast:
    """Each character is a token, and so are OPENING and CLOSING."""
    tokens = [*SPECIAL, "<unk>", OPENING, CLOSING, *sorted(set(string.printable))]
    core = Tokenizer(models.WordLevel({token: i for i, token in enumerate(tokens)}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    made = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", padding_side="left"
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


def generation(vocabulary: PreTrainedTokenizerFast) -> dict[str, Any]:
    """OPENING first, and then what is in WRITTEN."""
    ids = range(len(vocabulary))
    opening = vocabulary.convert_tokens_to_ids(OPENING)
    written = {vocabulary.convert_tokens_to_ids(token) for token in WRITTEN} | {vocabulary.eos_token_id}
    return {
        "begin_suppress_tokens": [i for i in ids if i != opening],
        "suppress_tokens": [i for i in ids if i not in written | {opening}],
    }
