"""Test that clients wait for a paused run: without limit, with a notice a minute, in all ways of reading a run."""

from __future__ import annotations

import asyncio
import logging
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import datetime, timezone

import grpc
import pytest
from conftest import Server, wrong
from lossy import lossy

import gradus
from gradus import Client, PausedError, Run, _notices, _retries, _run_core, aio
from gradus._details import reason_of
from gradus.errors import error_of
from gradus.training import TaskReader, read_tasks

ARMS = [gradus.arm("countdown", "T0"), gradus.arm("countdown", "T1")]
SHORT = 3.0
"""Seconds that a call has in all; the pauses here are longer."""


@pytest.fixture
def run(client: Client, run_id: str) -> Run:
    run = client.run(run_id)
    run.create(ARMS, gradus.mixture(), num_generations=1, prompts_per_update=4, length=12)
    return run


def later(work: Callable[[], object]) -> Future[object]:
    """Calls a function in another thread."""
    future: Future[object] = Future()

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=do, daemon=True).start()
    return future


def read_all(batches: Iterator[gradus.Batch], run: Run) -> list[int]:
    cursors = []
    for batch in batches:
        cursors += [task.cursor for task in batch.tasks]
        for task in batch.tasks:
            run.step_group(task, wrong())
    return cursors


async def read_all_asynchronously(address: str, run_id: str) -> list[int]:
    async with aio.Client(address) as client:
        run = client.run(run_id)
        cursors = []
        async for batch in run.batches(timeout=SHORT, retries=0):
            cursors += [task.cursor for task in batch.tasks]
            for task in batch.tasks:
                await run.step_group(task, wrong())
        return cursors


