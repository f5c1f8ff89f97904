"""Clients across forks, event loops and threads. Each program runs in a fresh process, as a trainer would."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import Server

from gradus import Client

FORK = """
import os, signal, sys
import gradus
client = gradus.Client(sys.argv[1])
{before}
child = os.fork()
if child == 0:
    signal.alarm(30)
    task = client.reset("countdown", seed=1)
    results = list(client.stream_steps([task.group(["?"])]))
    os._exit(0 if len(results) == 1 else 1)
assert os.waitpid(child, 0)[1] == 0
assert client.list_environments()
client.close()
assert client.list_environments()
print("fine")
"""

POOL = """
import multiprocessing, sys
import gradus
client = gradus.Client(sys.argv[1])

def metadata(seed):
    return client.reset("countdown", seed=seed).metadata

here = [metadata(seed) for seed in range(8)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(metadata, range(8)) == here
assert metadata(0) == here[0]
print("fine")
"""

LOOPS = """
import asyncio, os, signal, sys
import gradus
client = gradus.aio.Client(sys.argv[1])

async def ask():
    task = await client.reset("countdown", seed=1)
    results = [each async for each in client.stream_steps([task.group(["?"])])]
    return len(results)

assert asyncio.run(ask()) == asyncio.run(ask()) == 1
child = os.fork()
if child == 0:
    signal.alarm(30)
    os._exit(asyncio.run(ask()) - 1)
assert os.waitpid(child, 0)[1] == 0
assert asyncio.run(ask()) == 1
print("fine")
"""

OPEN_LOOP = """
import asyncio, os, sys
import gradus
client = gradus.aio.Client(sys.argv[1])

async def ask():
    await client.list_environments()
    if os.fork() == 0:
        try:
            gradus.Client(sys.argv[1]).list_environments()
        except RuntimeError as error:
            os.write(1, str(error).encode())
        os._exit(0)
    os.wait()
    await client.close()
    child = os.fork()
    if child == 0:
        gradus.Client(sys.argv[1]).list_environments()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert await client.list_environments()

asyncio.run(ask())
"""

GRPC_FIRST = """
import os, sys
import grpc
import gradus
client = gradus.Client(sys.argv[1])
client.list_environments()
if os.fork() == 0:
    try:
        client.list_environments()
    except RuntimeError as error:
        os.write(1, str(error).encode())
    os._exit(0)
os.wait()
"""

ABANDONED = """
import sys
import gradus
client = gradus.Client(sys.argv[1])
task = client.reset("countdown", seed=1)
kept = client.stream_steps(task.group(["?"]) for _ in range(10))
next(kept)
print("fine")
"""


PICKLED = """
import multiprocessing, pickle, sys
import dill
import gradus

def ask(run):
    return [task.task_id for task in run.next_batch().tasks]

if __name__ == "__main__":
    fresh = gradus.Client(sys.argv[1], token=None, retries=2)
    client = gradus.Client(sys.argv[1], token=None, retries=2)
    client.list_environments()
    # Data sets are told apart by a hash of what dill makes of their functions.
    assert dill.dumps(client) == dill.dumps(fresh)
    assert dill.loads(dill.dumps(lambda: client.list_environments()))() == client.list_environments()
    run = client.run(sys.argv[2])
    run.create([gradus.arm("countdown", "T0")], gradus.mixture(), num_generations=1, prompts_per_update=2)
    run.next_batch()
    asynchronous = pickle.loads(pickle.dumps(gradus.aio.Client(sys.argv[1])))
    for method in ("spawn", "fork"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            there = pool.apply(ask, [run])
        assert there == [task.task_id for task in run.next_batch(2).tasks], method
    assert pickle.loads(pickle.dumps(run)).cursor == run.cursor == 2
    assert run.next_batch().tasks[0].cursor == 2
    print("fine")
"""


def run(program: str, *arguments: str) -> str:
    command = [sys.executable, "-c", program, *arguments]
    environment = {key: value for key, value in os.environ.items() if key != "GRPC_ENABLE_FORK_SUPPORT"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("before", ["", "client.list_environments()"])
def test_a_client_lives_in_a_forked_child_and_its_parent(server: Server, before: str) -> None:
    assert "fine" in run(FORK.format(before=before), server.address)


def test_a_client_lives_in_worker_processes(server: Server) -> None:
    assert "fine" in run(POOL, server.address)


def test_a_used_client_can_be_pickled(server: Server, run_id: str, tmp_path: Path) -> None:
    # Spawned processes import the program, so it must be a file.
    program = tmp_path / "program.py"
    program.write_text(PICKLED)
    command = [sys.executable, str(program), server.address, run_id]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "fine" in done.stdout


def test_an_asynchronous_client_lives_in_loop_after_loop_and_in_a_forked_child(server: Server) -> None:
    assert "fine" in run(LOOPS, server.address)


def test_a_stream_that_is_left_open_lets_its_process_end(server: Server) -> None:
    # Before the fix eight of ten runs hung.
    for _ in range(3):
        assert "fine" in run(ABANDONED, server.address)


@pytest.mark.parametrize(
    ("program", "advice"), [(GRPC_FIRST, "import gradus before grpc"), (OPEN_LOOP, "a gradus.aio.Client was open")]
)
def test_a_fork_that_would_hang_says_so(server: Server, program: str, advice: str) -> None:
    assert advice in run(program, server.address)


def test_a_client_is_shared_by_threads(client: Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        prompts = list(pool.map(lambda seed: client.reset("countdown", seed=seed % 4).prompt, range(64)))
    assert all(prompts[i] == prompts[i % 4] for i in range(64))
