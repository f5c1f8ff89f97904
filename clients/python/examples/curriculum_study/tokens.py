"""Converts texts to tokens and back.

A token is a whole number up to 1,023, an operator, a bracket, or a mark. An experiment reads only the numbers of a
prompt, which differ between tasks. The policy writes its completions token by token, without a grammar or a
calculator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Tokens = npt.NDArray[np.int32]

PAD, BEGIN, END = 0, 1, 2
SYMBOLS = ("+", "-", "*", "/", "(", ")", "[", "]", "<answer>", "</answer>")
FIRST_SYMBOL = 3
FIRST_NUMBER = 16
NUMBERS = 1024
"""Numbers 0 to 1,023 have a token."""
VOCABULARY = FIRST_NUMBER + NUMBERS

_SYMBOL_OF = {FIRST_SYMBOL + i: symbol for i, symbol in enumerate(SYMBOLS)}
_TOKEN_OF = {symbol: token for token, symbol in _SYMBOL_OF.items()}
_WORD = re.compile(r"</?answer>|\d+|[-+*/()\[\]]")


class UnreadError(ValueError):
    """The text has a part that no token stands for."""


@dataclass(frozen=True)
class Language:
    """Tokens of an experiment's prompts and completions.

    Attributes
    ----------
    prompt_length, completion_length
        Lengths in tokens. Shorter texts are padded at the end.
    written
        Completions can have tokens below this one.
    read_prompt
        Function that returns the numbers of a prompt, at most prompt_length - 1, with None for empty places.
    between_numbers
        Text between two numbers in a row.

    """

    prompt_length: int
    completion_length: int
    written: int
    read_prompt: Callable[[str], Sequence[int | None]]
    between_numbers: str = " "

    @property
    def length(self) -> int:
        """Number of tokens of a prompt and its completion."""
        return self.prompt_length + self.completion_length

    def prompt(self, text: str) -> Tokens:
        """Returns the tokens of a prompt, (prompt_length,)."""
        places = [PAD if each is None else number_token(each) for each in self.read_prompt(text)]
        return _padded([BEGIN, *places], self.prompt_length)

    def completion(self, text: str) -> Tokens:
        """Returns the tokens of a completion with the end mark, (completion_length,)."""
        words = _WORD.findall(text)
        tokens = [number_token(int(word)) if word.isdigit() else _TOKEN_OF[word] for word in words]
        return _padded([*tokens, END], self.completion_length)

    def text(self, completion: Iterable[int]) -> str:
        """Returns the text of a completion, up to its end mark."""
        text, after_number = "", False
        for token in completion:
            if token in {END, PAD}:
                break
            number = token >= FIRST_NUMBER
            word = str(token - FIRST_NUMBER) if number else _SYMBOL_OF.get(int(token), "")
            text += (self.between_numbers if number and after_number else " " if text else "") + word
            after_number = number
        return text

    def up_to(self, completion: Tokens, end: int) -> Tokens:
        """Returns the tokens of the first `end` characters of the text, with the end mark if that is the whole text."""
        for kept in range(len(completion)):
            if len(self.text(completion[:kept])) >= end:
                whole = kept < len(completion) and completion[kept] == END
                return _padded(completion[: kept + int(whole)].tolist(), self.completion_length)
        return completion


def number_token(value: int) -> int:
    """Returns the token of a whole number."""
    if not 0 <= value < NUMBERS:
        raise UnreadError(f"{value} has no token")
    return FIRST_NUMBER + value


def _padded(row: Sequence[int], length: int) -> Tokens:
    if len(row) > length:
        raise UnreadError(f"{len(row)} tokens; at most {length}")
    table = np.full(length, PAD, np.int32)
    table[: len(row)] = row
    return table
