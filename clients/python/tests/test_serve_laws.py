"""The law of `gradus env check` that finds verifiers which draw chance of their own."""

from __future__ import annotations

import asyncio
import mimetypes
from pathlib import Path

import pytest

from gradus.serve._check import check
from gradus.serve._laws import Asked, Report, check_level
from gradus.serve._link import Host, Terms
from gradus.serve.walls import SYSTEM

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


def test_a_level_that_is_left_out_fails_the_check(tmp_path: Path) -> None:
    file = tmp_path / "games.py"
    takes_all = """

class TakesAll(Fair):
    id = "mine/takes-all"

    def verify(self, instance, answer):
        return True
"""
    file.write_text(GAMES.partition("class Lucky")[0] + takes_all)
    assert check(str(file), Terms(memory_mib=512), levels=[], seeds=2, as_json=False) == 1


@pytest.mark.parametrize("without", [["namespaces"], ["landlock"]])
def test_what_is_mounted_may_guess_types_of_files_at_its_import(tmp_path: Path, without: list[str]) -> None:
    known = [path for path in mimetypes.knownfiles if Path(path).exists()]
    file = tmp_path / "games.py"
    file.write_text(f"for known in {known!r}:\n    open(known).close()\n{GAMES.partition('class Lucky')[0]}")

    async def start() -> None:
        await (await Host.start(str(file), Terms(memory_mib=512, without=without))).close()

    asyncio.run(start())
    assert set(mimetypes.knownfiles) <= set(SYSTEM)
