"""All of reasoning-gym, mounted: what is served, and whether its tasks and verdicts are the same everywhere.

Two hosts, which are two processes of Python, make the same items in opposite orders, and verify the same answers; then
all workers of the second are killed, and it is asked again. README.md says how to run it. With `--out` what came of a
set is written each minute and when it is done, and the same command goes on where it was broken off.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from gradus.serve._laws import TASK_ID_BYTES_MAX, Asked, plain, words
from gradus.serve._link import Host, Terms
from gradus.serve._trial import NONSENSE, reaches_top
from gradus.v1 import provider_pb2 as pb

CHUNK = 20
# Of each level in the first round, so that a set whose items take seconds has some of every level in its time.
FIRST_CHUNK = 2
LAW_SEEDS = 3
# What takes longer to make is dear: a server that has forgotten it makes its callers wait.
DEAR_MS = 50
MARKER = Path("/tmp/gradus-marker")
# What came of a set is written so often while it goes on, and after it.
KEEP_SECONDS = 60
HOSTILE = [
    "9**9**9",
    "1" * 1_000_000,
    f"__import__('os').system('touch {MARKER}')",
    f"open('{MARKER}', 'w')",
    "__import__('os')._exit(0)",
    "[" * 50_000,
]


class Tally:
    """What came of one data set."""

    def __init__(self, environment: pb.ProvidedEnvironment) -> None:
        self.id = environment.id
        self.digest = environment.digest
        self.runs_answers = any("runs answers" in remark for remark in environment.remarks)
        self.levels = len(environment.levels)
        self.left_out: dict[str, str] = {}
        self.seconds = 0.0
        # Of those that its levels have in turn.
        self.chunks = 0
        self.items = 0
        self.verdicts = 0
        self.differ: list[str] = []
        self.failures: Counter[str] = Counter()
        self.hostile: Counter[str] = Counter()
        self.rewarded: list[str] = []
        # By level: mean milliseconds that making one took, and the most bytes of one, deflated.
        self.make_ms: dict[str, float] = {}
        self.deflated: dict[str, int] = {}

    @classmethod
    def read(cls, environment: pb.ProvidedEnvironment, kept: dict[str, object]) -> Tally:
        """As a line of the file of results has it."""
        tally = cls(environment)
        for key, value in kept.items():
            setattr(tally, key, Counter(value) if isinstance(vars(tally).get(key), Counter) else value)
        return tally

    def as_json(self) -> dict[str, object]:
        """For the file of results."""
        return {key: dict(value) if isinstance(value, Counter) else value for key, value in vars(self).items()}

    def took(self, level: str, seconds: float, made: Sequence[pb.GenerateResponse]) -> None:
        """Notes what instances cost: of the slowest and the largest of chunks."""
        self.make_ms[level] = max(self.make_ms.get(level, 0), round(seconds * 1000 / len(made), 3))
        sizes = [len(zlib.compress(each.made.instance)) for each in made if each.WhichOneof("result") == "made"]
        self.deflated[level] = max([self.deflated.get(level, 0), *sizes])

    def wrong(self) -> list[str]:
        """What must not be."""
        return [*self.differ, *(f"rewarded: {text}" for text in self.rewarded)]


async def examine(
    environment: pb.ProvidedEnvironment, first: Host, second: Host, asked: argparse.Namespace, tally: Tally
) -> None:
    """So many items of a data set, over those of its levels that keep the laws, or what there is time for."""
    before = tally.seconds
    began = kept = time.monotonic()
    levels = []
    for each in environment.levels:
        level = Asked(environment, each)
        reason = await unlawful(level, first)
        if reason is None:
            levels.append(level)
        else:
            tally.left_out[each.name] = reason
    for at, (level, begin, count) in enumerate(chunks(levels, asked.items)):
        if at < tally.chunks or (begin > 0 and tally.seconds >= asked.set_seconds):
            continue
        await examine_level(level, first, second, (begin, count), tally)
        tally.chunks = at + 1
        tally.seconds = round(before + time.monotonic() - began, 1)
        if time.monotonic() - kept > KEEP_SECONDS:
            kept = time.monotonic()
            keep(asked, tally, seconds_max=tally.seconds)


def chunks(levels: Sequence[Asked], items: int) -> Iterator[tuple[Asked, int, int]]:
    """A chunk of each level in turn, so that all have had some when the time ends: from which item, and how many."""
    done = 0
    size = FIRST_CHUNK
    while done < -(-items // max(1, len(levels))):
        for index, asked in enumerate(levels):
            share = items // len(levels) + (index < items % len(levels))
            count = min(size, share - done)
            if count > 0:
                yield asked, done, count
        done += size
        size = CHUNK


async def unlawful(asked: Asked, host: Host) -> str | None:
    """Why a server would not serve the level; None: it would."""
    for made in await asked.make(host, asked.seeds(LAW_SEEDS)):
        if made.WhichOneof("result") != "made":
            return words(made)
        texts = [NONSENSE, "nan", made.made.reference]
        *nonsense, reference = await asked.verify(host, made.made.instance, texts)
        for text, found in zip(texts, nonsense, strict=False):
            if found.WhichOneof("result") == "failure" and text == NONSENSE:
                return f"of '{text}': {words(found)}"
            if reaches_top(found.facts) and text != made.made.reference:
                return f"it takes nonsense for a right answer: '{text}'"
        if made.made.HasField("reference") and not reaches_top(reference.facts):
            return f"it takes its own reference answer for wrong: {words(reference)}"
    return None


async def examine_level(asked: Asked, first: Host, second: Host, which: tuple[int, int], tally: Tally) -> None:
    """Makes items, so many from a place on, in two orders, and has answers to each verified three times."""
    begin, count = which
    seeds = asked.seeds(begin + count + 1)[1 + begin :]
    # At once, for a set whose items take seconds takes hours.
    made, reversed_again = await asyncio.gather(timed(asked, first, seeds, tally), asked.make(second, seeds[::-1]))
    again = reversed_again[::-1]
    for seed, one, other in zip(seeds, made, again, strict=True):
        tally.items += 1
        if plain(one) != plain(other):
            tally.differ.append(f"{asked.level.name}, seed {seed}: {words(one)} and {words(other)}")
        elif one.WhichOneof("result") != "made":
            tally.failures[words(one)[:100]] += 1
    good = [
        one.made
        for one, other in zip(made, again, strict=True)
        if one.WhichOneof("result") == "made" == other.WhichOneof("result")
    ]
    answers = [answers_to(instance) for instance in good]
    found = [await asked.verify(first, instance.instance, texts) for instance, texts in zip(good, answers, strict=True)]
    for is_after_kill in (False, True):
        if is_after_kill:
            await second.kill_workers()
        for instance, texts, before in zip(good, answers, found, strict=True):
            after = (await asked.verify(second, instance.instance, texts[::-1]))[::-1]
            for text, one, other in zip(texts, before, after, strict=True):
                tally.verdicts += 1
                if plain(one) != plain(other):
                    tally.differ.append(f"{asked.level.name}, {text[:40]!r}: {words(one)} and {words(other)}")
    for texts, before in zip(answers, found, strict=True):
        tally.rewarded += [
            text[:60] for text, each in zip(texts, before, strict=True) if text == NONSENSE and reaches_top(each.facts)
        ]
        tally.failures.update(words(each)[:100] for each in before if each.WhichOneof("result") == "failure")
    if good and not tally.hostile:
        await attack(asked, first, good[0], tally)


async def timed(asked: Asked, host: Host, seeds: Sequence[int], tally: Tally) -> Sequence[pb.GenerateResponse]:
    """Makes items, and notes what they cost."""
    began = time.perf_counter()
    made = await asked.make(host, seeds)
    tally.took(asked.level.name, time.perf_counter() - began, made)
    return made


async def attack(asked: Asked, host: Host, instance: pb.ProvidedInstance, tally: Tally) -> None:
    """Answers that hang, crash or reach out. None may be rewarded, and each is told of by itself."""
    for text, each in zip(HOSTILE, await asked.verify(host, instance.instance, HOSTILE), strict=True):
        kind = each.WhichOneof("result")
        name = (
            pb.ProviderFailureKind.Name(each.failure.kind).rpartition("_")[2].lower() if kind == "failure" else "told"
        )
        tally.hostile[name] += 1
        if reaches_top(each.facts):
            tally.rewarded.append(text[:60])
    if MARKER.exists():
        tally.rewarded.append("an answer wrote a file")
        MARKER.unlink()


def answers_to(instance: pb.ProvidedInstance) -> list[str]:
    """The reference, things near it, and nonsense."""
    reference = instance.reference
    near = [reference, reference + " ", reference[:-1], reference[::-1], "0", "", NONSENSE]
    return list(dict.fromkeys(near))


# The file of results.


def read_kept(out: str | None) -> dict[str, dict[str, object]]:
    """What came of sets before, by id, the newest of each. A line that the end of its process cut short is none."""
    kept: dict[str, dict[str, object]] = {}
    if out is None or not Path(out).exists():
        return kept
    for line in Path(out).read_text(encoding="utf-8").splitlines():
        try:
            read = json.loads(line)
        except ValueError:
            continue
        kept[read["id"]] = read
    return kept


def begun(kept: dict[str, object] | None, environment: pb.ProvidedEnvironment, asked: argparse.Namespace) -> Tally:
    """What came of a set so far: of the same sources, and of as many items."""
    if kept is None or kept["digest"] != environment.digest or kept["items_max"] != asked.items:
        return Tally(environment)
    return Tally.read(environment, kept)


def is_enough(tally: Tally, kept: dict[str, object] | None, asked: argparse.Namespace) -> bool:
    """Whether a set need not be gone on with: it had all its items, or as much time."""
    if tally.chunks == 0 or kept is None:
        return False
    return tally.items >= asked.items or kept["seconds_max"] >= asked.set_seconds  # type: ignore[operator]


def keep(asked: argparse.Namespace, tally: Tally, *, seconds_max: float) -> None:
    """A line of its own even after one that was cut short."""
    if asked.out is None:
        return
    line = {**tally.as_json(), "items_max": asked.items, "seconds_max": min(seconds_max, 1e12)}
    with Path(asked.out).open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps(line, ensure_ascii=False))


def tidy(out: str | None) -> None:
    """Leaves the newest line of each set."""
    if out is not None:
        kept = sorted(read_kept(out).items())
        Path(out).write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for _, line in kept), encoding="utf-8")


async def main(arguments: Sequence[str]) -> int:
    """The exit status: 0 where nothing differs and nothing is rewarded that must not be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=500, help="of each data set (500)")
    parser.add_argument("--sets", default="", help="names between commas; all unless given")
    parser.add_argument("--set-seconds", type=float, default=1e12, help="of a data set at most (no limit)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", help="file of results, JSON lines, from which the same command goes on")
    asked = parser.parse_args(arguments)
    target = f"reasoning-gym:{asked.sets}" if asked.sets else "reasoning-gym"
    began = time.monotonic()
    terms = Terms(workers=asked.workers, start_seconds=7200)
    first, second = await asyncio.gather(*(Host.start(target, terms) for _ in range(2)))
    try:
        return await report(first, second, asked, time.monotonic() - began)
    finally:
        await asyncio.gather(first.close(), second.close())


