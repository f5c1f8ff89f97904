"""Where tasks come from: a pool of rows, solver's answers to start from, and the held-out sets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from conditions import POOL
from settings import Settings
from tokens import COMPLETION_LENGTH, UnreadError, encode_completion, encode_prompt, padded

import gradus
from gradus import Client, Task

_DRAWN = (((3,), 30, 6_000), ((3, 4), 75, 6_000), ((4,), 150, 6_000), ((4,), 999, 6_000), ((5,), 999, 4_000))
"""How many numbers, targets up to, rows. As in the pool that ships with Gradus, numbers and target are drawn apart."""

_SPAN = re.compile(r"<answer>(.*)</answer>")
_OPERATOR = re.compile(r"[-+*/]")


def write_pool(path: Path) -> None:
    """Rows of the public 3-to-4 schema, and some of five numbers; the server drops those without a solution."""
    rng = np.random.default_rng(2026)
    with path.open("w") as out:
        for counts, target_max, rows in _DRAWN:
            for _ in range(rows):
                numbers = rng.integers(1, 100, rng.choice(counts)).tolist()
                out.write(json.dumps({"nums": numbers, "target": int(rng.integers(1, target_max + 1))}) + "\n")


def held_out(client: Client, settings: Settings) -> dict[str, list[Task]]:
    """Prompts of rows in the pool's eval split, which no arm draws, by how many numbers they have."""
    wanted = {"3": settings.held_out, "4": settings.held_out, "5": settings.held_out * 3 // 4}
    found: dict[str, dict[str, Task]] = {count: {} for count in wanted}
    for task in _rows(client, settings.held_out * 2):
        of_count = found[str(len(task.metadata["numbers"].split()))]
        of_count[task.instance_hash] = task
    sets = {count: [*found[count].values()][:number] for count, number in wanted.items()}
    for count, tasks in sets.items():
        if len(tasks) < wanted[count]:
            raise RuntimeError(f"the pool's eval split has {len(tasks)} tasks of {count} numbers; {wanted[count]} wanted")
    return sets


def _rows(client: Client, of_each: int) -> Iterator[Task]:
    """Tier by tier, `of_each` of every tier in turn; a row may come again."""
    for level in ("T0", "T1", "T2", "T3", "OOD"):
        spec = gradus.task_spec("countdown", level=level, split="eval", source="real", pool=POOL)
        yield from (result.result() for result in client.batch_reset(spec, range(of_each)))


def read_start(path: Path, seed: int = 1) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Prompts and completions to imitate, (rows, tokens) each, from what `gradus export --solver` wrote.

    Solutions with a number that has no token on the way are kept, for only the expression is written. One row in seven
    has two answers: a wrong one and then the right one, or the right one and then a wrong one, for that is what makes a
    completion abandon what it found (Curriculum RLOO 3.3).
    """
    rng = np.random.default_rng(seed)
    prompts, completions = [], []
    with path.open() as lines:
        for line in lines:
            prompt, completion = (message["content"] for message in json.loads(line)["messages"])
            try:
                answer = encode_completion(_perhaps_twice(completion, rng))
                if len(answer) <= COMPLETION_LENGTH:
                    prompts.append(encode_prompt(prompt))
                    completions.append(answer)
            except UnreadError:
                continue
    return np.array(prompts, np.int32), padded(completions, COMPLETION_LENGTH)


def _perhaps_twice(completion: str, rng: np.random.Generator) -> str:
    found = _SPAN.search(completion)
    if found is None:
        raise UnreadError(f"no answer in {completion[:80]!r}")
    right = found[1]
    wrong = _OPERATOR.sub(lambda operator: str(rng.choice([each for each in "+-*" if each != operator[0]])), right, 1)
    answers: Sequence[str] = (right,)
    chance = rng.random()
    if chance < 1 / 14:
        answers = (wrong, right)
    elif chance < 1 / 7:
        answers = (right, wrong)
    return " ".join(f"<answer>{each}</answer>" for each in answers)
