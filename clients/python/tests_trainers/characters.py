"""The tokenizer of `tiny`, whose tokens are characters, put together again when they are read."""

from __future__ import annotations

from tiny import tokenizer
from tokenizers.decoders import Fuse
from transformers import PreTrainedTokenizerFast


def characters() -> PreTrainedTokenizerFast:
    made = tokenizer()
    made.backend_tokenizer.decoder = Fuse()
    return made