async def report(first: Host, second: Host, asked: argparse.Namespace, seconds: float) -> int:
    """Prints what came, set by set."""
    described = first.ready.described
    levels = sum(len(each.levels) for each in described.environments)
    print(
        f"{len(described.environments)} sets with {levels} levels, mounted twice in {seconds:.0f} s; "
        f"{first.ready.locked}"
    )
    for each in described.left_out:
        print(f"left out  {each.name}: {each.reason}")
    if plain_of(first) != plain_of(second):
        print("the two hosts describe themselves differently")
    tallies = []
    kept = read_kept(asked.out)
    for environment in described.environments:
        before = kept.get(environment.id)
        tally = begun(before, environment, asked)
        if not is_enough(tally, before, asked):
            await examine(environment, first, second, asked, tally)
            keep(asked, tally, seconds_max=asked.set_seconds)
        tallies.append(tally)
        tell(tally)
    tidy(asked.out)
    return sum_up(tallies, described, asked)


def plain_of(host: Host) -> bytes:
    """What a host describes, to be compared."""
    return host.ready.described.SerializeToString(deterministic=True)


def tell(tally: Tally) -> None:
    """A line of a set, and the first things that are wrong with it."""
    for level, reason in tally.left_out.items():
        print(f"left out  {tally.id}#{level}: {reason}")
    noted = ", ".join(f"{count} times {what}" for what, count in tally.failures.items())
    hostile = ", ".join(f"{count} {what}" for what, count in tally.hostile.items())
    wrong = tally.wrong()
    print(
        f"{'WRONG' if wrong else 'ok':5} {tally.id}: {tally.items} items, {tally.verdicts} verdicts in "
        f"{tally.seconds:g} s; hostile: {hostile}{'; ' + noted if noted else ''}"
    )
    for line in wrong[:3]:
        print(f"      {line}")
    sys.stdout.flush()


