"""What coalescing is worth: completions that are awaited one by one, as verl and verifiers do it, alone and together.

    .venv/bin/python bench/trainers/coalesce.py --server localhost:50051

One process awaits 64 groups of 64 completions of 4 KB at once, by `gradus.training.Scorer` and by a Step each, by turns
of one and the other. Printed are the medians with quartiles, and the messages of the first.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
import uuid
from collections.abc import Awaitable, Callable

import gradus
from gradus import Task, aio
from gradus.training import RunAddress, Scorer, TaskReference, WrittenCompletion

GROUPS = 64
GENERATIONS = 64
CHARACTERS = 4096

Score = Callable[[Task, int, str], Awaitable[gradus.Outcome]]


def text(turn: int, index: int) -> str:
    """A completion of its own for each sample, readable and wrong."""
    return f"<think>{'x' * CHARACTERS}{turn}/{index}</think><answer>1 + 1</answer>"


async def turn_of(score: Score, tasks: tuple[Task, ...], turn: int) -> float:
    """Seconds for all completions of a batch, awaited at once."""
    began = time.perf_counter()
    outcomes = await asyncio.gather(
        *(score(task, index, text(turn, index)) for task in tasks for index in range(GENERATIONS))
    )
    seconds = time.perf_counter() - began
    assert {each.feedback for each in outcomes} == {"recorded"}
    return seconds


async def compare(server: str, turns: int) -> None:
    """Measures both by turns, and prints."""
    address = RunAddress(server, f"coalesce-{uuid.uuid4().hex[:8]}")
    client = aio.Client(server)
    scorer = Scorer(address)
    run = client.run(address.run_id)
    await run.create(
        [gradus.arm("countdown", "T1")], gradus.mixture(), num_generations=GENERATIONS, prompts_per_update=GROUPS
    )

    async def together(task: Task, index: int, text: str) -> gradus.Outcome:
        return await scorer.score(WrittenCompletion(TaskReference.of(task, address, GENERATIONS), text, index))

    async def alone(task: Task, index: int, text: str) -> gradus.Outcome:
        return await client.step(task, text, sample_index=index)

    ways: dict[str, Score] = {"together": together, "alone": alone}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(2 * (turns + 1)):
        name = list(ways)[turn % 2]
        seconds = await turn_of(ways[name], (await run.next_batch()).tasks, turn)
        # The first of each warms up.
        taken[name] += [seconds] if turn > 1 else []
    for name, each in taken.items():
        low, middle, high = statistics.quantiles(each, n=4)
        print(f"{name}: {1000 * middle:.0f} ms ({1000 * low:.0f} to {1000 * high:.0f}) for {GROUPS * GENERATIONS}")
    print(f"messages of a turn together: {scorer.messages_sent / (turns + 1):.1f}")
    await run.delete()
    await client.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="localhost:50051")
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    asyncio.run(compare(given.server, given.turns))
