"""Measures server CPU for the same graded completions, of OpenEnv's application and of Gradus by turns.

    python3 -m venv .venv-openenv
    .venv-openenv/bin/pip install -r bench/openenv/requirements.txt -e clients/python
    .venv-openenv/bin/python bench/openenv/run.py [--rounds 9] [--groups 2048] [--other FOLDER] [--json]

Each group is 16 completions of 4 KB of one countdown task, and 64 groups are in flight. OpenEnv is called over raw
WebSockets, with a session for each group in flight. A session is reset to its task before the clock starts, and takes
steps one by one, as OpenEnv's own client does. Gradus is called by the Python client's `stream_steps`. The CPU is user
and system time of the warm server's processes. The two verifiers must agree on every reward.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import re
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import websockets
from gradus import Client, Task, task_spec

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
import countdown
from serving import ROOT, cpu_seconds, serving

IN_FLIGHT = 64
COMPLETIONS = 16
CHARACTERS = 4096
# Rounds that are not counted. For its first 400,000 completions or so, while Node compiles hot code, the server
# takes up to 1.5 times the CPU. A long training does not notice that.
WARMING = 12


@dataclass(frozen=True)
class Group:
    """A task with its completions."""

    task: Task
    numbers: list[int]
    target: int
    texts: list[str]


# Servers.


@contextmanager
def openenv() -> Iterator[tuple[int, str]]:
    """Yields an OpenEnv server's process and the address of its sessions."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([sys.executable, str(Path(countdown.__file__)), "--port", str(port)]) as server:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        else:
            raise TimeoutError("OpenEnv's server did not open its port within a minute")
        yield server.pid, f"ws://127.0.0.1:{port}/ws"
        server.terminate()


# Completions, right ones and all kinds of wrong ones.


def solutions(numbers: Sequence[int], target: int) -> list[str]:
    """Returns expressions of three numbers that reach the target."""
    found = []
    for (a, b, c), (p, q) in itertools.product(itertools.permutations(numbers), itertools.product("+-*/", repeat=2)):
        for text in (f"({a} {p} {b}) {q} {c}", f"{a} {p} ({b} {q} {c})"):
            if countdown.reward_of(list(numbers), target, f"<answer>{text}</answer>") == 1.0:
                found.append(text)
    return found


def answers(numbers: Sequence[int], target: int) -> list[str]:
    """Returns answer blocks, right, wrong and unreadable."""
    a, b, c = numbers
    right = solutions(numbers, target)
    wrong = [f"{a} + {b} + {c}", f"{a} * {b}", f"{a} - {b} + {c} + 1", f"{a} / ({b} - {b}) + {c}", f"{a}"]
    unreadable = [f"{a} +", f"({a} + {b}", "I do not know", f"{a} ** {b}", f"{a} {b}", "", f"{a} + {b} = ?"]
    claims = [f"{text} = {target}" for text in right[:1]] + [f"{text} = {target + 1}" for text in right[:1]]
    return [*right[:4], *claims, *wrong, *unreadable]


def group_of(task: Task, random_: random.Random) -> Group:
    """Returns a task's group with random completions."""
    words = re.search(r"Using the numbers ([\d, and]+), .* equals (\d+)", task.prompt[0]["content"])
    assert words is not None, task.prompt
    numbers = [int(each) for each in re.findall(r"\d+", words[1])]
    target = int(words[2])
    blocks = answers(numbers, target)
    texts = []
    for index in range(COMPLETIONS):
        thought = f"<think>{index} " + "".join(random_.choices("abcdefghij ,.", k=CHARACTERS)) + "</think>"
        block = f"<answer>{random_.choice(blocks)}</answer>"
        texts.append(thought[: CHARACTERS - len(block) - len("</think>")] + "</think>" + block)
    return Group(task, numbers, target, texts)


# Turns.


def by_gradus(client: Client, groups: Sequence[Group]) -> list[list[float | None]]:
    """Returns all groups' rewards, in order."""
    rewards: dict[str, list[float | None]] = {}
    for result in client.stream_steps((each.task.group(each.texts) for each in groups), window=IN_FLIGHT):
        outcome = result.result()
        rewards[outcome.group_id] = list(outcome.rewards)
    return [rewards[each.task.group_id] for each in groups]


async def by_openenv(sessions: Sequence[websockets.ClientConnection], groups: Sequence[Group]) -> list[list[float]]:
    """Returns the rewards from sessions that keep their tasks: group i goes to session i modulo their number."""
    rewards: list[list[float]] = [[] for _ in groups]

    async def session(number: int) -> None:
        socket_ = sessions[number]
        for at in range(number, len(groups), IN_FLIGHT):
            for text in groups[at].texts:
                await socket_.send(json.dumps({"type": "step", "data": {"text": text}}))
                rewards[at].append(json.loads(await socket_.recv())["data"]["reward"])

    await asyncio.gather(*(session(number) for number in range(IN_FLIGHT)))
    return rewards


async def open_sessions(address: str, groups: Sequence[Group]) -> list[websockets.ClientConnection]:
    """Opens a session for each of the first groups, reset to its task."""
    sessions = []
    for group in groups[:IN_FLIGHT]:
        session = await websockets.connect(address, compression=None, max_size=None)
        await session.send(json.dumps({"type": "reset", "data": {"numbers": group.numbers, "target": group.target}}))
        await session.recv()
        sessions.append(session)
    return sessions


def groups_of(client: Client, count: int) -> list[Group]:
    """Returns groups of a server's tasks. Groups i and i + 64 share a task, so that sessions need no reset."""
    random_ = random.Random(7)
    tasks = [each.result() for each in client.batch_reset(task_spec("countdown", level="T0"), range(IN_FLIGHT))]
    first = [group_of(task, random_) for task in tasks]
    return [first[i % IN_FLIGHT] for i in range(count)]


async def compare(rounds: int, count: int, other: Path | None) -> list[dict[str, float]]:
    """Returns seconds of server CPU of each round, by server. `other` is a second checkout of Gradus."""
    checkouts = {"gradus": ROOT} | ({"other": other} if other else {})
    with ExitStack() as stack:
        ours = {name: stack.enter_context(serving(checkout)) for name, checkout in checkouts.items()}
        theirs, sessions_at = stack.enter_context(openenv())
        clients = {name: stack.enter_context(Client(address)) for name, (_, address) in ours.items()}
        groups = {name: groups_of(client, count) for name, client in clients.items()}
        sessions = await open_sessions(sessions_at, groups["gradus"])
        order = [*checkouts, "openenv"]
        found = []
        for number in range(WARMING + rounds):
            seconds = {}
            rewards = {}
            for name in order if number % 2 == 0 else order[::-1]:
                pid = theirs if name == "openenv" else ours[name][0]
                before = cpu_seconds(pid)
                if name == "openenv":
                    rewards[name] = await by_openenv(sessions, groups["gradus"])
                else:
                    rewards[name] = await asyncio.to_thread(by_gradus, clients[name], groups[name])
                seconds[name] = cpu_seconds(pid) - before
            for name in checkouts:
                differ = [(a, b) for a, b in zip(rewards[name], rewards["openenv"], strict=True) if a != b]
                assert not differ, f"the verifiers disagree on {len(differ)} groups, first {differ[0]}"
            if number >= WARMING:
                found.append(seconds)
        for session in sessions:
            await session.send(json.dumps({"type": "close"}))
            await session.wait_closed()
        return found


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--groups", type=int, default=2048)
    parser.add_argument("--other", type=Path, help="a second checkout of Gradus, measured by turns")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = asyncio.run(compare(options.rounds, options.groups, options.other))
    ratios = sorted(each["openenv"] / each["gradus"] for each in found)
    completions = options.groups * COMPLETIONS
    micros = {name: statistics.median(each[name] for each in found) / completions * 1e6 for name in found[0]}
    if options.json:
        json.dump({"ratios": ratios, "us_per_completion": micros, "rounds": found}, sys.stdout, indent=1)
        print()
        return
    print(
        f"OpenEnv's server takes {statistics.median(ratios):.1f} times Gradus's CPU for the same completions "
        f"({ratios[0]:.1f} to {ratios[-1]:.1f}, {len(ratios)} rounds); us for each: "
        + ", ".join(f"{name} {each:.1f}" for name, each in micros.items())
    )


if __name__ == "__main__":
    main()
