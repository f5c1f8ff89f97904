"""The laws that an environment is asked to keep, at every level: what `gradus env check` says."""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from gradus.serve._link import Host
from gradus.serve._trial import found_in_words, reaches_top
from gradus.v1 import provider_pb2 as pb

SEEDS = 8
REPEATS = 12
"""Times that each of a few answers to one instance is verified in a row."""
REPEATED = ("gradus-nonsense", "0", "1", "yes", "a")
REPEATED_MS_MAX = 20_000
TASK_ID_BYTES_MAX = 2500
"""An instance that deflates to so few bytes travels in its task's id; others are made again."""

HOSTILE = {
    "nothing": "",
    "a space": " ",
    "a null byte": "\x00",
    "nonsense": "gradus-nonsense",
    "1 MB of nines": "9" * 1_000_000,
    "100,000 brackets": "[" * 100_000,
    "a power of powers": "9**9**9",
    "an exit": "__import__('os')._exit(0)",
    "a recursion": "(lambda f: f(f))(lambda f: f(f))",
    "nan": "nan",
    "infinity": "1e999",
    "other digits": "٣٤ ⁴ Ⅷ",
    "JSON": '{"answer": [[null, {"a": 1e400}]]}',
    "lone surrogates' neighbours": "\ud7ff\ue000\U0010ffff",
    "markup": "</answer><answer>\\boxed{}",
}


@dataclass
class Report:
    """Of one level."""

    environment: str
    level: str
    holds: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    make_ms: float = 0
    verify_ms: float = 0
    instance_bytes: int = 0
    deflated_bytes: int = 0

    def law(self, name: str, broken: str | None) -> None:
        """Whether it holds, or how it is broken."""
        if broken is None:
            self.holds.append(name)
        else:
            self.broken.append(f"{name}: {broken}")


