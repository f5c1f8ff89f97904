"""reasoning-gym: every data set as an environment, `reasoning-gym/NAME`, with the levels of its curriculum.

An instance is a whole entry of the data set, with its tuples, because a third of the scorers use its metadata. Its seed
is drawn from the environment's generator, because data sets add an index to the seed, so that successive seeds would
share entries. The host fixes the rest of chance: the hashes of strings, and the random state before each item.
"""

from __future__ import annotations

import dataclasses
import decimal
import inspect
import logging
import random
import re
from typing import Any

from gradus.serve._catalogue import Offer, TargetError
from gradus.serve._environment import Axis, Environment, Level
from gradus.serve.adapters._target import chosen, runs_text, slug_of

PREFIX = "reasoning-gym/"
SEED_BITS = 32
"""Number of bits of a seed: some data sets seed numpy, which accepts no more."""
_LEFT_OUT = {
    "codeio": "some of its programs read the clock or the system's random numbers, so that one seed may give two tasks",
    "composite": "it mixes other data sets by given weights: create a run of several arms instead",
}


def offer(names: str) -> Offer:
    """Returns all data sets, or those whose names are given between commas."""
    # A host may not write matplotlib's cache of fonts, and needs none.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        from reasoning_gym.factory import CURRICULA, DATASETS  # noqa: PLC0415  # Not required by gradus-gym.
    except ImportError as error:
        raise TargetError('reasoning-gym is not installed: pip install "reasoning-gym>=0.1.25,<0.2"') from error
    offered = Offer([], tried_here=False)
    for part, name in chosen(names, DATASETS, slug_of, "reasoning-gym").items():
        slug = PREFIX + part
        if name in _LEFT_OUT:
            offered.left_out[slug] = _LEFT_OUT[name]
            continue
        dataset, config = DATASETS[name]
        levels, left_out = levels_of(config, CURRICULA.get(name))
        offered.left_out.update({f"{slug}#{level}": reason for level, reason in left_out.items()})
        offered.environments.append(ReasoningGymSet(slug, dataset, config, levels))
    return offered


def levels_of(config: Any, curriculum: Any) -> tuple[dict[str, Level], dict[str, str]]:
    """Returns levels by name, with their differences from the defaults, and left-out levels with the reason.

    If no level of a curriculum works, or there is none, the only level has the defaults.
    """
    defaults = {each.name: each for each in dataclasses.fields(config)}
    levels: dict[str, Level] = {}
    left_out: dict[str, str] = {}
    highest = max((len(each.levels) for each in curriculum().attributes.values()), default=0) if curriculum else 0
    for number in range(highest):
        name = f"level-{number}"
        try:
            each = curriculum()
            each.set_global_level(number)
            made = each.generate_configuration()
            if hasattr(made, "validate"):
                made.validate()
        except Exception as error:  # Whatever the package raises is the reason.
            left_out[name] = f"its curriculum gives parameters that the set refuses: {error or type(error).__name__}"
            continue
        parameters = {
            key: getattr(made, key) for key in defaults if key not in ("seed", "size") and _differs(config, made, key)
        }
        same = next((other for other, level in levels.items() if level.parameters == parameters), None)
        if same is not None:
            left_out[name] = f"the same as {same}"
        else:
            levels[name] = Level(parameters)
    return levels or {"default": Level()}, left_out


def _differs(config: Any, made: Any, key: str) -> bool:
    return bool(getattr(made, key) != getattr(config(), key)) if _has_defaults(config) else True


def _has_defaults(config: Any) -> bool:
    try:
        config()
    except TypeError:
        return False
    return True


class ReasoningGymSet(Environment):
    """A data set of reasoning-gym."""

    components = ("score",)

    def __init__(self, slug: str, dataset: Any, config: Any, levels: dict[str, Level]) -> None:
        self.id = slug  # type: ignore[misc]
        self.levels = levels  # type: ignore[misc]
        # Levels of a curriculum are sorted from easy to hard.
        self.axes = {"level": Axis(list(levels))} if len(levels) > 1 else {}  # type: ignore[misc]
        self.description = (dataset.__doc__ or "").strip().split("\n\n")[0]  # type: ignore[misc]
        self.runs_answers = runs_text(inspect.getsource(dataset.score_answer))  # type: ignore[misc]
        if self.runs_answers:
            self.remarks = ("it runs answers as code: each is scored in a process of its own",)  # type: ignore[misc]
        self._dataset = dataset
        self._config = config
        self._is_kept = keeps_no_seed(dataset)
        self._made: dict[str, tuple[Any, dict[str, Any]]] = {}
        self._last = ""

    def generate(self, rng: random.Random, **parameters: Any) -> Any:
        """Returns the only entry of a data set with its own seed."""
        return self._with_seed(rng.getrandbits(SEED_BITS), parameters)[0] | {"parameters": parameters}

    def prompt(self, instance: Any) -> str:
        """Returns the question of an entry, which is the whole prompt."""
        return str(instance["question"])

    def verify(self, instance: Any, answer: str) -> float:
        """Returns the data set's own score."""
        return float(self._with_seed(0, instance["parameters"]).score_answer(answer, instance))

    def reference(self, instance: Any) -> str | None:
        """Returns the oracle's answer, which some data sets lack."""
        answer = instance["answer"]
        return None if answer is None else str(answer)

    def canonical(self, instance: Any) -> str:
        """Returns the question. The rest of an entry follows from it, or from the seed."""
        return str(instance["question"])

    def _with_seed(self, seed: int, parameters: dict[str, Any]) -> Any:
        """Returns a data set of one entry. If its construction does not depend on the seed, it is constructed once."""
        # Reset the decimal context of the process: some data sets change it, and others round numbers by it.
        decimal.setcontext(decimal.Context())
        if not self._is_kept:
            return self._dataset(self._config(**parameters, seed=seed, size=1))
        key = repr(sorted(parameters.items()))
        if key not in self._made:
            made = self._dataset(self._config(**parameters, seed=seed, size=1))
            self._made[key] = made, class_state(self._dataset)
            self._last = key
        made, state = self._made[key]
        if key != self._last:
            for name, value in state.items():
                setattr(self._dataset, name, value)
            self._last = key
        made.seed = made.config.seed = seed
        return made


def class_state(dataset: Any) -> dict[str, Any]:
    """Returns the class attributes that a data set may change. Some classes keep data of one level in them."""
    return {
        name: value
        for name, value in vars(dataset).items()
        if not name.startswith("__") and not inspect.isroutine(value) and not isinstance(value, property)
    }


def keeps_no_seed(dataset: Any) -> bool:
    """Returns whether a data set uses its seed only in `__getitem__`, so that its seed can be changed afterwards."""
    for name, member in vars(dataset).items():
        if name == "__getitem__" or not inspect.isfunction(member):
            continue
        source = inspect.getsource(member)
        passed_on = re.sub(r"super\(\).__init__\([^)]*\)", "", source)
        if ".seed" in passed_on:
            return False
    return True
