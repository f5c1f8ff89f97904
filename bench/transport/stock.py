"""Measures server CPU for a completion of 4 KB from ordinary clients: grpcio's stub, and JSON over HTTP.

    .venv/bin/python bench/transport/stock.py [--other FOLDER] [--rounds 9] [--calls 2000] [--json]

With `--other`, a second checkout is measured by turns. CPU is the server's user and system time with all its threads.
The client is slower than the server, so that a call's cost includes the wake-up of an idle event loop. The first rounds
warm up and are left out. It measures Step by grpcio, with 32 calls in flight and then one; StreamSteps by grpcio with
16 completions a message, for one completion; and Step as JSON over HTTP/1.1, on 8 connections and then on one.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import grpc
from gradus.v1 import environment_pb2 as pb
from gradus.v1.environment_pb2_grpc import EnvironmentServiceStub
from gradus.v1.task_pb2 import TaskSpec

sys.path.insert(0, str(Path(__file__).parents[1]))
from serving import ROOT, cpu_seconds, serving_ports

COMPLETIONS = 16
WARM_UP = 5
TEXT = f"<think>{'so we try first then combine 3 + 4 '.ljust(4000, 'x')}</think>\n<answer>1 + 2 + 3</answer>"
PATH = "/gradus.v1.EnvironmentService/Step"


class Served:
    """A server with its tasks."""

    def __init__(self, pid: int, ports: dict[str, int], stack: ExitStack) -> None:
        """Gets the tasks."""
        self.pid = pid
        self.http_port = ports["httpPort"]
        self.stub = EnvironmentServiceStub(stack.enter_context(grpc.insecure_channel(f"localhost:{ports['grpcPort']}")))
        spec = TaskSpec(environment="countdown", level="T1")
        request = pb.BatchResetRequest(spec=spec, seeds=range(256))
        self.tasks = [each.task for each in self.stub.BatchReset(request).results]

    def steps(self, calls: int) -> list[pb.StepRequest]:
        """Returns requests of one completion each."""
        tasks = (self.tasks[i % len(self.tasks)] for i in range(calls))
        return [pb.StepRequest(task_id=task.task_id, group_id=task.group_id, completion=TEXT) for task in tasks]


def unary(in_flight: int) -> Callable[[Served, int], None]:
    """Sends Step by grpcio."""

    def send(served: Served, calls: int) -> None:
        with ThreadPoolExecutor(in_flight) as pool:
            assert all(reply.HasField("outcome") for reply in pool.map(served.stub.Step, served.steps(calls)))

    return send


def stream(served: Served, calls: int) -> None:
    """Sends StreamSteps by grpcio, a group of completions a message."""

    def messages() -> Iterator[pb.StreamStepsRequest]:
        for i in range(calls // COMPLETIONS):
            task = served.tasks[i % len(served.tasks)]
            texts = [{"sample_index": sample, "text": TEXT} for sample in range(COMPLETIONS)]
            group = {
                "task_id": task.task_id,
                "group_id": task.group_id,
                "completions": texts,
            }
            yield pb.StreamStepsRequest(request_id=str(i), groups=[group])

    assert sum(1 for _ in served.stub.StreamSteps(messages())) == calls // COMPLETIONS


def as_json(connections: int) -> Callable[[Served, int], None]:
    """Sends Step as JSON over HTTP/1.1, one call at a time on each connection."""

    def send(served: Served, calls: int) -> None:
        bodies = [
            json.dumps(
                {
                    "taskId": step.task_id,
                    "groupId": step.group_id,
                    "completion": step.completion,
                }
            )
            for step in served.steps(calls)
        ]

        def use(own: list[str]) -> None:
            connection = http.client.HTTPConnection("localhost", served.http_port)
            for body in own:
                connection.request("POST", PATH, body, {"content-type": "application/json"})
                assert b"outcome" in connection.getresponse().read()
            connection.close()

        with ThreadPoolExecutor(connections) as pool:
            list(pool.map(use, [bodies[first::connections] for first in range(connections)]))

    return send


WAYS: dict[str, Callable[[Served, int], None]] = {
    "Step, grpcio, 32 in flight": unary(32),
    "Step, grpcio, one at a time": unary(1),
    "StreamSteps, grpcio": stream,
    "Step, JSON, 8 connections": as_json(8),
    "Step, JSON, one connection": as_json(1),
}


def main() -> None:
    """Measures by turns and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", type=Path, help="a second checkout; left out: this one alone")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=2000, help="completions of a round, for each way")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="may be given several times")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    checkouts = {"this": ROOT} | ({"other": options.other} if options.other else {})
    found: dict[str, dict[str, list[float]]] = {}
    with ExitStack() as stack:
        servers = {
            name: Served(*stack.enter_context(serving_ports(checkout)), stack) for name, checkout in checkouts.items()
        }
        for number in range(-WARM_UP, options.rounds):
            for way in options.way or WAYS:
                for name in list(checkouts) if number % 2 == 0 else list(checkouts)[::-1]:
                    served = servers[name]
                    before = cpu_seconds(served.pid)
                    WAYS[way](served, options.calls)
                    micros = (cpu_seconds(served.pid) - before) / options.calls * 1e6
                    if number >= 0:
                        found.setdefault(way, {}).setdefault(name, []).append(micros)
    if options.json:
        json.dump(found, sys.stdout, indent=1)
        print()
        return
    print(f"| microseconds of server CPU a completion | {' | '.join(checkouts)} |")
    print(f"| --- |{' --- |' * len(checkouts)}")
    for way, of in found.items():
        cells = [f"{statistics.median(each):.0f} ({min(each):.0f} to {max(each):.0f})" for each in of.values()]
        print(f"| {way} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
