"""Reasoning Core: every task as an environment, `reasoning-core/NAME`, with a level for each of its difficulties.

Reasoning Core takes random numbers from several generators, some of which it seeds from the operating system. Here each
of them is seeded by the task's seed. Reasoning Core also limits entries by their tokens, which depend on a tokenizer
that is downloaded; here the limit is on characters.
"""

from __future__ import annotations

import inspect
import random
import sys
from importlib import import_module
from typing import Any

from gradus.serve._catalogue import Offer, TargetError
from gradus.serve._chance import seed_chance
from gradus.serve._environment import Axis, Environment, Level
from gradus.serve._facts import ExhaustedError
from gradus.serve._served import in_words
from gradus.serve.adapters._target import chosen, runs_text, slug_of

PREFIX = "reasoning-core/"
LEVELS = 6
"""Number of levels of each task. Reasoning Core itself sets no limit, and checks its tasks at these."""
TRIES = 200
"""Maximum number of tries to make an entry for one seed."""
PROMPT_LENGTH_MAX = 32_768
"""Maximum length of a prompt in characters. Reasoning Core limits prompts to 8,192 tokens."""

_LEFT_OUT = {
    "code_runnability": "it runs programs that it stops by the clock, so that one seed may give two tasks",
    "coreference": "its solver starts threads, which a host refuses",
    "game_best_move": "it needs pyggp",
    "game_forced_win": "it needs pyggp",
    "metamath_core_select": "it downloads a database, and a host has no network",
    "metamath_entailment": "it downloads a database, and a host has no network",
    "most_probable_outcome": "it writes a temporary file, which a host refuses",
    "regex_following": "it writes to /dev/null, which a host refuses",
}
# Levels from which on an entry of a task takes about 10 s to make, by task.
_SLOW_FROM = {"sequential_induction": 3}


def offer(names: str) -> Offer:
    """Returns all tasks, or those whose names are given between commas."""
    try:
        close_chance()
        from reasoning_core import DATASETS, get_score_answer_fn, list_tasks, template  # noqa: PLC0415
    except ImportError as error:
        raise TargetError(f"reasoning-core cannot be imported ({error}): pip install reasoning-core==0.5.0") from error
    # The tokenizer is downloaded, or kept in a folder that a host may not write.
    template._load_tokenizer = Words
    offered = Offer([], tried_here=False)
    for part, name in chosen(names, list_tasks(), slug_of, "reasoning-core").items():
        slug = PREFIX + part
        if name in _LEFT_OUT:
            offered.left_out[slug] = _LEFT_OUT[name]
            continue
        # Some modules make random tables when they are imported.
        seed_chance(0)
        try:
            task = DATASETS[name]._resolved
            environment = CoreTask(slug, task, get_score_answer_fn(name), _SLOW_FROM.get(name, LEVELS))
        except Exception as error:  # Whatever the package raises is the reason.
            offered.left_out[slug] = f"it cannot be loaded: {in_words(error)}"
            continue
        for level in range(_SLOW_FROM.get(name, LEVELS), LEVELS):
            offered.left_out[f"{slug}#level-{level}"] = "an entry takes some 10 s"
        offered.environments.append(environment)
    return offered


class Words:
    """Counts words in place of tokens."""

    def encode(self, text: Any) -> list[str]:
        """Returns the words of a text."""
        return str(text).split()


def close_chance() -> None:
    """Makes generators that get no seed take one from Python's `random`, in place of the system's randomness."""
    numpy = import_module("numpy.random")
    plain_seed, plain_state, plain_rng = random.seed, random.Random, numpy.default_rng

    class Seeded(plain_state):  # type: ignore[misc, valid-type]
        """Python's generator, by default seeded by `random`."""

        def __init__(self, seed: Any = None) -> None:
            super().__init__(random.getrandbits(64) if seed is None else seed)

    def seed_again(seed: Any = None, *rest: Any) -> None:
        if seed is not None:
            plain_seed(seed, *rest)

    random.seed = seed_again  # type: ignore[assignment]
    random.Random = Seeded  # type: ignore[assignment, misc]
    numpy.default_rng = lambda seed=None: plain_rng(random.getrandbits(64) if seed is None else seed)  # type: ignore[attr-defined]


class CoreTask(Environment):
    """A task of Reasoning Core."""

    components = ("score",)

    def __init__(self, slug: str, task: Any, scorer: Any, levels_max: int) -> None:
        self.id = slug  # type: ignore[misc]
        self.description = getattr(task, "summary", "") or task.__doc__ or ""  # type: ignore[misc]
        self._task = task
        self._scorer = scorer
        harder = _levels_of(task)[:levels_max]
        self.levels = {f"level-{number}": Level({"level": number}) for number in harder}  # type: ignore[misc]
        self.axes = {"level": Axis(list(self.levels))} if len(self.levels) > 1 else {}  # type: ignore[misc]
        self.runs_answers = runs_text(inspect.getsource(sys.modules[task.__module__]))  # type: ignore[misc]
        if self.runs_answers:
            self.remarks = ("it may run answers as code: each is scored in a process of its own",)  # type: ignore[misc]

    def generate(self, rng: random.Random, level: int) -> Any:
        """Returns the text, the answer and the metadata of an entry."""
        seed_chance(rng.getrandbits(64))
        faker = sys.modules.get("faker.generator")
        if faker is not None:
            faker.random.seed(rng.getrandbits(64))
        task = self._task()
        task.prepare()
        task.config.set_level(level)
        task.on_config_level_change()
        for _ in range(TRIES):
            entry = task.generate_entry()
            if entry is None:
                continue
            text = task.render_prompt(entry.metadata)
            if len(text) <= PROMPT_LENGTH_MAX:
                return {"prompt": text, "answer": entry.answer, "metadata": entry.metadata}
        raise ExhaustedError(f"none of {TRIES} tries made an entry")

    def prompt(self, instance: Any) -> str:
        """Returns the prompt of an entry."""
        return str(instance["prompt"])

    def verify(self, instance: Any, answer: str) -> float:
        """Returns the task's own score."""
        from easydict import EasyDict  # noqa: PLC0415  # Reasoning Core requires it.

        return float(self._scorer(answer, EasyDict(instance)))

    def reference(self, instance: Any) -> str | None:
        """Returns the answer of an entry."""
        return str(instance["answer"])

    def canonical(self, instance: Any) -> str:
        """Returns the prompt, because entries with equal prompts are one task."""
        return str(instance["prompt"])


def _levels_of(task: Any) -> list[int]:
    """Returns the numbers of the levels whose settings differ from those of the level before."""
    config = task().config
    levels: list[int] = []
    last: Any = None
    for number in range(LEVELS):
        # Settings are rounded up or down at random.
        seed_chance(0)
        settings = config.set_level(number).to_dict() | {"level": 0}
        if settings != last:
            levels.append(number)
        last = settings
    return levels
