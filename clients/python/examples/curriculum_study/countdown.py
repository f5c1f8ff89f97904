"""The first experiment compares curricula for Countdown, with the same number of rollouts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
from experiment import Condition, Experiment, Measure, Raw, Settings, sizes
from model import Size
from tokens import FIRST_NUMBER, PAD, Language, Tokens, UnreadError

import gradus
from gradus import Arm, Client, Policy, Task
from gradus.arms import SpecOptions

POOL = "study"
TIERS = ("T0", "T1", "T2", "T3")
HARD = ("T2", "T3")
SETS = ("3", "4", "5")
"""Held-out sets, by how many numbers they have; no arm has five."""

# --- Texts. ---

_NUMBERS_MAX = 5
_PROMPT = re.compile(r"Using the numbers ([\d, and]+), write an arithmetic expression that equals (\d+)\.")
_ANSWER = re.compile(r"<answer>(.*)</answer>")
_OPERATOR = re.compile(r"[-+*/]")


def _read_prompt(text: str) -> list[int | None]:
    """Returns the target and five numbers, of which unused places are None."""
    found = _PROMPT.search(text)
    if found is None:
        raise UnreadError(f"not a prompt of Countdown: {text[:80]!r}")
    numbers = [int(each) for each in re.findall(r"\d+", found[1])]
    return [int(found[2]), *numbers, *[None] * (_NUMBERS_MAX - len(numbers))]


LANGUAGE = Language(
    prompt_length=2 + _NUMBERS_MAX,
    # Long enough for two answers of four numbers, or one of five.
    completion_length=32,
    # The numbers of tasks are at most 99.
    written=FIRST_NUMBER + 100,
    read_prompt=_read_prompt,
)


def _perhaps_twice(text: str, rng: np.random.Generator) -> str:
    """Makes one answer in seven into two, a wrong one and the right one in either order.

    So the policy learns to abandon right answers, as models do (Curriculum RLOO 3.3). The last answer counts.
    """
    found = _ANSWER.search(text)
    if found is None:
        raise UnreadError(f"no answer in {text[:80]!r}")
    right = found[1]
    wrong = _OPERATOR.sub(lambda operator: str(rng.choice([each for each in "+-*" if each != operator[0]])), right, 1)
    chance = rng.random()
    answers = (wrong, right) if chance < 1 / 14 else (right, wrong) if chance < 1 / 7 else (right,)
    return " ".join(f"<answer>{each}</answer>" for each in answers)


def _shuffled(prompts: Tokens, rng: np.random.Generator) -> Tokens:
    """Returns the prompts with their numbers in another order. The answers stay right."""
    numbers = prompts[:, -_NUMBERS_MAX:]
    order = np.argsort(np.where(numbers == PAD, 2, rng.random(numbers.shape)), axis=1)
    return np.concatenate([prompts[:, :-_NUMBERS_MAX], np.take_along_axis(numbers, order, axis=1)], axis=1)


# --- Tasks. ---

_DRAWN = (((3,), 1, 30), ((3, 4), 1, 75), ((4,), 76, 150), ((4,), 151, 999), ((5,), 1, 999))
"""Numbers in a row, and the range of its targets; the server decides on the tier."""

_VALUE_MAX = 9_999


def write_pool(path: Path, rows: int) -> None:
    """Writes rows of the public 3-to-4 schema, and some of five numbers. All can be solved without fractions.

    The generator's targets are values of random trees, so they are often plain sums. Here each value that the numbers
    can reach is equally likely.
    """
    rng = np.random.default_rng(2026)
    with path.open("w") as out:
        for counts, low, high in _DRAWN:
            for _ in range(rows // len(_DRAWN)):
                numbers: list[int] = []
                targets: list[int] = []
                while not targets:
                    numbers = rng.integers(1, 100, rng.choice(counts)).tolist()
                    targets = sorted(each for each in _reachable(tuple(numbers), {}) if low <= each <= high)
                out.write(json.dumps({"nums": numbers, "target": int(rng.choice(targets))}) + "\n")


def _reachable(numbers: tuple[int, ...], known: dict[tuple[int, ...], set[int]]) -> set[int]:
    """Returns the values from 1 to `_VALUE_MAX` that use each number once, with intermediate values in that range."""
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
    known[numbers] = {each for each in values if 1 <= each <= _VALUE_MAX}
    return known[numbers]


def _held_out(client: Client, settings: Settings) -> dict[str, list[Task]]:
    """Returns rows of the pool's eval split, by their count of numbers; three quarters as many with five numbers."""
    found: dict[str, dict[str, Task]] = {count: {} for count in SETS}
    for level in (*TIERS, "OOD"):
        options: SpecOptions = {"split": "eval", "source": "real", "pool": POOL, "answer_format": "answer_tag"}
        options["level"] = level
        spec = gradus.task_spec("countdown", **options)
        for each in client.batch_reset(spec, range(settings.held_out * 2)):
            task = each.result()
            # Leave out repeated rows.
            found[str(len(task.metadata["numbers"].split()))][task.instance_hash] = task
    wanted = {"3": settings.held_out, "4": settings.held_out, "5": settings.held_out * 3 // 4}
    sets = {count: [*found[count].values()][:number] for count, number in wanted.items()}
    for count, tasks in sets.items():
        if len(tasks) < wanted[count]:
            raise RuntimeError(f"the pool's eval split has {len(tasks)} tasks of {count} numbers, not {wanted[count]}")
    return sets


# --- Conditions. ---


_EASIEST_SHARE = 0.81
"""Share of the easiest tier in the default's draws; the default waits there for a threshold."""


def _real() -> list[Arm]:
    return [
        gradus.arm("countdown", tier, arm_id=f"real/{tier}", source="real", pool=POOL, hard=tier in HARD)
        for tier in TIERS
    ]


def _real_and_made() -> list[Arm]:
    made = [
        gradus.arm("countdown", tier, arm_id=f"synthetic/{tier}", source="synthetic", hard=tier in HARD)
        for tier in TIERS
    ]
    return _real() + made


def _fixed() -> list[Arm]:
    others = (1 - _EASIEST_SHARE) / (len(TIERS) - 1)
    return [
        replace(arm, weight=_EASIEST_SHARE if tier == TIERS[0] else others)
        for arm, tier in zip(_real(), TIERS, strict=True)
    ]


def _staged() -> Policy:
    """Returns stages of ranks over all rows together. Earlier servers ranked rows within each tier."""
    return gradus.staged(
        gradus.stage(share=0.3, ranks=(0, 0.3, "solutions")),
        gradus.stage(share=0.4, ranks=(0, 0.7, "solutions")),
        gradus.stage(share=0.3, ranks=(0, 1, "solutions")),
    )


def _replay() -> Policy:
    easy, medium, hard = {"real/T0": 1.0, "real/T1": 1.0}, {"real/T2": 1.0}, {"real/T3": 1.0}
    return gradus.replay(
        gradus.stage(easy, share=0.5), gradus.stage(medium, share=0.4), gradus.stage(hard, share=0.1), cycles=3
    )


def _bandit() -> Policy:
    return gradus.bandit(constraints=gradus.constraints(hard_share_min=0.1, hard_warmup_batches=5))


def _adsc() -> Policy:
    bounds = gradus.constraints(real_share_min=0.3, synthetic_share_max=0.5, hard_share_min=0.1, hard_warmup_batches=5)
    return gradus.bandit(constraints=bounds)


def _default() -> Policy:
    tiers = [{f"real/{tier}": 1.0} for tier in TIERS]
    every = {arm: 1.0 for tier in tiers for arm in tier}
    return gradus.competence(*tiers, every, step="move_on", threshold=0.7, window=32, floor=0.25)


CONDITIONS = (
    Condition(
        "uniform",
        "equal shares of four tiers (ADSC, Vanilla RLOO)",
        gradus.mixture,
        _real,
        "graded",
        papers="ADSC .480, .68; Curriculum RLOO .496, .72",
    ),
    Condition(
        "staged within tiers",
        "of each tier the easiest 30%, the easiest 70%, all; tiers in equal shares throughout",
        _staged,
        _real,
        "graded",
        papers="none: Curriculum RLOO slices all prompts together",
        is_retired=True,
    ),
    Condition(
        "staged",
        "of all rows the easiest 30%, the easiest 70%, all (Curriculum RLOO 3.2)",
        _staged,
        _real,
        "graded",
        papers="Curriculum RLOO, step 90: .509, .70",
    ),
    Condition(
        "bandit", "over the pool's tiers (ADSC, real-only MAB)", _bandit, _real, "graded", papers="ADSC .508, .70"
    ),
    Condition(
        "bandit, synthetic too",
        "over eight arms (ADSC, rule-based)",
        _adsc,
        _real_and_made,
        "graded",
        papers="ADSC .478, .68",
    ),
    Condition("replay", "easy, medium, hard, three times, 5:4:1 (FORGE 3.3)", _replay, _real, "graded", papers="none"),
    Condition(
        "default",
        "what `recommended()` was then: what is mastered makes way for the next",
        _default,
        _real,
        "graded",
        papers="nearest: Hybrid .515, .70",
    ),
    Condition(
        "fixed, 81% easiest",
        "the shares that the default came to on average, from first to last",
        gradus.mixture,
        _fixed,
        "graded",
        papers="none",
    ),
    Condition(
        "default + VCC",
        "the same, with contrast pairs as a second loss",
        _default,
        _real,
        "vcc",
        contrast=True,
        papers="outcome reward + VCC .326, .78, over .306, .78",
    ),
)

# --- Measures. ---


def _passes(sets: Sequence[str], k: int) -> Measure:
    numbers = "" if len(sets) > 1 else f", {sets[0]} numbers"
    return Measure(f"pass@{k}{numbers}", lambda raw: float(np.mean([raw["passes"][each][k - 1] for each in sets])))


def _average(raw: Raw) -> float:
    return float(np.mean([raw["passes"][each] for each in ("3", "4")]))


def _score(point: Mapping[str, Mapping[str, float]]) -> float:
    return (point["3"]["solved"] + point["4"]["solved"]) / 2


EXPERIMENT = Experiment(
    name="countdown",
    question="Does the server's curriculum help? Countdown, held-out prompts of 3 and 4 numbers",
    language=LANGUAGE,
    settings=sizes(
        Settings(Size(LANGUAGE), start_rows=150_000, start_steps=2_000, updates=150),
        tiny_held_out=8,
        large_start_rows=1_000_000,
        large_start_steps=6_000,
    ),
    levels=(("countdown", TIERS),),
    pool=f"{POOL}=countdown",
    write_pool=write_pool,
    held_out=_held_out,
    twist=_perhaps_twice,
    shuffle=_shuffled,
    conditions=CONDITIONS,
    baseline="uniform",
    score=_score,
    score_title="held-out pass@1, 3 and 4 numbers",
    measures=(
        _passes(("3", "4"), 1),
        _passes(("3", "4"), 16),
        Measure("average pass@k", _average),
        _passes(("3",), 1),
        _passes(("4",), 1),
        _passes(("5",), 1),
        _passes(("5",), 16),
    ),
    compared=("pass@1", "pass@16", "average pass@k", "pass@1, 5 numbers"),
)
