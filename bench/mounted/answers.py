"""Compares the scores of mounted libraries with the libraries' own scores, level by level.

Two hosts make the same task of each level. One of them verifies 20 answers to it: the library's own answer, changed
ones, those of other tasks, and none. The library's own scorer, called without a host, must give the same scores. Games
are played by moves that their texts name, until 20 moves were made. The library's own replies, rewards and ends must
be equal. With `--keep FOLDER` the results are kept there, so that a run that was broken off goes on. README.md says
how to run it.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import contextlib
import io
import json
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gradus.serve import _json
from gradus.serve._level import Asked, plain, words
from gradus.serve._link import Host, Terms
from gradus.serve.adapters import rlve_gym
from gradus.serve.adapters._target import slug_of
from gradus.v1 import provider_pb2 as pb

sys.path.append(str(Path(__file__).parents[2] / "clients/python/tests_games"))
from playing import direct, through_host, totals

TARGETS = ["rlve-gym", "reasoning-core", "reasoning-gym", "textarena", "gem", "chuk-puzzles"]
ANSWERS = 20
# Likely answers, of which the first are tried with each task.
LIKELY = [
    "",
    "0",
    "1",
    "-1",
    "no",
    "yes",
    "[]",
    "1 2 3",
    "a",
    "0.5",
    "None",
    "1/2",
    "x",
    "True",
    "2\n1",
]
# Seconds of the library's own scorer for one answer.
NATIVE_SECONDS = 20
# Environments whose own scorer is at fault, with the reason.
FAULTY = {
    "rlve-gym/polya-model": "its own scorer reads all of an output, and so calls each marked answer malformed",
}
SEED = 20_260_101
Score = Callable[[str], float]


def native_of(target: str) -> Callable[[str, Any], Score]:
    """Returns a function that gives, for an environment's name and an instance, the library's own scorer."""
    if target == "rlve-gym":
        generators, _ = rlve_gym._load()
        classes = {rlve_gym.slug_of_generator(name): each for name, each in generators.items()}

        def of_rlve(name: str, instance: Any) -> Score:
            problem = classes[name]()
            problem.set_config(instance)
            return lambda text: max(0.0, problem.scorer(f"<answer>{text}</answer>"))

        return of_rlve
    if target == "reasoning-gym":
        from reasoning_gym.factory import DATASETS  # noqa: PLC0415

        sets = {slug_of(name): each for name, each in DATASETS.items()}

        def of_gym(name: str, instance: Any) -> Score:
            dataset, config = sets[name]
            made = dataset(config(**instance["parameters"], seed=0, size=1))
            return lambda text: made.score_answer(text, instance)

        return of_gym
    from easydict import EasyDict  # noqa: PLC0415
    from reasoning_core import get_score_answer_fn, list_tasks  # noqa: PLC0415

    names = {slug_of(name): name for name in list_tasks()}
    return lambda name, instance: lambda text: get_score_answer_fn(names[name])(text, EasyDict(instance))


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raises TimeoutError if the block takes longer."""

    def late(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def answers_to(reference: str | None, others: list[str], rng: random.Random) -> list[str]:
    """Returns 20 answers: right, changed, of other tasks, likely ones and nonsense."""
    found = [*([reference] if reference else []), *LIKELY[:6], *others]
    for _ in range(6 if reference else 0):
        text = list(reference or "")
        at = rng.randrange(len(text))
        text[at : at + 1] = rng.choice(["", "0", "7", "-", " ", text[at] * 2])
        found.append("".join(text))
    found += LIKELY[6:] + [str(rng.randrange(1000)) for _ in range(ANSWERS)]
    return list(dict.fromkeys(found))[:ANSWERS]


async def compare(
    asked: Asked,
    hosts: tuple[Host, Host],
    native: Callable[[str, Any], Score],
    seen: list[str],
) -> str:
    """Returns how a level differs from the library, in words; empty: it is equal."""
    rng = random.Random(f"{SEED} {asked.environment.id} {asked.level.name}")
    seed = rng.getrandbits(64)
    # The second process has another history: it makes another task first.
    (one,), (_, two) = await asyncio.gather(asked.make(hosts[0], [seed]), asked.make(hosts[1], [seed ^ 1, seed]))
    if one.WhichOneof("result") != "made":
        return f"not made: {words(one)}"
    if plain(one) != plain(two):
        return f"another instance in the second process: {words(two)}"
    made = one.made
    texts = answers_to(made.reference if made.HasField("reference") else None, seen[-3:], rng)
    if made.HasField("reference"):
        seen.append(made.reference)
    found = await asked.verify(hosts[0], made.instance, texts)
    score = native(asked.environment.id.partition("/")[2], _json.load(made.instance))
    for text, each in zip(texts, found, strict=True):
        ours, theirs = served_score(each), native_score(score, text)
        if ours != theirs:
            return f"{text[:40]!r} has {ours} ({words(each)[:200]}), and from the library {theirs}"
    return ""


async def compare_game(asked: Asked, hosts: tuple[Host, Host]) -> str:
    """Returns how games of a level differ from the library's, in words; empty: they are equal."""
    seed = random.Random(f"{SEED} {asked.environment.id} {asked.level.name}").getrandbits(32)
    games, found, moves = [], [], 0
    while moves < ANSWERS and len(games) < ANSWERS:
        try:
            one, two = [await through_host(host, asked, seed + len(games)) for host in hosts]
        except AssertionError as error:
            return f"not played: {error}"
        if one != two:
            return f"another game in the second process: {two}"
        games.append(one[0])
        found.append(one[1])
        moves += len(one[1]) - 1
    for game, ours, theirs in zip(games, found, direct(games), strict=True):
        if ours != totals(theirs):
            return f"{game} gives {ours}, and from the library {theirs}"[:2000]
    return ""


def served_score(found: pb.VerifyResponse) -> float | str:
    """Returns the score that a host gave, or "none" for a failure."""
    if found.WhichOneof("result") == "failure":
        return "none"
    return next((round(each.value, 9) for each in found.facts.components), 0.0)


def native_score(score: Score, text: str) -> float | str:
    """Returns the score that the library gives, or "none" if it raises."""
    random.seed(0)
    try:
        with limited(NATIVE_SECONDS), contextlib.redirect_stdout(io.StringIO()):
            return round(float(score(text)), 9)
    except Exception:  # Whatever the library raises.
        return "none"


class Kept:
    """Results of levels, in a file of JSON lines: an empty text, or how the level differs."""

    def __init__(self, folder: Path | None, target: str) -> None:
        self._file = None if folder is None else folder / f"{target.partition(':')[0]}.jsonl"
        self.known: dict[str, str] = {}
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.touch()
            for line in self._file.read_text().splitlines():
                # The last line may be cut short.
                with contextlib.suppress(ValueError):
                    level, why = json.loads(line)
                    self.known[level] = why

    def keep(self, level: str, why: str) -> None:
        """Appends a level's result."""
        self.known[level] = why
        if self._file is not None:
            with self._file.open("a") as file:
                file.write(f"{json.dumps([level, why])}\n")


async def run(target: str, asked: argparse.Namespace) -> tuple[int, int, dict[str, list[str]]]:
    """Compares the levels of a target. Returns how many were compared, how many are equal, and how others differ."""
    began = time.monotonic()
    kept = Kept(asked.keep, target)
    terms = Terms(workers=1, generate_ms=20_000, verify_ms=10_000)
    hosts = await asyncio.gather(Host.start(target, terms), Host.start(target, terms))
    described = hosts[0].ready.described
    has_turns = any(each.HasField("turns") for each in described.environments)
    native = None if has_turns else native_of(target.partition(":")[0])
    equal = 0
    differ = collections.defaultdict[str, list[str]](list)
    chosen = [
        (environment, level)
        for environment in described.environments
        if not asked.only or environment.id in asked.only
        for level in environment.levels[asked.first :: asked.every]
    ]
    seen = collections.defaultdict[str, list[str]](list)
    for number, (environment, level) in enumerate(chosen):
        key = f"{environment.id}#{level.name} {environment.digest[:16]}"
        why = kept.known.get(key)
        if why is None:
            level_asked = Asked(environment, level)
            if native is None:
                why = await compare_game(level_asked, hosts)
            else:
                why = await compare(level_asked, hosts, native, seen[environment.id])
            kept.keep(key, why)
        if not why:
            equal += 1
        else:
            why = f"{FAULTY[environment.id]}: {why}" if environment.id in FAULTY else why
            differ[environment.id].append(why)
            print(f"{environment.id}#{level.name}: {why}", file=sys.stderr, flush=True)
        if sys.stderr.isatty():
            print(
                f"\r{target}: {number + 1} of {len(chosen)} levels",
                end="\r",
                file=sys.stderr,
                flush=True,
            )
    for host in hosts:
        await host.close()
    for each in described.left_out:
        print(f"left out  {each.name}: {each.reason}", file=sys.stderr)
    print(
        f"{target}: {len(described.environments)} environments, {equal} levels equal in {ANSWERS} answers, "
        f"{len(chosen) - equal} not, after {time.monotonic() - began:.0f} s",
        file=sys.stderr,
        flush=True,
    )
    return len(chosen), equal, differ


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=TARGETS)
    parser.add_argument("--only", action="append", default=[], help="id of an environment")
    parser.add_argument("--every", type=int, default=1, help="try each n-th level only")
    parser.add_argument("--first", type=int, default=0, help="number of the first level to try")
    parser.add_argument(
        "--keep",
        type=Path,
        help="folder in which results are kept, so that another run goes on",
    )
    asked = parser.parse_args()
    failed = False
    for target in asked.targets:
        levels, equal, differ = asyncio.run(run(target, asked))
        failed |= equal < levels
        exceptions = [
            {
                "environment": name,
                "levels": len(reasons),
                "reason": FAULTY.get(name, reasons[0]),
            }
            for name, reasons in sorted(differ.items())
        ]
        print(
            json.dumps({"levels": levels, "equal": equal, "exceptions": exceptions}),
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
