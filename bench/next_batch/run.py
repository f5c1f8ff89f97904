"""Measures the wait in NextBatch, and the server's CPU for a streamed sample.

    .venv/bin/python bench/next_batch/run.py [--other FOLDER] [--rounds 9] [--prompts 64] [--arm np/tsp/easy] [--json]

With `--other`, a second checkout is measured by turns. In each round each server has a run of its own on its default
store, a bandit over the arms (countdown's tiers by default). The Python client streams 16 completions of 4 KB for each
prompt, 64 groups in flight. With `--grow N` the arms grow instead: N arms over the growth axes of the server, under the
policy frontier, each with the last five levels of its axis, all of them open. CPU is the server's user and system time
from the first NextBatch to the last answer, including making tasks and writing the journal. A pause (`--pause-ms`)
simulates the trainer's generation, during which the server makes tasks ahead. A second one, after the last reward
(`--learn-ms`), simulates the optimizer's step. The first round warms up and is left out.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import sys
import time
import uuid
from contextlib import ExitStack
from pathlib import Path

import gradus
from gradus import Client, Task

sys.path.insert(0, str(Path(__file__).parents[1]))
from serving import ROOT, cpu_seconds, serving

COMPLETIONS = 16
CHARACTERS = 4096
LEVELS = 5


def completions(task: Task, random_: random.Random) -> list[str]:
    """Returns a group's texts, all different."""
    thought = "".join(random_.choices("abcdefghij ,.", k=CHARACTERS))
    return [f"<think>{i} {thought}</think><answer>{i} + {task.cursor}</answer>" for i in range(COMPLETIONS)]


def fixed_arms(names: list[str] | None) -> list[gradus.Arm]:
    """Returns arms of fixed levels."""
    parts = [each.rpartition("/") for each in names or [f"countdown/T{tier}" for tier in range(4)]]
    return [gradus.arm(environment, level) for environment, _, level in parts]


def growing_arms(client: Client, count: int) -> list[gradus.Arm]:
    """Returns arms at the ends of the server's growth axes."""
    axes = [(of.environment_id, axis) for of in client.list_environments() for axis in of.axes]
    wanted = itertools.islice(itertools.cycle(axes), count)
    return [
        gradus.arm(
            environment,
            arm_id=f"{environment}/{number}",
            grow=gradus.grow(axis.name, start=max(axis.first, axis.last - LEVELS + 1)),
        )
        for number, (environment, axis) in enumerate(wanted)
    ]


def train(pid: int, client: Client, options: argparse.Namespace) -> tuple[float, list[float]]:
    """Trains a run; returns microseconds of server CPU for each sample, and milliseconds of each NextBatch."""
    updates, prompts = options.updates, options.prompts
    run = client.run(f"next-batch-{uuid.uuid4()}")
    arms = growing_arms(client, options.grow) if options.grow else fixed_arms(options.arm)
    run.create(
        arms=arms,
        policy=gradus.frontier() if options.grow else gradus.bandit(),
        num_generations=COMPLETIONS,
        prompts_per_update=prompts,
        length=prompts * updates,
        seed=1,
    )
    for arm in run.get().state.arms:
        if arm.growth is not None:
            for _ in range(min(LEVELS - 1, arm.growth.cap - arm.growth.frontier)):
                run.advance(arm.arm_id)
    random_ = random.Random(1)
    waits = []
    before = cpu_seconds(pid)
    for _ in range(updates):
        began = time.perf_counter()
        tasks = run.next_batch().tasks
        waits.append((time.perf_counter() - began) * 1000)
        groups = [task.group(completions(task, random_)) for task in tasks]
        time.sleep(options.pause_ms / 1000)
        for result in client.stream_steps(iter(groups), window=64):
            assert all(each is not None for each in result.result().rewards)
        time.sleep(options.learn_ms / 1000)
    micros = (cpu_seconds(pid) - before) / (updates * prompts * COMPLETIONS) * 1e6
    run.delete()
    return micros, waits[1:]


def main() -> None:
    """Measures the servers by turns, and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", type=Path, help="a second checkout; left out: this one alone")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--updates", type=int, default=12)
    parser.add_argument("--prompts", type=int, default=64, help="prompts of an update batch")
    parser.add_argument("--arm", action="append", help="ENVIRONMENT/LEVEL; may be given several times")
    parser.add_argument("--grow", type=int, default=0, help="number of growing arms in place of fixed ones")
    parser.add_argument("--pause-ms", type=float, default=300, help="pause before the completions are sent")
    parser.add_argument("--learn-ms", type=float, default=0, help="pause after the last reward")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    checkouts = {"this": ROOT} | ({"other": options.other} if options.other else {})
    found: dict[str, list[float]] = {name: [] for name in checkouts}
    waits: dict[str, list[float]] = {name: [] for name in checkouts}
    with ExitStack() as stack:
        servers = {name: stack.enter_context(serving(checkout)) for name, checkout in checkouts.items()}
        clients = {name: stack.enter_context(Client(address)) for name, (_, address) in servers.items()}
        for number in range(options.rounds + 1):
            for name in list(checkouts) if number % 2 == 0 else list(checkouts)[::-1]:
                micros, waited = train(servers[name][0], clients[name], options)
                if number > 0:
                    found[name].append(micros)
                    waits[name].extend(waited)
    ratios = sorted(a / b for a, b in zip(found["this"], found.get("other", []), strict=False))
    if options.json:
        json.dump({"us_per_sample": found, "next_batch_ms": waits, "ratios": ratios}, sys.stdout, indent=1)
        print()
        return
    for name, each in found.items():
        quantiles = statistics.quantiles(waits[name], n=100)
        print(
            f"{name}: {statistics.median(each):.1f} us of server CPU a sample ({min(each):.1f} to {max(each):.1f}), "
            f"NextBatch {quantiles[49]:.1f} ms in the middle, {quantiles[98]:.1f} at the 99th percentile"
        )
    if ratios:
        print(f"this / other: {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
