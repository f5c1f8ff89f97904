"""RLVE-Gym: every generator as an environment, `rlve-gym/NAME`, with a level for each difficulty of its controller.

An instance is RLVE-Gym's own record of a problem. RLVE-Gym makes a problem in a thread and stops it by the clock; here
it is made without a thread, and what is bounded is the number of tries. Scores lie in [-1, 1], where a wrong answer has
0 and an invalid one less; the component "score" is the score itself, or 0 if it is negative.
"""

from __future__ import annotations

import copy
import inspect
import random
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from gradus.serve._catalogue import Offer, TargetError
from gradus.serve._chance import seed_chance
from gradus.serve._environment import Axis, Environment, Level
from gradus.serve._facts import ExhaustedError, Facts
from gradus.serve.adapters._target import chosen, runs_text, slug_of

PREFIX = "rlve-gym/"
LEVELS = 10
"""Maximum number of levels of a generator. RLVE-Gym sets no limit; each level is about a tenth larger than the last."""
# Levels from which on some problems of a generator take more than 3 s to make, by generator.
_SLOW_FROM = {
    "card-coloring-counting": 6,
    "grid-local-minimum-counting": 5,
    "maximum-achromatic-number": 7,
    "minimum-dominating-set-grid": 8,
    "minimum-weighted-spanning-tree": 8,
}
SEED_BITS = 32
"""Number of bits of a seed: numpy accepts no more."""
TRIES = 8
"""Maximum number of tries to make a problem for one seed."""
# RLVE-Gym's own tolerance when it compares a score with the score from which an answer passes.
_ROUNDING = 1e-6
# Places in a name such as "AbsMaxOfGCD" at which a word begins.
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def offer(names: str) -> Offer:
    """Returns all generators, or those whose names are given between commas."""
    generators, controllers = _load()
    offered = Offer([], tried_here=False)
    for slug, name in chosen(names, generators, slug_of_generator, "rlve-gym").items():
        if name not in controllers:
            offered.left_out[PREFIX + slug] = "it has no controller, which gives the parameters of each difficulty"
            continue
        choices = choices_of(controllers[name])
        for level in range(_SLOW_FROM.get(slug, LEVELS), len(choices)):
            offered.left_out[f"{PREFIX}{slug}#level-{level}"] = "some of its problems take more than 3 s to make"
        kept = choices[: _SLOW_FROM.get(slug)]
        offered.environments.append(Generator(PREFIX + slug, generators[name], kept))
    return offered


def slug_of_generator(name: str) -> str:
    """Returns the last part of a generator's id, e.g. "abs-max-of-gcd" of "AbsMaxOfGCD"."""
    return slug_of(_WORDS.sub("-", name))


def _load() -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns RLVE-Gym's generators and controllers by name.

    RLVE-Gym imports torch only to seed it. A module without content stands in for torch, which has hundreds of MB.
    """
    had = sys.modules.get("torch")
    sys.modules["torch"] = ModuleType("torch")
    try:
        import Gym.environment  # noqa: PLC0415  # Not required by gradus-gym.

        # Two scorers have a time limit of their own, by a thread. A host limits the time of each answer.
        Gym.environment.timeout = lambda _: lambda function: function
        from Gym.environments import identifier2environment  # noqa: PLC0415
        from Gym.parameter_controllers import identifier2controller  # noqa: PLC0415
    except ImportError as error:
        raise TargetError(
            f"rlve-gym cannot be imported ({error}): pip install rlve-gym==0.0.1 numpy networkx sympy"
        ) from error
    finally:
        del sys.modules["torch"]
        if had is not None:
            sys.modules["torch"] = had
    return dict(identifier2environment), dict(identifier2controller)


class Generator(Environment):
    """A generator of RLVE-Gym."""

    components = ("score",)

    def __init__(self, slug: str, generator: Any, choices: list[list[dict[str, Any]]]) -> None:
        self.id = slug  # type: ignore[misc]
        self._generator = generator
        self._choices = choices
        # Read the whole file: finding the source of the class in it takes ten times as long.
        self.runs_answers = runs_text(Path(inspect.getfile(generator)).read_text("utf-8"))  # type: ignore[misc]
        if self.runs_answers:
            self.remarks = ("it runs answers as code: each is scored in a process of its own",)  # type: ignore[misc]
        names = [f"level-{number}" for number in range(len(self._choices))]
        self.levels = {name: Level({"level": number}) for number, name in enumerate(names)}  # type: ignore[misc]
        self.axes = {"level": Axis(names)} if len(names) > 1 else {}  # type: ignore[misc]

    def generate(self, rng: random.Random, level: int) -> Any:
        """Returns RLVE-Gym's record of a problem, made with one of the level's parameters."""
        why: object = "it gives no parameters"
        for _ in range(TRIES):
            problem = self._generator()
            problem.seed = rng.getrandbits(SEED_BITS)
            problem.parameter = copy.deepcopy(rng.choice(self._choices[level]))
            seed_chance(problem.seed)
            try:
                problem._generate()
            except MemoryError:
                raise
            except Exception as error:  # RLVE-Gym, too, takes any exception for a problem that could not be made.
                why = error
                continue
            if problem.parameter is not None:
                return problem.get_config()
        raise ExhaustedError(f"none of {TRIES} tries made a problem: {why!r}")

    def prompt(self, instance: Any) -> str:
        """Returns the problem as RLVE-Gym words it."""
        return str(self._problem(instance).prompt_generator())

    def verify(self, instance: Any, answer: str) -> Facts:
        """Returns RLVE-Gym's own score. Its verifier would take each exception of a scorer for a wrong answer."""
        problem = self._problem(instance)
        score = float(problem.scorer(answer))
        if not -1 <= score <= 1:
            raise ValueError(f"the score is {score:g}, outside of [-1, 1]")
        is_solved = score >= problem.passing_reward_threshold - _ROUNDING
        violation = f"RLVE-Gym's score is {score:g}" if score < 0 else ""
        return Facts.graded({"score": max(0.0, score)}, solved=is_solved, violation=violation)

    def reference(self, instance: Any) -> str | None:
        """Returns the answer in the record, which only some generators keep, if it passes."""
        known = instance["parameter"].get("reference_answer")
        if isinstance(known, list | tuple):
            known = " ".join(map(str, known))
        if known is None or not self.verify(instance, str(known)).solved:
            return None
        return str(known)

    def canonical(self, instance: Any) -> str:
        """Returns the prompt, because problems with equal prompts are one task."""
        return self.prompt(instance)

    def _problem(self, instance: Any) -> Any:
        problem = self._generator()
        problem.set_config(instance)
        # Gradus has found the answer in the text. RLVE-Gym would look for its own marks in it.
        problem.processor = problem._process
        return problem


def choices_of(controller: Any) -> list[list[dict[str, Any]]]:
    """Returns for each level the parameters that its problems may have. Levels end before two would be equal."""
    levels: list[list[dict[str, Any]]] = []
    each = controller()
    for _ in range(LEVELS):
        choices = copy.deepcopy(each.get_parameter_list())
        if levels and choices == levels[-1]:
            break
        levels.append(choices)
        each.update()
    return levels
