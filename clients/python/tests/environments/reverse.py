from __future__ import annotations

import random

from gradus.serve import Environment, Facts


class Reverse(Environment):
    """Write a word backwards."""

    id = "test/reverse"
    levels = {"short": {"letters": 4}, "long": {"letters": 12}}

    def generate(self, rng: random.Random, letters: int) -> tuple[str, int]:
        return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=letters)), letters

    def prompt(self, instance: tuple[str, int]) -> str:
        return f"Write this word backwards: {instance[0]}"

    def verify(self, instance: tuple[str, int], answer: str) -> bool:
        return (answer, len(answer)) == (instance[0][::-1], instance[1])

    def reference(self, instance: tuple[str, int]) -> str:
        return instance[0][::-1]


class Close(Environment):
    """Give a number close to another one."""

    id = "test/close"
    rows = [{"number": number} for number in range(5)]

    def prompt(self, instance: dict[str, int]) -> list[dict[str, str]]:
        return [{"role": "user", "content": f"Which number follows {instance['number']}?"}]

    def parse(self, answer: str) -> int:
        return int(answer)

    def verify(self, instance: dict[str, int], answer: int) -> float:
        return 1 / (1 + abs(instance["number"] + 1 - answer))


class Shortest(Environment):
    """A short text, where its length counts."""

    id = "test/shortest"
    goal = "minimize"

    def generate(self, rng: random.Random) -> dict[str, int]:
        return {"most": rng.randint(3, 9)}

    def prompt(self, instance: dict[str, int]) -> str:
        return f"Write something of at most {instance['most']} letters."

    def verify(self, instance: dict[str, int], answer: str) -> Facts:
        if len(answer) > instance["most"]:
            return Facts.infeasible(f"it has {len(answer)} letters")
        return Facts.feasible(len(answer))

    def baseline(self, instance: dict[str, int]) -> float:
        return 1
