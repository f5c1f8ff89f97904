"""A tokenizer whose tokens are characters: small, and without anything to download."""

from __future__ import annotations

from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast

_TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"


def characters() -> PreTrainedTokenizerFast:
    known = ["<pad>", "<eos>", "?", *(chr(code) for code in [10, *range(32, 127), 0x00D7, 0x2212, 0x2014, 0x2019])]
    tokenizer = Tokenizer(WordLevel({each: number for number, each in enumerate(dict.fromkeys(known))}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        chat_template=_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )
