"""From a prompt's text and a completion's text to tokens, and back.

A token is a whole number up to 1,023, an operator, a parenthesis, or a mark of an answer. Of the prompt only what
differs from task to task is read: the numbers and the target. A completion is an answer, and perhaps another:

    <answer>82 - (97 - 44)</answer> <answer>97 - 82 + 44</answer>

The policy writes it token by token. Nothing holds it to a grammar or to the numbers given, and it calculates in its
head.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

PAD, BEGIN, END = 0, 1, 2
SYMBOLS = ("+", "-", "*", "/", "(", ")", "<answer>", "</answer>")
FIRST_SYMBOL = 3
FIRST_NUMBER = 16
NUMBERS = 1024
"""Numbers 0 to 1,023 have a token; targets of Countdown go to 1,000."""
VOCABULARY = FIRST_NUMBER + NUMBERS
WRITTEN = FIRST_NUMBER + 100
"""Tokens below this one can be written: no task gives a number above 99."""

PROMPT_NUMBERS = 5
PROMPT_LENGTH = 2 + PROMPT_NUMBERS
"""Begin, target, and five places for numbers, empty ones padded."""
COMPLETION_LENGTH = 32
"""Two answers of four numbers fit, and one of five."""

_SYMBOL_OF = {FIRST_SYMBOL + i: symbol for i, symbol in enumerate(SYMBOLS)}
_TOKEN_OF = {symbol: token for token, symbol in _SYMBOL_OF.items()}
_WORD = re.compile(r"</?answer>|\d+|[-+*/()]")
_PROMPT = re.compile(r"Using the numbers ([\d, and]+), write an arithmetic expression that equals (\d+)\.")


class UnreadError(ValueError):
    """The text has what no token stands for."""


def encode_prompt(text: str) -> list[int]:
    """The `PROMPT_LENGTH` tokens of a prompt of Countdown."""
    found = _PROMPT.search(text)
    if found is None:
        raise UnreadError(f"not a prompt of Countdown: {text[:80]!r}")
    numbers = [int(each) for each in re.findall(r"\d+", found[1])]
    if len(numbers) > PROMPT_NUMBERS:
        raise UnreadError(f"{len(numbers)} numbers; at most {PROMPT_NUMBERS} are read")
    places = [number_token(each) for each in numbers] + [PAD] * (PROMPT_NUMBERS - len(numbers))
    return [BEGIN, number_token(int(found[2])), *places]


def number_token(value: int) -> int:
    """The token of a whole number."""
    if not 0 <= value < NUMBERS:
        raise UnreadError(f"{value} has no token")
    return FIRST_NUMBER + value


def encode_completion(text: str) -> list[int]:
    """The tokens of a completion, with the end mark."""
    words = _WORD.findall(text)
    return [number_token(int(word)) if word.isdigit() else _TOKEN_OF[word] for word in words] + [END]


def decode(tokens: Iterable[int]) -> str:
    """The text of a completion up to its end mark."""
    words: list[str] = []
    for token in tokens:
        if token == END:
            break
        if token >= FIRST_NUMBER:
            words.append(str(token - FIRST_NUMBER))
        elif token in _SYMBOL_OF:
            words.append(_SYMBOL_OF[token])
    return " ".join(words)


def padded(rows: Sequence[Sequence[int]], length: int) -> npt.NDArray[np.int32]:
    """(rows, length) tokens, padded at the end; longer rows are refused."""
    table = np.zeros((len(rows), length), np.int32)
    for i, row in enumerate(rows):
        if len(row) > length:
            raise UnreadError(f"{len(row)} tokens; at most {length}")
        table[i, : len(row)] = row
    return table
