"""The law of `gradus env check` that finds verifiers which draw chance of their own."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gradus.serve._laws import Asked, Report, check_level
from gradus.serve._link import Host, Terms

LAW = "an answer is worth the same each time"

GAMES = '''
import random
from gradus.serve import Environment


class Fair(Environment):
    id = "mine/fair"

    def generate(self, rng):
        return rng.choice(["0", "1", "yes", "a"])

    def prompt(self, instance):
        return "Guess."

    def verify(self, instance, answer):
        return answer == instance


class Lucky(Fair):
    """Its secret does not follow from the instance."""

    id = "mine/lucky"

    def verify(self, instance, answer):
        return answer == "yes" and random.SystemRandom().random() < 0.4


class Moody(Fair):
    """Its verifier remembers how often it was asked."""

    id = "mine/moody"
    asked = 0

    def verify(self, instance, answer):
        self.asked += answer == "a"
        return answer == "a" and self.asked % 5 == 0
'''


def test_a_verifier_that_draws_its_own_chance_breaks_a_law(tmp_path: Path) -> None:
    file = tmp_path / "games.py"
    file.write_text(GAMES)

    async def check() -> dict[str, Report]:
        first, second = [await Host.start(str(file), Terms(workers=1, memory_mib=512)) for _ in range(2)]
        try:
            return {
                each.id: await check_level(Asked(each, each.levels[0]), first, second)
                for each in first.ready.described.environments
            }
        finally:
            await first.close()
            await second.close()

    reports = asyncio.run(check())
    assert LAW in reports["mine/fair"].holds
    assert reports["mine/fair"].broken == []
    assert f"{LAW}: 'yes' came to feasible and to infeasible, the answer is wrong" in reports["mine/lucky"].broken
    assert f"{LAW}: 'a' came to feasible and to infeasible, the answer is wrong" in reports["mine/moody"].broken
