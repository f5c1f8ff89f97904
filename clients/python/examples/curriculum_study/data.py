"""Where tasks come from: a pool of rows, solver's answers to start from, and the held-out sets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path

import numpy as np
import numpy.typing as npt
from conditions import POOL
from settings import Settings
from tokens import COMPLETION_LENGTH, UnreadError, encode_completion, encode_prompt, padded

import gradus
from gradus import Client, Task
from gradus.arms import SpecOptions

_DRAWN = (((3,), 1, 30), ((3, 4), 1, 75), ((4,), 76, 150), ((4,), 151, 999), ((5,), 1, 999))
"""How many numbers a row has, and its targets' range; the server has the last word on the tier."""

_ROWS_OF_EACH = 4_500

_SPAN = re.compile(r"<answer>(.*)</answer>")
_OPERATOR = re.compile(r"[-+*/]")


def write_pool(path: Path) -> None:
    """Rows of the public 3-to-4 schema, and some of five numbers; all can be reached without fractions on the way.

    The generator's targets are values of random trees, and so often plain sums; here each value that the numbers can
    reach is as likely as any other.
    """
    rng = np.random.default_rng(2026)
    with path.open("w") as out:
        for counts, low, high in _DRAWN:
            for _ in range(_ROWS_OF_EACH):
                numbers, targets = [], []
                while not targets:
                    numbers = rng.integers(1, 100, rng.choice(counts)).tolist()
                    targets = sorted(each for each in _reachable(tuple(numbers), {}) if low <= each <= high)
                out.write(json.dumps({"nums": numbers, "target": int(rng.choice(targets))}) + "\n")


def _reachable(numbers: tuple[int, ...], known: dict[tuple[int, ...], set[int]]) -> set[int]:
    """Whole numbers from 1 to 9,999 that use each number once, by way of such numbers only."""
    if len(numbers) == 1:
        return {numbers[0]}
    if numbers in known:
        return known[numbers]
    values: set[int] = set()
    first, rest = numbers[0], numbers[1:]
    for size in range(len(rest)):
        for others in combinations(range(len(rest)), size):
            left = _reachable((first, *(rest[i] for i in others)), known)
            right = _reachable(tuple(each for i, each in enumerate(rest) if i not in others), known)
            for a, b in product(left, right):
                values |= {a + b, a * b, abs(a - b)}
                if a % b == 0:
                    values.add(a // b)
                elif b % a == 0:
                    values.add(b // a)
    known[numbers] = {each for each in values if 1 <= each <= 9_999}
    return known[numbers]


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
        options: SpecOptions = {"split": "eval", "source": "real", "pool": POOL, "answer_format": "answer_tag"}
        spec = gradus.task_spec("countdown", level=level, **options)
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
