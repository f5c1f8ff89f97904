"""Tries to make and verify instances of every level, in processes that are isolated like workers.

A level is left out, with the reason, if its generator raises, never ends, or takes all memory. The server that mounts
the level then tests it by the rules of provider.proto.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass

from gradus.serve._alone import words_of_end
from gradus.serve._catalogue import Catalogue
from gradus.serve._facts import ExhaustedError
from gradus.serve._family import Family
from gradus.serve._frames import write_all
from gradus.serve._served import Served, in_words
from gradus.serve.walls import Walls
from gradus.v1 import outcome_pb2, provider_pb2

SEEDS = (0x9E3779B97F4A7C15, 0x2545F4914F6CDD1D, 7)
NONSENSE = "gradus-nonsense"
# Answers to try: most environments can read at least one of them.
LIKELY = ("0", "a", "[]", "{}")
# The process of a level is ended if it gives no result for WALL_SECONDS_MAX seconds, and uses less than the share
# WORK_SHARE_MIN of them as processor time. It then seems to sleep: a level that is only slow uses more.
WALL_SECONDS_MAX = 60
WORK_SHARE_MIN = 0.02
# Processor time of an instance, in seconds, above which no further instance of the level is made.
CHEAP_SECONDS = 0.2
# Seconds after which a level is tried no further, e.g. because it sleeps.
SLOW_SECONDS = 5
# Number of levels of a catalogue up to which all are tried. If there are more, only the first of each environment is
# tried, to find out whether its `verify` returns numbers. A server tries each level again before it serves the level.
ALL_TRIED_MAX = 256
# If this many levels of an environment have ended their process, its other levels are left out without a trial.
BROKEN_MAX = 3
# Numbers of trial processes, far above those of workers.
_numbers = itertools.count(2**31)


class UnlawfulError(Exception):
    """A level breaks a rule for environments, e.g. no seed has an instance."""


@dataclass(frozen=True)
class Verdict:
    """Result of a level's trial: why the level is not served (None: it is), and whether `verify` returns numbers."""

    level: str
    reason: str | None
    graded: bool


def try_all(catalogue: Catalogue, walls: Walls, family: Family, processes: int, cpu_seconds_max: float) -> None:
    """Tries the levels of a catalogue, and removes those that fail. Of many, tries each environment's first level only.

    Tries `processes` environments at a time, each level within a limit of processor time.
    """
    waiting = list(catalogue.served.values())
    has_many = sum(len(served.levels) for served in waiting) > ALL_TRIED_MAX
    running: dict[int, Trial] = {}
    poll = select.poll()
    while waiting or running:
        while waiting and len(running) < processes:
            served = waiting.pop()
            levels = list(served.levels)[: 1 if has_many else None]
            trial = Trial(served, levels, walls, family, cpu_seconds_max)
            running[trial.pipe] = trial
            poll.register(trial.pipe, select.POLLIN)
        for pipe, _ in poll.poll(1000):
            if running[pipe].read():
                continue
            poll.unregister(pipe)
            trial = running.pop(pipe)
            os.close(pipe)
            if trial.restart():
                running[trial.pipe] = trial
                poll.register(trial.pipe, select.POLLIN)
            else:
                _take(catalogue, trial)
        for trial in running.values():
            trial.watch()


def _take(catalogue: Catalogue, trial: Trial) -> None:
    served = trial.served
    if any(verdict.graded for verdict in trial.verdicts):
        served.grade()
    bad = {verdict.level: verdict.reason for verdict in trial.verdicts if verdict.reason is not None}
    catalogue.left_out.update({f"{served.id}#{level}": reason for level, reason in bad.items()})
    served.drop(list(bad))
    if not served.levels:
        del catalogue.served[served.id]
        catalogue.left_out[served.id] = (
            f"none of its levels can be served, e.g. {next(iter(bad))}: {bad[next(iter(bad))]}"
        )