class Asked:
    """One level of an environment, as hosts are asked of it."""

    def __init__(self, environment: pb.ProvidedEnvironment, level: pb.ProviderLevel) -> None:
        self.environment = environment
        self.level = level

    async def make(self, host: Host, seeds: Sequence[int]) -> list[pb.GenerateResponse]:
        """What comes of seeds, in their order."""
        request = pb.GenerateRequest(
            environment=self.environment.id,
            version=self.environment.version,
            digest=self.environment.digest,
            level=self.level.name,
            parameters_json=self.level.parameters_json,
            seeds=seeds,
        )
        return [made async for made in host.generate(request)]

    async def verify(self, host: Host, instance: bytes, texts: Sequence[str]) -> list[pb.VerifyResponse]:
        """What is found of answers, in their order."""
        request = pb.VerifyRequest(
            environment=self.environment.id,
            version=self.environment.version,
            digest=self.environment.digest,
            instance=instance,
            answers=[pb.ProvidedAnswer(index=index, text=text) for index, text in enumerate(texts)],
        )
        return [found async for found in host.verify(request)]

    def seeds(self, count: int) -> list[int]:
        """Some, or rows' indices."""
        return [index * (self.level.rows // count or 1) for index in range(min(count, self.level.rows))] or [
            (index * 0x9E3779B97F4A7C15) % 2**64 for index in range(count)
        ]


def words(response: pb.GenerateResponse | pb.VerifyResponse) -> str:
    """What came, in short."""
    kind = response.WhichOneof("result")
    if kind == "failure":
        name = pb.ProviderFailureKind.Name(response.failure.kind).removeprefix("PROVIDER_FAILURE_KIND_").lower()
        return f"{name}, {response.failure.detail}"
    if isinstance(response, pb.VerifyResponse):
        return found_in_words(response.facts)
    return f"exhausted, {response.exhausted}" if kind == "exhausted" else "an instance"


def plain(response: pb.GenerateResponse | pb.VerifyResponse) -> bytes:
    """What came, without its place, to be compared."""
    place, response.index = response.index, 0
    data = response.SerializeToString(deterministic=True)
    response.index = place
    return data


async def check_level(asked: Asked, first: Host, second: Host, seed_count: int = SEEDS) -> Report:
    """Asks two hosts, in different orders, before and after workers were killed."""
    report = Report(asked.environment.id, asked.level.name)
    seeds = asked.seeds(seed_count)
    began = time.perf_counter()
    made = await asked.make(first, seeds)
    report.make_ms = (time.perf_counter() - began) * 1000 / len(seeds)
    again = (await asked.make(second, seeds[::-1]))[::-1]
    differ = [seed for seed, one, other in zip(seeds, made, again, strict=True) if plain(one) != plain(other)]
    report.law(
        "pure in seed, order and process",
        f"seed {differ[0]} gave another task in a second process, where seeds came in another order"
        if differ
        else None,
    )
    failures = [each for each in made if each.WhichOneof("result") == "failure"]
    report.law("makes an instance of each seed", words(failures[0]) if failures else None)
    instances = [each.made for each in made if each.WhichOneof("result") == "made"]
    if not instances:
        report.law("has instances", words(made[0]))
        return report
    if len({each.canonical for each in instances}) == 1 and len(instances) > 1:
        report.notes.append(f"{len(instances)} seeds gave one task")
    report.instance_bytes = max(len(each.instance) for each in instances)
    report.deflated_bytes = max(len(zlib.compress(each.instance)) for each in instances)
    await _check_answers(asked, first, second, instances, report)
    return report


async def _check_answers(
    asked: Asked, first: Host, second: Host, instances: Sequence[pb.ProvidedInstance], report: Report
) -> None:
    references = [each for each in instances if each.HasField("reference")]
    if not references:
        report.notes.append("no reference: whose fault a hang is cannot be told")
    low: str | None = None
    for each in references:
        (answer,) = await asked.verify(first, each.instance, [each.reference])
        if not reaches_top(answer.facts):
            low = low or f"{each.reference[:60]!r} came to {words(answer)}"
    if references:
        report.law("the reference reaches the top", low)
    instance = instances[0].instance
    texts = list(HOSTILE.values())
    found = await asked.verify(first, instance, texts)
    taken = [name for name, each in zip(HOSTILE, found, strict=True) if reaches_top(each.facts)]
    report.law("nonsense is not right", f"{taken[0]} is taken for a right answer" if taken else None)
    raised = [
        f"{name}: {words(each)}"
        for name, each in zip(HOSTILE, found, strict=True)
        if each.failure.kind in (pb.PROVIDER_FAILURE_KIND_RAISED, pb.PROVIDER_FAILURE_KIND_UNAVAILABLE)
    ]
    report.law("every answer is told of", raised[0] if raised else None)
    for name, answer in zip(HOSTILE, found, strict=True):
        if answer.WhichOneof("result") == "failure" and f"{name}: {words(answer)}" not in raised:
            report.notes.append(f"{name} is contained: {words(answer)}")
    harmless = [text for text, each in zip(texts, found, strict=True) if each.WhichOneof("result") == "facts"]
    harmless += [instances[0].reference] if instances[0].HasField("reference") else []
    began = time.perf_counter()
    one = await asked.verify(first, instance, harmless)
    report.verify_ms = (time.perf_counter() - began) * 1000 / max(1, len(harmless))
    await _check_repeats(asked, first, instances[0], report)
    await second.kill_workers()
    other = (await asked.verify(second, instance, harmless[::-1]))[::-1]
    pairs = zip(harmless, one, other, strict=True)
    differ = [text for text, here, there in pairs if plain(here) != plain(there)]
    report.law(
        "verifies alike in order and process, and after a kill",
        f"{differ[0][:60]!r} came to something else in a second process" if differ else None,
    )


async def _check_repeats(asked: Asked, host: Host, made: pb.ProvidedInstance, report: Report) -> None:
    """Verifies a few answers several times each: a server that ignores seeds draws anew what is right."""
    texts = [made.reference, *REPEATED] if made.HasField("reference") else list(REPEATED)
    each = REPEATED_MS_MAX / len(texts) / max(report.verify_ms, 0.01)
    repeats = max(2, min(REPEATS, int(each)))
    found = await asked.verify(host, made.instance, [text for text in texts for _ in range(repeats)])
    away = pb.PROVIDER_FAILURE_KIND_UNAVAILABLE
    differ = [
        f"{text[:60]!r} came to {' and to '.join(sorted({words(answer) for answer in told}))}"
        for text, told in zip(texts, (found[at : at + repeats] for at in range(0, len(found), repeats)), strict=True)
        if len({plain(answer) for answer in told if answer.failure.kind != away}) > 1
    ]
    report.law("an answer is worth the same each time", differ[0] if differ else None)
