"""What the Python client's stream costs over a bare grpcio client: CPU of the client's process, in interleaved pairs.

    .venv/bin/python bench/python_client/run.py [--windows 64,512] [--pairs 7] [--json]

Both send the same groups of completions to the same server, in messages of one group, with the same window; the bare
client is a loop over the generated stub, matches nothing, retries nothing and reads each sample's reward. Each pair is
one turn of each, the first of them by turns; CPU is the process's user and system time, threads of gRPC's included.
`--read` says what is read of each result: nothing, its rewards, or some fields of every outcome.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import statistics
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import gradus
import grpc
from gradus import Client, Task
from gradus.v1 import environment_pb2 as env
from gradus.v1.environment_pb2_grpc import EnvironmentServiceStub

sys.path.insert(0, str(Path(__file__).parents[1]))
from serving import serving

TASKS = 256
Rewards = list[float]


def text(number: int, index: int, characters: int) -> str:
    """A completion of its own for each sample, readable and wrong."""
    return f"<think>{'x' * characters}{number}/{index}</think><answer>1 + 1</answer>"


def ours(client: Client, tasks: Sequence[Task], work: argparse.Namespace, window: int, read: str) -> float:
    """The sum of all rewards, by `Client.stream_steps`."""
    groups = (
        tasks[number % TASKS].group([text(number, i, work.characters) for i in range(work.completions)])
        for number in range(work.groups)
    )
    total = 0.0
    for result in client.stream_steps(groups, window=window):
        outcome = result.result()
        if read == "rewards":
            total += sum(each or 0.0 for each in outcome.rewards)
        elif read == "outcomes":
            total += sum(each.reward or 0.0 for each in outcome.outcomes if not each.solved and not each.truncated)
    return total


def bare(
    stub: EnvironmentServiceStub, tasks: Sequence[Task], work: argparse.Namespace, window: int, read: str
) -> float:
    """The same by the generated stub alone."""
    slots = threading.Semaphore(window)

    def requests() -> Iterator[env.StreamStepsRequest]:
        for number in range(work.groups):
            slots.acquire()
            task = tasks[number % TASKS]
            group = env.CompletionGroup(task_id=task.task_id, group_id=task.group_id)
            for index in range(work.completions):
                group.completions.add(sample_index=index, text=text(number, index, work.characters))
            yield env.StreamStepsRequest(request_id=str(number), groups=[group])

    total = 0.0
    for reply in stub.StreamSteps(requests()):
        slots.release()
        if read != "nothing":
            for each in reply.groups[0].outcomes:
                score = each.score
                if read == "rewards" or (not score.solved and not score.truncated):
                    total += score.reward
    return total


def cpu_of(turn: Callable[[], float], expected: float | None) -> tuple[float, float]:
    """Seconds of CPU that a turn takes, and what it came to."""
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF)
    total = turn()
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert expected is None or abs(total - expected) < 1e-6, (total, expected)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, total


def compare(address: str, work: argparse.Namespace, window: int) -> dict[str, object]:
    """CPU of both, in pairs."""
    with Client(address) as client, grpc.insecure_channel(address) as channel:
        stub = EnvironmentServiceStub(channel)
        spec = gradus.task_spec("countdown", level="T0")
        tasks = [each.result() for each in client.batch_reset(spec, range(TASKS))]
        ways = {
            "gradus": lambda: ours(client, tasks, work, window, work.read),
            "bare": lambda: bare(stub, tasks, work, window, work.read),
        }
        expected, *_ = [cpu_of(turn, None)[1] for turn in ways.values()]  # And warms both up.
        pairs: list[dict[str, float]] = []
        for number in range(work.pairs):
            order = list(ways) if number % 2 == 0 else list(ways)[::-1]
            pairs.append({name: cpu_of(ways[name], expected)[0] for name in order})
    ratios = sorted(each["gradus"] / each["bare"] for each in pairs)
    micros = {name: statistics.median(each[name] for each in pairs) / work.groups * 1e6 for name in ways}
    return {
        "window": window,
        "read": work.read,
        "completions": work.completions,
        "ratio": round(statistics.median(ratios), 3),
        "ratio_min": round(ratios[0], 3),
        "ratio_max": round(ratios[-1], 3),
        "us_per_group": {name: round(each, 1) for name, each in micros.items()},
    }


def main() -> None:
    """Measures each window and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", help="host:port of a running server; left out: one is started")
    parser.add_argument("--windows", default="64,512")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--groups", type=int, default=2000)
    parser.add_argument("--completions", type=int, default=8)
    parser.add_argument("--characters", type=int, default=400)
    parser.add_argument("--read", choices=["nothing", "rewards", "outcomes"], default="outcomes")
    parser.add_argument("--json", action="store_true")
    work = parser.parse_args()
    with serving() if work.server is None else nullcontext((0, work.server)) as (_, address):
        found = [compare(address, work, int(window)) for window in work.windows.split(",")]
    if work.json:
        json.dump(found, sys.stdout, indent=1)
        print()
        return
    for each in found:
        print(
            f"window {each['window']}: {each['ratio']} times a bare client's CPU "
            f"({each['ratio_min']} to {each['ratio_max']}); us of CPU for each group: {each['us_per_group']}"
        )


if __name__ == "__main__":
    main()
