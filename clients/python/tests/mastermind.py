"""A policy of games/mastermind, level easy: it guesses the first code that no reply contradicts."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from typing import Any

from gradus import EpisodePosition

PLACES, COLOURS = 3, 4

Code = tuple[int, ...]

CODES: list[Code] = list(itertools.product(range(1, COLOURS + 1), repeat=PLACES))


def marks(secret: Code, guess: Code) -> tuple[int, int]:
    """Return how many places have the right colour, and how many colours are right elsewhere."""
    in_place = sum(a == b for a, b in zip(secret, guess, strict=True))
    common = sum(min(secret.count(colour), guess.count(colour)) for colour in range(1, COLOURS + 1))
    return in_place, common - in_place


def next_code(guesses: Sequence[Code], replies: Sequence[str]) -> Code:
    """Return the first code that agrees with the replies to all guesses."""
    found = [(int(a), int(b)) for a, _, b in (re.findall(r"\d+", reply) for reply in replies)]
    known = list(zip(guesses, found, strict=True))
    return next(code for code in CODES if all(marks(code, guess) == was for guess, was in known))


def next_guess(position: EpisodePosition) -> dict[str, Any]:
    """Return the message with the next guess, as a call of the tool."""
    calls = [call["function"] for each in position.messages for call in each.get("tool_calls", ())]
    guesses = [tuple(json.loads(each["arguments"])["code"]) for each in calls]
    code = next_code(guesses, [each["content"] for each in position.messages if each["role"] == "tool"])
    function = {"name": "guess", "arguments": json.dumps({"code": code})}
    call = {"id": f"call-{len(guesses)}", "type": "function", "function": function}
    return {"role": "assistant", "content": "", "tool_calls": [call]}
