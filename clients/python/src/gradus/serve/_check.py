"""gradus env check: what holds of an environment, level by level."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys

from gradus.serve._laws import TASK_ID_BYTES_MAX, Asked, Report, check_level
from gradus.serve._link import Host, HostError, Terms


def check(target: str, terms: Terms, *, levels: list[str], seeds: int, as_json: bool) -> int:
    """The exit status: 0 if every law holds, 1 if one is broken or anything is left out."""
    try:
        return asyncio.run(_check(target, terms, levels, seeds, as_json))
    except HostError as error:
        print(f"gradus: {error}", file=sys.stderr)
        return 1


async def _check(target: str, terms: Terms, levels: list[str], seeds: int, as_json: bool) -> int:
    first = await Host.start(target, terms)
    try:
        second = await Host.start(target, terms)
        try:
            return await _check_all(first, second, levels, seeds, as_json)
        finally:
            await second.close()
    finally:
        await first.close()


async def _check_all(first: Host, second: Host, levels: list[str], seeds: int, as_json: bool) -> int:
    described = first.ready.described
    reports: list[Report] = []
    if not as_json:
        print(f"{described.host}; {first.ready.locked}")
    for environment in described.environments:
        other = next((each for each in second.ready.described.environments if each.id == environment.id), None)
        if not as_json:
            print(f"\n{environment.id} version {environment.version}, digest {environment.digest[:12]}")
            for remark in environment.remarks:
                print(f"  note: {remark}")
        for level in environment.levels:
            if levels and level.name not in levels:
                continue
            report = await check_level(Asked(environment, level), first, second, seeds)
            if other is None or other.digest != environment.digest:
                report.law("has one digest", "a second process gives another digest, or does not serve it")
            reports.append(report)
            if not as_json:
                print("\n".join(lines_of(report)))
    left_out = {each.name: each.reason for each in described.left_out}
    broken = any(report.broken for report in reports)
    if as_json:
        told = {"levels": [dataclasses.asdict(report) for report in reports], "leftOut": left_out}
        print(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        for name, reason in left_out.items():
            print(f"\nleft out  {name}: {reason}")
        print(f"\n{len(reports)} levels, {sum(1 for each in reports if each.broken)} of them break a law")
    return 1 if broken or left_out else 0


def lines_of(report: Report) -> list[str]:
    """For a person."""
    place = "travels in the task's id" if report.deflated_bytes <= TASK_ID_BYTES_MAX else "is made again when scored"
    head = (
        f"  {report.level}: made in {report.make_ms:.2f} ms, an answer verified in {report.verify_ms:.2f} ms; "
        f"an instance of {report.instance_bytes:,} bytes, {report.deflated_bytes:,} deflated, {place}"
    )
    return [
        head,
        *(f"    holds  {law}" for law in report.holds),
        *(f"    BREAKS {law}" for law in report.broken),
        *(f"    note   {note}" for note in report.notes),
    ]
