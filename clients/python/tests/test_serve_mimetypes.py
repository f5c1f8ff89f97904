"""Test that a mounted environment can read files of MIME types when it is imported."""

from __future__ import annotations

import asyncio
import mimetypes
from pathlib import Path

import pytest

from gradus.serve._link import Host, Terms
from gradus.serve.walls import SYSTEM

GAME = """
from gradus.serve import Environment


class Fair(Environment):
    id = "mine/fair"

    def generate(self, rng):
        return rng.choice(["0", "1", "yes", "a"])

    def prompt(self, instance):
        return "Guess."

    def verify(self, instance, answer):
        return answer == instance
"""


@pytest.mark.parametrize("without", [["namespaces"], ["landlock"]])
def test_what_is_mounted_may_guess_types_of_files_at_its_import(tmp_path: Path, without: list[str]) -> None:
    known = [path for path in mimetypes.knownfiles if Path(path).exists()]
    file = tmp_path / "games.py"
    file.write_text(f"for known in {known!r}:\n    open(known).close()\n{GAME}")

    async def start() -> None:
        await (await Host.start(str(file), Terms(memory_mib=512, without=without))).close()

    asyncio.run(start())
    assert set(mimetypes.knownfiles) <= set(SYSTEM)