class Trial:
    """Trial of one environment: tries its levels in turn, in a process that is replaced if a level ends it."""

    def __init__(self, served: Served, levels: list[str], walls: Walls, family: Family, cpu_seconds_max: float) -> None:
        self.served = served
        self._cpu_seconds_max = cpu_seconds_max
        self.verdicts: list[Verdict] = []
        self._walls = walls
        self._family = family
        self._levels = levels
        self._broken = 0
        self._start()

    def _start(self) -> None:
        self._said = b""
        self._killed = ""
        self._since = time.monotonic()
        self._used = 0.0
        self.pipe, sending = os.pipe2(os.O_CLOEXEC)
        left = self._levels[len(self.verdicts) :]
        self._number = next(_numbers)
        self._pid = os.fork()
        if self._pid == 0:
            self._family.enter(self._number)
            _try_levels(self.served, left, self._walls, sending, self._cpu_seconds_max)
        os.close(sending)

    def read(self) -> bool:
        """Reads messages from the trial's process. Returns False if the process has ended."""
        part = os.read(self.pipe, 65536)
        self._said += part
        *lines, self._said = self._said.split(b"\n")
        for line in lines:
            self.verdicts.append(Verdict(**json.loads(line)))
            self._since = time.monotonic()
            self._used = cpu_seconds(self._pid) or self._used
        return part != b""

    def watch(self) -> None:
        """Ends the process if it has given no result for too long and was mostly idle."""
        passed = time.monotonic() - self._since
        if passed < WALL_SECONDS_MAX:
            return
        used = cpu_seconds(self._pid)
        if used is not None and used - self._used < WORK_SHARE_MIN * passed:
            self._killed = f"it gave no result within {WALL_SECONDS_MAX} s, and was mostly idle"
            self._family.end(self._number)

    def restart(self) -> bool:
        """Notes why a level ended the process, and tries the next level in another process.

        Returns False if all levels have a verdict.
        """
        status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        self._family.leave(self._number)
        if len(self.verdicts) == len(self._levels):
            return False
        took = f"it took more than {self._cpu_seconds_max:g} s of processor time"
        why = self._killed or (took if status == -signal.SIGPROF else words_of_end(status))
        self._broken += 1
        left = self._levels[len(self.verdicts) :]
        for level in left if self._broken >= BROKEN_MAX else left[:1]:
            self.verdicts.append(Verdict(level, why, graded=False))
        if len(self.verdicts) == len(self._levels):
            return False
        self._start()
        return True


def cpu_seconds(pid: int) -> float | None:
    """Returns the processor time of a process in seconds; None: it has ended."""
    try:
        return time.clock_gettime(~pid << 3 | 2)
    except OSError:
        return None


def _try_levels(served: Served, levels: list[str], walls: Walls, sending: int, cpu_seconds_max: float) -> None:
    try:
        walls.lock_worker()
        for level in levels:
            signal.setitimer(signal.ITIMER_PROF, cpu_seconds_max)
            reason = None
            graded = False
            try:
                graded = try_level(served, level)
            except BaseException as error:
                reason = str(error) if isinstance(error, UnlawfulError) else in_words(error)
            told = {"level": level, "reason": reason, "graded": graded}
            write_all(sending, json.dumps(told).encode() + b"\n")
    finally:
        os._exit(0)


def try_level(served: Served, level: str) -> bool:
    """Makes some instances of a level, and raises their exceptions. Returns whether `verify` returns numbers.

    If it does, `served` declares the component "score" from then on.
    """
    graded = bool(served.components)
    began = time.monotonic()
    for made in _some(served, level):
        asks = served.turns is None and not served.components
        if asks and served.gives_number(made.instance, [NONSENSE, made.reference, *LIKELY]):
            served.grade()
            graded = True
        if time.monotonic() - began > SLOW_SECONDS:
            break
    return graded


def make(served: Served, level: str, seed: int) -> provider_pb2.ProvidedInstance:
    """Returns the instance of a level for a seed, or a row of the level if it has rows."""
    described = served.describe_level(level)
    return served.make(level, described.parameters_json, seed % described.rows if described.rows else seed)


def _some(served: Served, level: str) -> Iterator[provider_pb2.ProvidedInstance]:
    exhausted = 0
    for seed in SEEDS:
        began = time.process_time()
        try:
            made = make(served, level, seed)
        except ExhaustedError as error:
            exhausted += 1
            if exhausted == len(SEEDS):
                raise UnlawfulError(f"there was no instance for any of {len(SEEDS)} seeds: {error}") from error
            continue
        yield made
        if time.process_time() - began > CHEAP_SECONDS:
            return


def found_in_words(facts: provider_pb2.ProvidedFacts) -> str:
    """Returns facts in words, e.g. "graded, score 0.05"."""
    verdict = outcome_pb2.Verdict.Name(facts.verdict).removeprefix("VERDICT_").lower()
    parts = [verdict, *(f"{each.name} {each.value:g}" for each in facts.components), facts.violation]
    return ", ".join(part for part in parts if part)
