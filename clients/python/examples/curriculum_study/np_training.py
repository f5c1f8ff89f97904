"""Runs one training of the NP-hard part of the study of growth, with a Gradus server."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import experiment
import numpy as np
from experiment import Settings, Setup
from np_plan import SCORED, Problem
from sequence_plan import Condition, Part
from sequence_training import Point, Trained
from start import Start, imitate
from tokens import Tokens
from training import Trainer

from gradus import Client, Task
from gradus.enums import Split

_CALLS = 4
"""SolveTask calls in progress."""


def train(client: Client, part: Part[Problem], condition: Condition, seed: int) -> Trained:
    """Imitates the solver, then trains; `right` is the mean quality by value, and `seconds` those of one core."""
    problem, settings = part.family, part.family.settings(part.updates)
    values = problem.values(problem.held_out)

    def held_out(client: Client, settings: Settings) -> dict[str, list[Task]]:
        return {str(value): _tasks(client, problem, value, "eval", seed, settings.held_out) for value in values}

    setup = Setup(
        name=f"np-{problem.name}",
        language=problem.language,
        settings={"small": settings},
        held_out=held_out,
        kinds=[str(value) for value in values],
        kind_of=lambda task: task.metadata[problem.axis],
    )
    steered = experiment.Condition(
        condition.name, "", lambda: condition.policy(seed, ()), lambda: condition.arms(problem), "quality"
    )
    prompts, completions = _answers(client, problem, settings, seed)
    start = Start(f"seed {seed}", imitate(settings, prompts, completions, seed=seed))
    trained = Trainer(client, setup, "small", steered, seed, start).train()
    curve = [Point(each.rollouts, [each.sets[str(value)]["quality"] for value in values]) for each in trained.curve]
    # The wall clock would also count pauses.
    seconds = round(time.process_time(), 1)
    return Trained(part.name, condition.name, seed, settings.rate, curve, trained.drawn, seconds)


def _answers(client: Client, problem: Problem, settings: Settings, seed: int) -> tuple[Tokens, Tokens]:
    """Returns prompts and the solver's completions, (rows, tokens) each: as many of each value that is scored."""
    tasks = [
        task
        for value in problem.values(SCORED)
        for task in _tasks(client, problem, value, "train", seed, settings.start_rows)
    ]
    with ThreadPoolExecutor(_CALLS) as callers:
        solutions = list(callers.map(client.solve_task, tasks))
    language = problem.language
    prompts = np.stack([language.prompt(task.prompt[-1]["content"]) for task in tasks])
    return prompts, np.stack([language.completion(each.completion) for each in solutions])


def _tasks(client: Client, problem: Problem, value: int, split: Split, seed: int, count: int) -> list[Task]:
    seeds = [(seed << 32) + i for i in range(count)]
    return [made.result() for made in client.batch_reset(problem.spec(value, split), seeds)]
