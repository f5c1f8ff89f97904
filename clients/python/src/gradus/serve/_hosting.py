"""Runs a host, the processes that run mounted environments, from the server's first message to the end."""

from __future__ import annotations

import gc
import os
import select
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from gradus.serve import _chance, _trial
from gradus.serve._alone import kind_of_end
from gradus.serve._catalogue import Catalogue, TargetError, folder_of, load, needs_of
from gradus.serve._family import Family
from gradus.serve._frames import read_frame, to_bytes, write_all
from gradus.serve._held import Held
from gradus.serve._served import in_words
from gradus.serve._sources import files_of
from gradus.serve._worker import UNSTARTED_STATUS, Terms, run_worker
from gradus.serve.walls import Asked, Namespaces, Walls
from gradus.serve.walls.places import RefusedError
from gradus.v1 import provider_pb2 as pb

MEMORY_MIB = 1024
# Before the host serves a level, it makes and verifies some instances of the level, as a trial. The trial's limit of
# processor time is TRIAL_FACTOR times the sum of two limits: for making one instance, and for verifying one answer. If
# both are 0, the trial's limit is TRIAL_SECONDS.
TRIAL_FACTOR = 2
TRIAL_SECONDS = 30
# Number of workers in succession that fail to start, after which the host ends.
UNSTARTED_MAX = 10
# Maximum length of HostReady.sources.
SOURCES_MAX = 1024
WALLS = 2
"""Version of the walls (the isolation of mounted code), which the server checks (HostReady.walls)."""


def run(receiving: int, sending: int, family: Family, namespaces: Namespaces, without: Collection[str]) -> None:
    """Serves the target that the first frame names. No mounted code runs before the walls (its isolation) are up."""
    frame = read_frame(lambda length: os.read(receiving, length))
    if frame is None:
        return None
    start = frame.start

    def say(frame: pb.ProviderFrame) -> None:
        write_all(sending, to_bytes(frame))

    folder = folder_of(start.target)
    # Resolve a symbolic link before the walls are up. They hide the folder of the link itself.
    target = start.target if folder is None else str(Path(start.target).resolve())
    try:
        needs = needs_of(start.target, start.start_folder)
        asked = Asked(
            own=folder,
            read=[*start.allow.read, *needs.read],
            hidden=start.hidden,
            start_folder=start.start_folder,
            network=bool(start.allow.net) or needs.network,
            memory_mib=start.memory_mib or MEMORY_MIB,
            without=without,
        )
        walls = Walls(asked, namespaces)
        walls.enter()
        _chance.install()
        catalogue = load(target)
        settle()
        if catalogue.tried_here:
            _trial.try_all(catalogue, walls, family, max(1, start.workers), trial_seconds(start))
        if not catalogue.served:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in catalogue.left_out.items())
            raise TargetError(f"nothing of {target} can be served: {reasons}")
    except (RefusedError, TargetError, OSError) as error:
        why = in_words(error) if isinstance(error, OSError) else str(error)
        sources = files_of(folder, error)[:SOURCES_MAX]
        return say(pb.ProviderFrame(ready=pb.HostReady(refused=why[:4000], sources=sources)))
    ready = pb.HostReady(described=catalogue.describe(), locked=walls.in_words(), walls=WALLS)
    ready.sources.extend(files_of(folder)[:SOURCES_MAX])
    say(pb.ProviderFrame(ready=ready))
    terms = Terms(start.generate_ms, start.verify_ms, start.hold_ms)
    Workers(catalogue, walls, family, terms, max(1, start.workers), (receiving, sending)).run()
    return None


def trial_seconds(start: pb.HostStart) -> float:
    """Returns the maximum processor time of a level's trial, in seconds.

    A trial makes up to three instances and verifies answers to them.
    """
    return TRIAL_FACTOR * (start.generate_ms + start.verify_ms) / 1000 or TRIAL_SECONDS


def settle() -> None:
    """Exempts imported objects from garbage collection, so that forked processes share their memory."""
    gc.collect()
    gc.freeze()


@dataclass(frozen=True)
class Running:
    """A running worker."""

    number: int
    pid: int
    held: Held


class Workers:
    """A fixed number of worker processes. When one ends, another starts, and the server gets the reason."""

    def __init__(
        self,
        catalogue: Catalogue,
        walls: Walls,
        family: Family,
        terms: Terms,
        count: int,
        descriptors: tuple[int, int],
    ) -> None:
        self._catalogue = catalogue
        self._walls = walls
        self._family = family
        self._terms = terms
        self._receiving, self._sending = descriptors
        self._begun = 0
        self._unstarted = 0
        self._poll = select.poll()
        self._poll.register(self._receiving, select.POLLIN)
        # Workers by the descriptor (pidfd) of their process.
        self._running: dict[int, Running] = {}
        for _ in range(count):
            self._begin()

    def run(self) -> NoReturn:
        """Runs until the server closes its end of the connection. The workers end with this process."""
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._receiving:
                    self._heed()
                else:
                    self._ended(descriptor)

    def _begin(self) -> None:
        number = self._begun
        self._begun += 1
        held = Held()
        host = os.getpid()
        connection = self._family.connect(number)
        pid = os.fork()
        if pid == 0:
            self._family.enter(number)
            for other in self._running.values():
                other.held.close()
            for descriptor in (self._receiving, self._sending, *self._running):
                os.close(descriptor)
            run_worker(self._catalogue, self._walls, self._terms, connection, held, host)
        connection.close()
        descriptor = os.pidfd_open(pid)
        self._running[descriptor] = Running(number, pid, held)
        self._poll.register(descriptor, select.POLLIN)

    def _heed(self) -> None:
        frame = read_frame(lambda length: os.read(self._receiving, length))
        if frame is None:
            self._end_all()
        kind = frame.WhichOneof("content")
        for worker in self._running.values():
            if kind == "tell_held" and worker.number == frame.tell_held.worker:
                self._tell_held(worker)

    def _tell_held(self, worker: Running) -> None:
        """Sends the results that a worker holds and may be unable to send itself, e.g. because it ended."""
        found = worker.held.read()
        if found is not None:
            call, verified = found
            self._say(pb.ProviderFrame(held=pb.WorkerHeld(worker=worker.number, call=call, verified=verified)))

    def _say(self, frame: pb.ProviderFrame) -> None:
        write_all(self._sending, to_bytes(frame))

    def _ended(self, descriptor: int) -> None:
        self._poll.unregister(descriptor)
        worker = self._running.pop(descriptor)
        os.close(descriptor)
        status = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        self._family.leave(worker.number)
        self._tell_held(worker)
        worker.held.close()
        self._unstarted = self._unstarted + 1 if status == UNSTARTED_STATUS else 0
        if self._unstarted >= UNSTARTED_MAX:
            print(f"gradus: {UNSTARTED_MAX} workers in a row could not start: see the lines above", file=sys.stderr)
            self._end_all()
        kind, how = kind_of_end(status)
        self._say(pb.ProviderFrame(ended=pb.WorkerEnded(worker=worker.number, kind=kind, how=how)))
        self._begin()

    def _end_all(self) -> NoReturn:
        """Ends this process. The first process of the host then ends all others."""
        os._exit(0)
