"""Countdown as an environment of OpenEnv, in openenv-core's own asynchronous application with a verifier in Python.

    python bench/openenv/countdown.py --port 8123

A session is reset with the numbers and the target of a task. Each step is a completion, and its observation has the
reward: 1 if the last answer block reaches the target with each number used once, 0.1 for another expression, else 0.
Gradus gives the same rewards, which `run.py` checks one by one.
"""

from __future__ import annotations

import argparse
import re
from fractions import Fraction
from typing import Any

import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
TOKEN = re.compile(r"\s*(?:(\d{1,9})|([-+*/()=]))")


class UnreadableError(Exception):
    """The text is not an expression."""


class _Reader:
    """Evaluates tokens exactly by recursive descent, without Python's eval."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        at = 0
        text = text.strip()
        while at < len(text):
            found = TOKEN.match(text, at)
            if found is None:
                raise UnreadableError
            self.tokens.append(found[1] or found[2])
            at = found.end()
        self.at = 0
        self.numbers: list[int] = []

    def peek(self) -> str:
        """Returns the next token, empty at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        """Returns the next token, and moves past it."""
        token = self.peek()
        self.at += 1
        return token

    def factor(self) -> Fraction | None:
        """Reads a number, or an expression in parentheses. None: it has no value."""
        token = self.take()
        if token.isdigit():
            self.numbers.append(int(token))
            return Fraction(int(token))
        if token != "(":
            raise UnreadableError
        value = self.expression()
        if self.take() != ")":
            raise UnreadableError
        return value

    def term(self) -> Fraction | None:
        """Reads factors, multiplied and divided."""
        value = self.factor()
        while self.peek() in ("*", "/"):
            divides = self.take() == "/"
            other = self.factor()
            if value is None or other is None or (divides and other == 0):
                value = None
            else:
                value = value / other if divides else value * other
        return value

    def expression(self) -> Fraction | None:
        """Reads terms, added and subtracted."""
        value = self.term()
        while self.peek() in ("+", "-"):
            minus = self.take() == "-"
            other = self.term()
            value = None if value is None or other is None else value - other if minus else value + other
        return value


def reward_of(numbers: list[int], target: int, completion: str) -> float:
    """Returns the reward of the completion's last answer block."""
    answers = [each for each in ANSWER.findall(completion) if each.strip()]
    if not answers:
        return 0.0
    try:
        reader = _Reader(answers[-1])
        value = reader.expression()
        claimed: int | None = None
        if reader.peek() == "=":
            reader.take()
            if not reader.peek().isdigit():
                raise UnreadableError
            claimed = int(reader.take())
        if reader.peek():
            raise UnreadableError
    except UnreadableError:
        return 0.0
    right = value == target and sorted(reader.numbers) == sorted(numbers) and claimed in (None, target)
    return 1.0 if right else 0.1


class Completion(Action):
    """A model's completion."""

    text: str


class Graded(Observation):
    """The observation after a completion. Its reward is in the observation's own field."""


class Countdown(Environment[Completion, Graded, State]):
    """One session's task."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._numbers: list[int] = []
        self._target = 0
        self._state = State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Graded:
        """Begins the task of `numbers` and `target`."""
        self._numbers = list(kwargs["numbers"])
        self._target = int(kwargs["target"])
        return Graded()

    async def reset_async(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Graded:
        """Resets on the event loop, so that no thread is woken."""
        return self.reset(seed, episode_id, **kwargs)

    def step(self, action: Completion, timeout_s: float | None = None, **kwargs: Any) -> Graded:
        """Grades a completion."""
        return Graded(reward=reward_of(self._numbers, self._target, action.text))

    async def step_async(self, action: Completion, timeout_s: float | None = None, **kwargs: Any) -> Graded:
        """Steps on the event loop."""
        return self.step(action, timeout_s, **kwargs)

    @property
    def state(self) -> State:
        """Returns the state that OpenEnv requires. Nothing is counted in it."""
        return self._state


def main() -> None:
    """Serves until it is ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    app = create_fastapi_app(Countdown, Completion, Graded, max_concurrent_envs=1024)
    uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="warning", ws_per_message_deflate=False)


if __name__ == "__main__":
    main()
