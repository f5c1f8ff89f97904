"""A worker: a process that a host forks with all mounted code loaded, and that takes one request at a time.

The kernel enforces the time limit: the process then ends, whatever exceptions the environment's code catches.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import NoReturn

from gradus.serve import _alone
from gradus.serve._asked import Find, Limit, verifier
from gradus.serve._catalogue import Catalogue
from gradus.serve._facts import ExhaustedError
from gradus.serve._frames import read_frame, to_bytes
from gradus.serve._held import Held, Teller, response
from gradus.serve._room import Room
from gradus.serve._served import Served, failure_of, sendable
from gradus.serve.walls import Walls
from gradus.v1 import provider_pb2 as pb

# Exit status of a worker process that failed before it could read requests.
UNSTARTED_STATUS = 72


@dataclass(frozen=True)
class Terms:
    """Time limits that the server sets for a host's workers."""

    generate_ms: int
    verify_ms: int
    hold_ms: int = 0


def run_worker(
    catalogue: Catalogue, walls: Walls, terms: Terms, connection: socket.socket, held: Held, host: int
) -> NoReturn:
    """Serves requests until the server closes the connection, or the process with the id `host` ends.

    This function never returns: the process ends in it, whatever happens.
    """
    status = UNSTARTED_STATUS
    try:
        held.keep()
        runs_answers = any(served.environment.runs_answers for served in catalogue.served.values())
        walls.lock_worker(forks=runs_answers)
        if os.getppid() != host:
            # The host ended before this process had asked the kernel to be ended together with the host.
            os._exit(status)
        # Start the helper before any request is read, because processes that run answers must know of no other answer.
        alone = _alone.Alone(catalogue, walls, terms.verify_ms, connection) if runs_answers else None
        _alone.keep_forks()
        status = 1
        Worker(catalogue, walls, terms, connection, held, alone).serve()
        status = 0
    except MemoryError:
        status = _alone.MEMORY_STATUS
    finally:
        os._exit(status)


