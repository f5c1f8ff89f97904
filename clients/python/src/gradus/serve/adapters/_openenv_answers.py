"""Answers for testing an OpenEnv server at mounting: from its schema, from its observations, and likely ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

NONSENSE = "gradus"
LIKELY = (
    *("1", "0", "2", "3", "4", "5", "6", "7", "8", "9", "10"),
    *("yes", "no", "true", "false", "heads", "tails", "a", "b", "c", "left", "right"),
)
CHOICES_MAX = 8
SHOWN_MAX = 8
REVEALED_MAX = 8
_WORD = re.compile(r"-?\d+(?:\.\d+)?|[^\W\d_]{1,24}")


class Answers:
    """Answers in the order in which they are tried, each once.

    A server often reveals the right answer after a step, so `shown` gets each reply. If two replies to one answer
    differ, the differing words may be solutions, and are tried as answers next: a word that is right in one play and
    wrong in another shows that the server ignores the seed.
    """

    def __init__(self, schema: dict[str, Any], field: str, observation: Any) -> None:
        self._fields = {name: each for name, each in schema.get("properties", {}).items() if name != "metadata"}
        self._needed = [name for name in schema.get("required", []) if name in self._fields] or list(self._fields)
        self._field = field
        choices = [str(each) for each in _choices(self._fields.get(field, {}))][:CHOICES_MAX]
        words = list(dict.fromkeys(reversed(_words(observation))))[:SHOWN_MAX]
        self._waiting = [NONSENSE, *choices, *words, *LIKELY]
        self._given: set[str] = set()
        self._revealed = 0
        self._before: set[str] | None = None

    def __iter__(self) -> Iterator[str]:
        """Yields texts, or JSON objects if an action has several fields."""
        while self._waiting:
            text = self._waiting.pop(0)
            answer = text if self._field else json.dumps(self._action(text, len(self._given)))
            if answer not in self._given:
                self._given.add(answer)
                self._before = None
                yield answer

    def shown(self, observation: Any) -> None:
        """Takes a reply to the current answer.

        Words in which two replies differ may be solutions, and are tried next.
        """
        words = set(_words(observation))
        before = self._before
        self._before = words if before is None else before
        for word in sorted(words ^ self._before):
            if self._revealed < REVEALED_MAX and word not in self._given:
                self._revealed += 1
                self._waiting.insert(0, word)

    def _action(self, text: str, number: int) -> dict[str, Any]:
        return {name: _value(self._fields[name], text, number) for name in self._needed}


def _words(observation: Any) -> list[str]:
    return _WORD.findall(json.dumps(observation, ensure_ascii=False))


def _kinds(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the schema, or the alternatives that it offers."""
    return [each for each in (schema, *schema.get("anyOf", []), *schema.get("oneOf", [])) if isinstance(each, dict)]


def _choices(schema: dict[str, Any]) -> list[Any]:
    """Returns the allowed values of a field; empty: any."""
    choices: list[Any] = []
    for each in _kinds(schema):
        choices += each.get("enum", [])
        if "const" in each:
            choices.append(each["const"])
    return choices


def _value(schema: dict[str, Any], text: str, number: int) -> Any:
    """Returns a valid value of a field, made from the text if possible."""
    choices = _choices(schema)
    if choices:
        return choices[number % len(choices)]
    digits = float(text) if re.fullmatch(r"-?\d+(\.\d+)?", text) else 1.0
    values = {"integer": int(digits), "number": digits, "boolean": number % 2 == 0, "array": [], "object": {}}
    kind = next((each["type"] for each in _kinds(schema) if each.get("type") not in (None, "null")), "string")
    return values.get(kind, text)
