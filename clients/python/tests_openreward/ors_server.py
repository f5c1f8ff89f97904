"""An ORS server on openreward's own classes, as a program: `python ors_server.py PORT NAME...`."""

from __future__ import annotations

import random
import sys
from typing import Any, ClassVar

import uvicorn
from openreward.environments import (
    Environment,
    ImageBlock,
    ListToolsOutput,
    Message,
    Server,
    Split,
    TextBlock,
    ToolOutput,
    ToolSpec,
    terminal,
    tool,
)
from pydantic import BaseModel


class Answer(BaseModel):
    answer: str


class Number(BaseModel, extra="forbid"):
    answer: int


class Pick(BaseModel, extra="forbid"):
    door: int


def told(text: str, reward: float | None = None, *, finished: bool = False) -> ToolOutput:
    return ToolOutput(blocks=[TextBlock(text=text)], reward=reward, finished=finished)


class Sums(Environment):
    """One turn: a message goes to the terminal tool."""

    @classmethod
    def list_splits(cls) -> list[Any]:
        return ["train", Split(name="hard", type="test"), "validation"]

    @classmethod
    def list_tasks(cls, split: str) -> list[Any]:
        sizes = {"train": 1500, "hard": 20, "validation": 0}
        return [{"left": 7 * n + 1, "right": n * n} for n in range(sizes[split])]

    def get_prompt(self) -> list[Any]:
        return [
            TextBlock(text=f"Add {self.task_spec['left']} and {self.task_spec['right']}."),
            TextBlock(text="Be brief."),
        ]

    @terminal
    @tool
    async def submit(self, given: Answer) -> ToolOutput:
        """Takes the sum."""
        return self.scored(given.answer)

    def scored(self, answer: str) -> ToolOutput:
        right = self.task_spec["left"] + self.task_spec["right"]
        near = answer.lstrip("-").isdigit() and abs(int(answer) - right) <= 10
        return told("Thanks.", 1.0 if answer == str(right) else 0.25 if near else 0.0, finished=True)


class Doors(Sums):
    """Several turns: doors are opened until the treasure is found, and each is worth something."""

    def __init__(self, task_spec: Any, secrets: Any = None) -> None:
        super().__init__(task_spec)
        self.rng = random.Random(task_spec["left"])
        self.opened: list[int] = []

    def get_messages(self) -> list[Any]:
        text = f"Find the treasure behind doors 1 to 4, task {self.task_spec['left']}."
        return [
            Message(role="system", blocks=[TextBlock(text="You are in a corridor.")]),
            Message(role="user", blocks=[TextBlock(text=text)]),
        ]

    @tool
    async def open_door(self, given: Pick) -> ToolOutput:
        """Opens a door."""
        if given.door == 13:
            raise RuntimeError("the door is broken")
        self.opened.append(given.door)
        has_treasure = self.rng.randint(1, 4) == given.door
        text = f"Opened: {self.opened}. {'The treasure is here!' if has_treasure else 'Nothing.'}"
        return told(text, 0.5 if has_treasure else 0.0625, finished=has_treasure or len(self.opened) == 8)

    @tool
    async def rest(self) -> ToolOutput:
        """Does nothing."""
        return told("é\r\n\n \u2028" * 30_000 if len(self.opened) == 1 else "Rested.")

    @terminal
    @tool
    async def submit(self, given: Number) -> ToolOutput:
        """Takes a number of doors."""
        return told("Bye.", 0.25 if given.answer == len(self.opened) else 0.0, finished=True)


class Quiet(Doors):
    @terminal
    @tool
    async def submit(self, given: Number) -> ToolOutput:
        """Takes a number of doors."""
        return told("Bye.", None, finished=True)


class Typed(Sums):
    """A message must be a number."""

    @terminal
    @tool
    async def submit(self, given: Number) -> ToolOutput:
        """Takes the sum."""
        return self.scored(str(given.answer))


class Drawn(Sums):
    def get_prompt(self) -> list[Any]:
        return [ImageBlock(data="", mimeType="image/png")]


class Extra(Sums):
    def list_task_tools(self) -> ListToolsOutput:
        return ListToolsOutput(tools=[ToolSpec(name="own", description="", input_schema=None)])


class Lucky(Sums):
    def scored(self, answer: str) -> ToolOutput:
        return told("", random.random(), finished=True)


class Silent(Sums):
    def scored(self, answer: str) -> ToolOutput:
        return told("", None, finished=True)


class Rich(Sums):
    def scored(self, answer: str) -> ToolOutput:
        return told("", 7.0, finished=True)


class Empty(Sums):
    # openreward caches tasks on the class, and a class without a cache of its own has its parent's.
    _tasks_cache: ClassVar[dict[str, Any]] = {}

    @classmethod
    def list_tasks(cls, split: str) -> list[Any]:
        return []


class Failing(Sums):
    """Raises at one answer."""

    def scored(self, answer: str) -> ToolOutput:
        if answer == "boom":
            raise RuntimeError("the judge is away")
        return super().scored(answer)


KINDS = [Sums, Doors, Quiet, Typed, Drawn, Extra, Lucky, Silent, Rich, Empty, Failing]


if __name__ == "__main__":
    port, *names = sys.argv[1:]
    served = Server([kind for kind in KINDS if kind.name() in names])
    uvicorn.run(served.app, host="127.0.0.1", port=int(port), log_level="error")