class Worker:
    """The worker's loop."""

    def __init__(
        self,
        catalogue: Catalogue,
        walls: Walls,
        terms: Terms,
        connection: socket.socket,
        held: Held,
        alone: _alone.Alone | None,
    ) -> None:
        self._catalogue = catalogue
        self._walls = walls
        self._terms = terms
        self._connection = connection
        self._held = held
        self._alone = alone
        self._pid = os.getpid()
        self._has_served = False
        self._room = Room(walls.has_room)

    def serve(self) -> None:
        """Serves requests one by one until the server closes the connection."""
        while (frame := read_frame(self._connection.recv)) is not None:
            kind = frame.WhichOneof("content")
            if kind == "verify":
                self._verify(frame.call, frame.verify)
            elif kind == "generate":
                self._generate(frame.call, frame.generate)
            elif kind == "draw":
                self._draw(frame.call, frame.draw)
            elif kind == "advance":
                self._advance(frame.call, frame.advance)

    def _send(self, frame: pb.ProviderFrame) -> None:
        if os.getpid() != self._pid:
            # A child that the environment forked must not answer in the worker's place.
            os._exit(1)
        self._connection.sendall(to_bytes(frame))
        self._has_served = True

    def _need_room(self) -> None:
        """Raises MemoryError if earlier requests have left too little memory.

        The caller then asks a fresh worker.
        """
        if self._has_served and not self._room.is_left():
            raise MemoryError

    def _find(
        self, request: pb.GenerateRequest | pb.VerifyRequest | pb.EnvironmentProviderAdvanceRequest
    ) -> Served | pb.ProviderFailure:
        served = self._catalogue.served.get(request.environment)
        if served is not None and served.version == request.version and request.digest in ("", served.digest):
            if not isinstance(request, pb.GenerateRequest) or request.level in served.levels:
                return served
            return pb.ProviderFailure(
                kind=pb.PROVIDER_FAILURE_KIND_UNAVAILABLE, detail=f"{served.id} has no level '{request.level}'"
            )
        what = "" if served is None else f"; what there is has version {served.version} and digest {served.digest[:12]}"
        return pb.ProviderFailure(
            kind=pb.PROVIDER_FAILURE_KIND_UNAVAILABLE,
            detail=f"there is no {request.environment} of version {request.version} and digest "
            f"{request.digest[:12] or 'any'} here{what}",
        )

    def _generate(self, call: int, request: pb.GenerateRequest) -> None:
        served = self._find(request)
        for index, seed in enumerate(request.seeds):
            made = pb.GenerateResponse(index=index)
            if isinstance(served, pb.ProviderFailure):
                made.failure.CopyFrom(served)
            else:
                self._need_room()
                with Limit(served.environment.generate_seconds, self._terms.generate_ms):
                    make(served, request, seed, made)
            self._send(pb.ProviderFrame(call=call, generated=made))

    def _verify(self, call: int, request: pb.VerifyRequest) -> None:
        served = self._find(request)
        if isinstance(served, pb.ProviderFailure):
            for answer in request.answers:
                self._send(pb.ProviderFrame(call=call, verified=response(answer.index, served)))
            return None
        if served.environment.runs_answers and self._alone is not None:
            for answer in request.answers:
                self._need_room()
                found = self._alone.verify(request, answer)
                self._send(pb.ProviderFrame(call=call, verified=found))
            return None
        limit = Limit(served.environment.verify_seconds, self._terms.verify_ms)
        with limit:
            find = verifier(served, request.instance)
            if self._terms.hold_ms > 0:
                return self._verify_together(call, request, find, limit)
            for answer in request.answers:
                self._need_room()
                limit.begin()
                self._send(pb.ProviderFrame(call=call, verified=response(answer.index, find(answer.text))))
        return None

    def _verify_together(self, call: int, request: pb.VerifyRequest, find: Find, limit: Limit) -> None:
        hold_seconds = self._terms.hold_ms / 1000
        teller = Teller(self._send, self._held, call, hold_seconds)
        # Setting a time limit takes longer than many verifications. Answers whose results are sent together share one
        # limit, with time added.
        is_told = True
        for answer in request.answers:
            if is_told:
                self._need_room()
                limit.begin(hold_seconds)
            is_told = teller.tell(answer.index, find(answer.text))
        teller.end()

    def _advance(self, call: int, request: pb.EnvironmentProviderAdvanceRequest) -> None:
        served = self._find(request)
        advanced = pb.EnvironmentProviderAdvanceResponse()
        if isinstance(served, pb.ProviderFailure):
            advanced.failure.CopyFrom(served)
        else:
            self._need_room()
            environment = served.environment
            try:
                with Limit(environment.advance_seconds or environment.verify_seconds, self._terms.verify_ms):
                    advanced.turn.CopyFrom(served.advance(request))
            except BaseException as error:
                advanced.failure.CopyFrom(failure_of(error))
        self._send(pb.ProviderFrame(call=call, advanced=advanced))

    def _draw(self, call: int, request: pb.DrawRequest) -> None:
        self._need_room()
        drawn = pb.DrawResponse()
        try:
            served = self._catalogue.served[request.environment]
            with Limit(served.environment.generate_seconds, self._terms.generate_ms):
                drawn.svg = served.draw(request.instance, request.answer if request.HasField("answer") else None)
        except BaseException as error:
            drawn.failure.CopyFrom(failure_of(error))
        self._send(pb.ProviderFrame(call=call, drawn=drawn))


def make(served: Served, request: pb.GenerateRequest, seed: int, made: pb.GenerateResponse) -> None:
    """Writes the result of a seed to its response."""
    try:
        made.made.CopyFrom(served.make(request.level, request.parameters_json, seed))
    except ExhaustedError as error:
        made.exhausted = sendable(str(error)) or "there is no instance for this seed"
    except BaseException as error:
        made.failure.CopyFrom(failure_of(error))
