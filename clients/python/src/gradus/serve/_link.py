"""Starts and calls a host, the processes that run mounted environments, for `python -m gradus.serve --address`.

The server of Gradus calls hosts in the same way, in TypeScript.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gradus.serve._catalogue import ADAPTERS
from gradus.serve._frames import LENGTH, to_bytes
from gradus.serve.host import FOLDER, HASH_SEED, ONE_THREAD
from gradus.v1 import provider_pb2 as pb

GENERATE_MS = 30_000
VERIFY_MS = 5_000
# Maximum wall time of a request: WALL_FACTOR times its limit of processor time, plus WALL_SECONDS, because the request
# may sleep and the machine may be busy.
WALL_FACTOR = 4
WALL_SECONDS = 5
# Names of environment variables that a server passes on to a host.
PASSED = ("PATH", "HOME", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "TMPDIR", "LANG")
GONE = "the host has ended: start it again"


class HostError(Exception):
    """A host cannot serve. The message has the reason and the remedy."""


@dataclass(frozen=True)
class Terms:
    """Settings of a host, the processes that run mounted environments."""

    workers: int = 1
    read: Sequence[str] = ()
    """Folders and files that the host may read, in addition to the mounted file's folder and Python's packages."""
    net: Sequence[str] = ()
    """Network hosts that the host needs. Any entry opens the whole network."""
    memory_mib: int = 1024
    start_seconds: float = 600
    """Maximum seconds for imports and for the trial of all levels, before the host must be ready."""
    generate_ms: int = GENERATE_MS
    verify_ms: int = VERIFY_MS
    hidden: Sequence[str] = ()
    """Files and folders that mounted code must never see, such as keys."""
    without: Sequence[str] = ()
    """Kinds of isolation not to use, in tests: "landlock" or "namespaces"."""


@dataclass
class _Worker:
    number: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    has_served: bool = False


@dataclass
class _Connections:
    """Workers of a host that wait for a request, and the reasons for which others ended."""

    free: asyncio.Queue[_Worker | None] = field(default_factory=asyncio.Queue)
    """Workers that wait for a request. None: there are no more, because the host has ended."""
    ended: dict[int, asyncio.Future[pb.WorkerEnded]] = field(default_factory=dict)
    is_gone: bool = False

    def end_of(self, number: int) -> asyncio.Future[pb.WorkerEnded]:
        """Returns a future that gives the reason for which the worker with this number ended."""
        end = self.ended.setdefault(number, asyncio.get_running_loop().create_future())
        if self.is_gone and not end.done():
            end.set_result(pb.WorkerEnded(worker=number, kind=pb.PROVIDER_FAILURE_KIND_UNAVAILABLE, how=GONE))
        return end

    def leave(self) -> None:
        """Ends all waits for workers, because the host has ended."""
        self.is_gone = True
        for number in self.ended:
            self.end_of(number)
        self.free.put_nowait(None)


class Host:
    """A running host: `start` starts it, and `close` ends it."""

    def __init__(self, process: asyncio.subprocess.Process, terms: Terms, folder: Path) -> None:
        self._process = process
        self._terms = terms
        self._folder = folder
        self._connections = _Connections()
        self._calls = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.ready = pb.HostReady()

    @classmethod
    async def start(cls, target: str, terms: Terms | None = None) -> Host:
        """Starts a host for a Python file, or for a target such as "reasoning-gym:names".

        Raises HostError with the reason if the target has nothing to serve.
        """
        terms = terms or Terms()
        folder = Path(tempfile.mkdtemp(prefix="gradus-"))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-B",
            "-m",
            "gradus.serve.host",
            *terms.without,
            cwd=FOLDER,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment_of_host(target),
        )
        host = cls(process, terms, folder)
        try:
            await asyncio.wait_for(host._begin(target), terms.start_seconds)
        except BaseException:
            await host.close()
            raise
        return host

    def kill(self) -> None:
        """Ends all processes of the host, which are in one group, at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        if self._process.returncode is None:
            self._process.kill()

    async def close(self) -> None:
        """Ends the host and its workers, and waits for their end."""
        for task in self._tasks:
            task.cancel()
        self.kill()
        await self._process.wait()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # A worker may have connected just before its end. The event loop registers its connection within four turns.
        for _ in range(5):
            await asyncio.sleep(0)
        for writer in self._writers:
            writer.transport.abort()
        if self._server is not None:
            self._server.close()
        # Let the event loop handle the closed connections, which takes one turn of it.
        await asyncio.sleep(0)
        shutil.rmtree(self._folder, ignore_errors=True)

    async def generate(self, request: pb.GenerateRequest) -> AsyncIterator[pb.GenerateResponse]:
        """Yields one response for each seed, in order."""
        seeds = list(request.seeds)

        def ask(done: int) -> pb.ProviderFrame:
            part = pb.GenerateRequest()
            part.CopyFrom(request)
            del part.seeds[:]
            part.seeds.extend(seeds[done:])
            return pb.ProviderFrame(generate=part)

        index = 0
        async for answer in self._ask_all(ask, len(seeds), self._terms.generate_ms):
            made = answer.generated if isinstance(answer, pb.ProviderFrame) else pb.GenerateResponse(failure=answer)
            made.index = index
            index += 1
            yield made

    async def verify(self, request: pb.VerifyRequest) -> AsyncIterator[pb.VerifyResponse]:
        """Yields one response for each answer, in order.

        An answer that ends its worker gets a failure, and the others go on.
        """
        answers = list(request.answers)

        def ask(done: int) -> pb.ProviderFrame:
            part = pb.VerifyRequest()
            part.CopyFrom(request)
            del part.answers[:]
            part.answers.extend(answers[done:])
            return pb.ProviderFrame(verify=part)

        places = iter(answers)
        async for answer in self._ask_all(ask, len(answers), self._terms.verify_ms):
            found = answer.verified if isinstance(answer, pb.ProviderFrame) else pb.VerifyResponse(failure=answer)
            found.index = next(places).index
            yield found

    async def advance(self, request: pb.EnvironmentProviderAdvanceRequest) -> pb.EnvironmentProviderAdvanceResponse:
        """Returns the result of a call of an episode, or the reason for which there is none."""
        async for answer in self._ask_all(lambda _: pb.ProviderFrame(advance=request), 1, self._terms.verify_ms):
            return (
                answer.advanced
                if isinstance(answer, pb.ProviderFrame)
                else pb.EnvironmentProviderAdvanceResponse(failure=answer)
            )
        raise AssertionError("a request has an answer or a failure")

    async def draw(self, request: pb.DrawRequest) -> pb.DrawResponse:
        """Returns a picture of a task, or the reason for which there is none."""
        async for answer in self._ask_all(lambda _: pb.ProviderFrame(draw=request), 1, self._terms.generate_ms):
            return answer.drawn if isinstance(answer, pb.ProviderFrame) else pb.DrawResponse(failure=answer)
        raise AssertionError("a request has an answer or a failure")

    async def ended(self) -> None:
        """Waits until the host has ended. All later calls are unavailable."""
        await self._process.wait()

    async def kill_workers(self) -> None:
        """Ends every worker that waits for a request, for tests and checks. The host starts others."""
        while not (self._connections.is_gone or self._connections.free.empty()):
            worker = await self._take(fresh=False)
            if worker is not None:
                await self._kill(worker)

    async def _begin(self, target: str) -> None:
        path = str(self._folder / "workers")
        secret = secrets.token_bytes(16)
        self._server = await asyncio.start_unix_server(self._connected(secret), path)
        start = pb.HostStart(
            target=target if target.partition(":")[0] in ADAPTERS else os.path.abspath(target),
            workers=self._terms.workers,
            allow=pb.HostAllowance(read=self._terms.read, net=self._terms.net),
            memory_mib=self._terms.memory_mib,
            socket=path,
            secret=secret,
            generate_ms=self._terms.generate_ms,
            verify_ms=self._terms.verify_ms,
            hidden=[os.path.abspath(path) for path in self._terms.hidden],
            start_folder=os.getcwd(),
        )
        self._write(pb.ProviderFrame(start=start))
        assert self._process.stdout is not None
        frame = await read_frame(self._process.stdout)
        if frame is None:
            raise HostError(f"the process that loads {target} ended before it was ready: its output above may say why")
        self.ready = frame.ready
        if frame.ready.refused:
            raise HostError(frame.ready.refused)
        self._tasks.append(asyncio.create_task(self._heed(self._process.stdout)))

    def _write(self, frame: pb.ProviderFrame) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(to_bytes(frame))

    def _connected(self, secret: bytes) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
        async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._writers.add(writer)
            frame = await read_frame(reader)
            if frame is None or not secrets.compare_digest(frame.hello.secret, secret):
                writer.close()
                return
            self._connections.free.put_nowait(_Worker(frame.hello.worker, reader, writer))

        return connect

    async def _heed(self, reader: asyncio.StreamReader) -> None:
        while (frame := await read_frame(reader)) is not None:
            if frame.WhichOneof("content") == "ended":
                end = self._connections.end_of(frame.ended.worker)
                if not end.done():
                    end.set_result(frame.ended)
        self._connections.leave()

    async def _kill(self, worker: _Worker) -> pb.WorkerEnded:
        self._write(pb.ProviderFrame(kill=pb.KillWorker(worker=worker.number)))
        return await self._end_of(worker)

    async def _end_of(self, worker: _Worker) -> pb.WorkerEnded:
        worker.writer.close()
        self._writers.discard(worker.writer)
        ended = await self._connections.end_of(worker.number)
        del self._connections.ended[worker.number]
        return ended

    async def _take(self, fresh: bool) -> _Worker | None:
        while True:
            worker = await self._connections.free.get()
            if worker is None or self._connections.is_gone:
                # None means that the host has ended. Put it back into the queue for the next caller.
                self._connections.free.put_nowait(None)
                return None
            if worker.reader.at_eof():
                await self._end_of(worker)
            elif fresh and worker.has_served:
                await self._kill(worker)
            else:
                return worker

    async def _ask_all(
        self, frame_of: Callable[[int], pb.ProviderFrame], count: int, cpu_ms: int
    ) -> AsyncIterator[pb.ProviderFrame | pb.ProviderFailure]:
        """Yields a response or a failure for each of `count` items, in order.

        `frame_of(i)` makes the request for item i and all later ones.
        """
        limit = WALL_SECONDS + WALL_FACTOR * cpu_ms / 1000
        done = 0
        fresh = False
        while done < count:
            worker = await self._take(fresh)
            if worker is None:
                done += 1
                yield pb.ProviderFailure(kind=pb.PROVIDER_FAILURE_KIND_UNAVAILABLE, detail=GONE)
                continue
            async for answer in self._ask(worker, frame_of(done), count - done, limit):
                # Retry in a fresh worker: earlier items may have kept the memory that this item lacked.
                fresh = worker.has_served and _is_memory(answer)
                if not fresh:
                    worker.has_served = True
                    done += 1
                    yield answer

    async def _ask(
        self, worker: _Worker, frame: pb.ProviderFrame, count: int, limit: float
    ) -> AsyncIterator[pb.ProviderFrame | pb.ProviderFailure]:
        """Sends a frame to a worker and yields its `count` responses, in order. After a failure it yields no more."""
        self._calls += 1
        frame.call = self._calls
        is_whole = False
        try:
            worker.writer.write(to_bytes(frame))
            for left in reversed(range(count)):
                try:
                    answer = await asyncio.wait_for(read_frame(worker.reader), limit)
                except (asyncio.TimeoutError, ConnectionError) as error:
                    if isinstance(error, ConnectionError):
                        answer = None
                    else:
                        yield await self._late(worker, limit)
                        return
                if answer is None:
                    yield await self._died(worker)
                    return
                is_whole = left == 0
                yield answer
        finally:
            if is_whole:
                self._connections.free.put_nowait(worker)
            elif not worker.writer.is_closing():
                # The caller has left, so nobody needs the worker's result.
                self._write(pb.ProviderFrame(kill=pb.KillWorker(worker=worker.number)))
                worker.writer.close()

    async def _late(self, worker: _Worker, limit: float) -> pb.ProviderFailure:
        await self._kill(worker)
        return pb.ProviderFailure(
            kind=pb.PROVIDER_FAILURE_KIND_TIMEOUT,
            detail=f"it gave no result within {limit:g} s, so its process was ended",
        )

    async def _died(self, worker: _Worker) -> pb.ProviderFailure:
        ended = await self._end_of(worker)
        return pb.ProviderFailure(kind=ended.kind, detail=ended.how)