@pytest.mark.parametrize("way", ["batches", "aio", "reader", "read_tasks"])
def test_a_pause_is_waited_for_whatever_time_and_retries_a_call_has(
    way: str,
    server: Server,
    client: Client,
    run: Run,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The server answers sooner that the run is paused, so the notice comes sooner.
    monkeypatch.setattr(_run_core, "_SERVER_WAIT", 0.1)
    ways: dict[str, Callable[[], object]] = {
        "batches": lambda: read_all(run.batches(timeout=SHORT, retries=0), run),
        "aio": lambda: asyncio.run(read_all_asynchronously(server.address, run.run_id)),
        "reader": lambda: [task.cursor for task in TaskReader(run).take(4)],
        "read_tasks": lambda: [task.cursor for task in read_tasks(run, 0, 4, timeout=SHORT, retries=0)[0]],
    }
    run.pause()
    with caplog.at_level(logging.INFO, "gradus"):
        reading = later(ways[way])
        time.sleep(1.5 * SHORT)
        assert not reading.done()
        assert run.get().state.cursor == 0
        run.resume()
        cursors = reading.result(60)
    assert cursors == list(range(12 if way in ("batches", "aio") else 4))
    said = [each.getMessage() for each in caplog.records if each.name == "gradus"]
    assert len(said) == 2, said
    year = datetime.now(timezone.utc).year
    assert said[0].startswith(f"run {run.run_id!r} is paused")
    assert f" since {year}-" in said[0]
    assert f"gradus run resume {run.run_id}" in said[0]
    assert f"run {run.run_id!r} was resumed after a pause of" in said[1]


def test_a_run_is_paused_in_the_middle_and_again(client: Client, run: Run) -> None:
    batches = run.batches()
    cursors = []
    for _ in range(3):
        run.pause()
        reading = later(lambda: next(batches))
        time.sleep(0.3)
        assert not reading.done()
        run.resume()
        batch = reading.result(60)
        assert isinstance(batch, gradus.Batch)
        cursors += [task.cursor for task in batch.tasks]
        for task in batch.tasks:
            run.step_group(task, wrong())
    assert cursors == list(range(12))


def test_a_pause_is_said_once_a_minute(
    client: Client, run: Run, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _notices.PAUSE_NOTICE_SECONDS == 60
    monkeypatch.setattr(_notices, "PAUSE_NOTICE_SECONDS", 0.0)
    # Notices of a stall concern missing feedback, so none may appear while the client waits for a paused run.
    monkeypatch.setattr(_notices, "NOTICE_SECONDS", 0.0)
    run.pause()
    with caplog.at_level(logging.WARNING, "gradus"):
        reading = later(lambda: run.next_batch(wait=0.1))
        wait_for(lambda: len(caplog.records) > 1)
        run.resume()
        reading.result(60)
    assert len(caplog.records) >= 2
    assert {each.levelname for each in caplog.records} == {"WARNING"}


def test_a_caller_may_ask_for_the_error(client: Client, run: Run) -> None:
    before = datetime.now(timezone.utc)
    run.pause()
    with pytest.raises(PausedError) as caught:
        run.next_batch(on_pause="raise", wait=0.1)
    error = caught.value
    assert (error.code, error.reason) == (grpc.StatusCode.UNAVAILABLE, "PAUSED")
    assert error.retry_delay is not None
    assert error.paused_since is not None
    assert abs((error.paused_since - before).total_seconds()) < 60
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.paused_since, again.reason) == (PausedError, error.paused_since, "PAUSED")
    with pytest.raises(ValueError, match='on_pause: want "wait" or "raise"; got str'):
        run.next_batch(on_pause="stop")  # type: ignore[arg-type]
    state = run.get().state
    assert (state.paused, state.paused_by, state.paused_at) == (True, error.paused_by, error.paused_since)


def test_a_server_that_goes_away_during_a_pause_has_the_calls_own_time(
    server: Server, client: Client, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.pause()
    with lossy(server.address) as proxy, Client(proxy.address) as behind:
        reading = later(lambda: behind.run(run.run_id).next_batch(timeout=4, wait=0.1))
        wait_for(lambda: proxy.made.count("NextBatch") > 0)
        proxy.lose = {"NextBatch": 10**6}
        run.resume()
        with pytest.raises(gradus.UnavailableError, match="the connection broke"):
            reading.result(60)


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_key_ends_the_wait(server: Server, run: Run) -> None:
    run.pause()
    # A program that was started in the background ignores the key, unless it says otherwise.
    keys = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    script = f"import gradus; gradus.Client({server.address!r}).run({run.run_id!r}).next_batch(wait=0.1)"
    with subprocess.Popen([sys.executable, "-c", keys + script], stderr=subprocess.PIPE, text=True) as waiting:
        try:
            assert waiting.stderr is not None
            assert "is paused" in waiting.stderr.readline()
            waiting.send_signal(signal.SIGINT)
            assert "KeyboardInterrupt" in waiting.stderr.read()
            assert waiting.wait(60) != 0
        finally:
            waiting.kill()


def test_an_old_servers_words_are_an_error_as_before(server: Server, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with lossy(server.address) as proxy, Client(proxy.address) as behind:
        proxy.code, proxy.lose = grpc.StatusCode.FAILED_PRECONDITION, {"NextBatch": 1}
        with pytest.raises(gradus.FailedPreconditionError):
            behind.run(run.run_id).next_batch()


def message(number: int, content: bytes) -> bytes:
    """Encodes a protobuf field of bytes, text or a message."""
    length = bytes([len(content)]) if len(content) < 128 else bytes([len(content) % 128 + 128, len(content) // 128])
    return bytes([number << 3 | 2]) + length + content


def status(domain: bytes, reason: bytes = b"PAUSED", **facts: str) -> bytes:
    entries = b"".join(
        message(3, message(1, key.encode()) + message(2, value.encode())) for key, value in facts.items()
    )
    info = message(1, reason) + message(2, domain) + entries
    retry = message(1, b"type.googleapis.com/google.rpc.RetryInfo") + message(2, message(1, b"\x08\x01"))
    packed = message(1, b"type.googleapis.com/google.rpc.ErrorInfo") + message(2, info)
    return b"\x08\x0e" + message(2, "wörter".encode()) + message(3, retry) + message(3, packed)


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ([], ("", {})),
        ([("wait-reason", "PAUSED")], ("PAUSED", {})),
        ([("grpc-status-details-bin", status(b"gradus", paused_by="ädä"))], ("PAUSED", {"paused_by": "ädä"})),
        ([("grpc-status-details-bin", status(b"gradus", a="x" * 300, b=""))], ("PAUSED", {"a": "x" * 300, "b": ""})),
        ([("grpc-status-details-bin", status(b"another"))], ("", {})),
        ([("grpc-status-details-bin", status(b"gradus")[:-9]), ("wait-reason", "PAUSED")], ("PAUSED", {})),
        ([("grpc-status-details-bin", b"\xff" * 20), ("wait-reason", "FEEDBACK_DUE")], ("FEEDBACK_DUE", {})),
    ],
)
def test_a_reason_is_read_from_what_comes_with_the_status(
    metadata: list[tuple[str, str | bytes]], expected: tuple[str, dict[str, str]]
) -> None:
    assert reason_of(metadata) == expected


def test_a_delay_that_is_not_named_is_a_second() -> None:
    error = error_of(grpc.StatusCode.UNAVAILABLE, "paused", reason="PAUSED", facts={"paused_since": "yesterday"})
    assert isinstance(error, PausedError)
    assert (error.paused_by, error.paused_since, error.retry_delay) == ("", None, None)
    assert _retries._PAUSE_DELAY == 1
