"""The Gradus server of the study, and the data that it exports, both by this repository's command line."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[4]
_GRADUS = ["node_modules/.bin/node", "server/cli/bin.mjs"]
_START_SECONDS_MAX = 900
"""A pool that the server has not seen is solved row by row before it listens."""


def export_answers(out: Path, rows: int) -> None:
    """The solver's answers to `rows` tasks of the four tiers, made in the train split."""
    levels = [each for tier in ("T0", "T1", "T2", "T3") for each in ("--level", tier)]
    task = ["--environment", "countdown", *levels, "--count", str(rows), "--format", "answer_tag"]
    subprocess.run([*_GRADUS, "export", "--solver", *task, "--out", str(out)], cwd=REPOSITORY, check=True)


@contextmanager
def serving(directory: Path, *pools: str) -> Iterator[str]:
    """A server on a free port, stopped in the end; its address."""
    log = directory / "server.log"
    flags = ["--port", "0", "--http-port", "0", "--data-dir", str(directory / "data"), "--log-format", "json"]
    options = [*flags, *(each for pool in pools for each in ("--pool", pool))]
    with log.open("wb") as out:
        process = subprocess.Popen([*_GRADUS, "serve", *options], cwd=REPOSITORY, stdout=out, stderr=subprocess.STDOUT)
    try:
        yield f"localhost:{_port(process, log)}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    deadline = time.monotonic() + _START_SECONDS_MAX
    while process.poll() is None and time.monotonic() < deadline:
        for line in log.read_text().splitlines():
            if line.endswith("}") and (said := json.loads(line)).get("msg") == "listening":
                return int(said["grpcPort"])
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start; its log is {log}")