def environment_of_host(target: str) -> dict[str, str]:
    """Returns the variables of this process that locate programs and packages.

    Other variables may be secrets.
    """
    found = {name: os.environ[name] for name in PASSED if name in os.environ}
    # Modules in these folders would replace Python's own before the walls are up.
    left_out = {os.path.realpath(os.getcwd()), os.path.dirname(os.path.realpath(target))}
    paths = [os.path.abspath(path) for path in found.pop("PYTHONPATH", "").split(os.pathsep) if path]
    paths = [path for path in paths if os.path.realpath(path) not in left_out]
    return {
        **found,
        **({"PYTHONPATH": os.pathsep.join(paths)} if paths else {}),
        **ONE_THREAD,
        "PYTHONHASHSEED": HASH_SEED,
    }


def _is_memory(answer: pb.ProviderFrame | pb.ProviderFailure) -> bool:
    return isinstance(answer, pb.ProviderFailure) and answer.kind == pb.PROVIDER_FAILURE_KIND_MEMORY


async def read_frame(reader: asyncio.StreamReader) -> pb.ProviderFrame | None:
    """Returns the next frame; None: the stream has ended."""
    try:
        (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
        return pb.ProviderFrame.FromString(await reader.readexactly(length))
    except asyncio.IncompleteReadError:
        return None