def sum_up(tallies: Sequence[Tally], described: pb.DescribeResponse, asked: argparse.Namespace) -> int:
    """Prints what came of all, and gives the exit status."""
    bad = [tally.id for tally in tallies if tally.wrong()]
    served = [tally for tally in tallies if len(tally.left_out) < tally.levels]
    names = [each.name for each in described.left_out if "#" not in each.name]
    named = sum(len(tally.left_out) for tally in tallies) + len(described.left_out) - len(names)
    short = [f"{tally.id} {tally.items}" for tally in served if tally.items < asked.items]
    made = [(tally, level) for tally in tallies for level in tally.make_ms]
    large = [(tally, level) for tally, level in made if tally.deflated[level] > TASK_ID_BYTES_MAX]
    dear = [
        f"{tally.id}#{level} {tally.make_ms[level]:.0f} ms, {tally.deflated[level]:,} bytes"
        for tally, level in large
        if tally.make_ms[level] > DEAR_MS
    ]
    print(
        f"{len(served)} sets served, {len(tallies) - len(served) + len(names)} sets and {named} levels named "
        "with a reason; "
        f"{sum(tally.runs_answers for tally in tallies)} sets run answers as code\n"
        f"{sum(len(tally.rewarded) for tally in tallies)} exceptions, hangs or nonsense became a reward\n"
        f"{sum(tally.items for tally in tallies):,} items, {sum(tally.verdicts for tally in tallies):,} verdicts, "
        f"{sum(len(tally.differ) for tally in tallies)} of them other in another process, order or after a kill\n"
        f"fewer than {asked.items} items: {', '.join(short) or 'none'}\n"
        f"too large for a task's id: {len(large)} of {len(made)} levels; of these over {DEAR_MS} ms to make: "
        f"{', '.join(dear) or 'none'}\nwrong: {', '.join(bad) or 'none'}"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
