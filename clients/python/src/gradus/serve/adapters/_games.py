"""Common parts of the adapters of games: chance, the log of actions, rewards, levels and growth axes.

A game begins with all generators of random numbers seeded by the task. The generators continue from call to call, as if
the game were alone in its process. The state in a task id is the list of actions so far. A process keeps games in
progress, and plays a missing game again from its seed.
"""

from __future__ import annotations

import json
import random
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gradus.serve._catalogue import Offer, TargetError
from gradus.serve._chance import chance, resume_chance, seed_chance
from gradus.serve._environment import Axis, Environment, Level
from gradus.serve._episodes import CALLS_MAX, ROOM_BYTES
from gradus.serve._facts import ONLY_COMPONENT, Facts
from gradus.serve._turns import Action, Turn
from gradus.serve.adapters._target import slug_of

SEED_BITS = 31
LIVE_MAX = 64
"""Maximum number of games in progress that a process keeps for an environment."""
ACTION_BYTES = 28
"""Default maximum size of an action in bytes. It allows 99 calls."""
SHORT_BYTES = 8
"""Maximum size of an action in bytes in games of many short actions. It allows 322 calls."""

_AXIS_LEVELS_MIN = 2
# Names of levels in the libraries, from easy to hard. Levels with other names are no part of a growth axis.
_ORDER = (
    "ultra-easy", "mega-easy", "super-easy", "very-easy", "easy", "default", "medium", "hard",
    "very-hard", "extreme-hard", "extreme",
)  # fmt: skip


class Step(NamedTuple):
    """Result of an action in a game."""

    shown: str
    """Text that the game shows after the action."""
    reward: float
    over: bool
    solved: bool
    """Whether the game is won."""


@dataclass
class _Playing:
    """A game in progress, the sum of its rewards, and the generators' states after its last action."""

    game: Any
    total: float
    chance: Any


class Game(Environment):
    """Base class of games of other libraries. A subclass begins games and plays actions.

    The score of a call is the sum of the game's rewards so far, divided by `reward_max`. A sum below 0 counts as 0.
    `Facts.info` has the sum itself, as `game_reward`.
    """

    components = (ONLY_COMPONENT,)
    state_bytes = ROOM_BYTES
    reward_max = 1.0
    """Largest sum of rewards of an episode."""

    def __init__(
        self,
        slug: str,
        levels: Mapping[str, Mapping[str, Any]],
        action_bytes: int = ACTION_BYTES,
        axes: Mapping[str, Axis] | None = None,
    ) -> None:
        names = sorted(levels, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))
        self.id = slug  # type: ignore[misc]
        self.levels = {name: Level(levels[name]) for name in names}  # type: ignore[misc]
        graded = [name for name in names if name in _ORDER]
        difficulty = {"difficulty": Axis(graded)} if len(graded) >= _AXIS_LEVELS_MIN else {}
        self.axes = {**difficulty, **(axes or {})}  # type: ignore[misc]
        self.action_bytes = action_bytes  # type: ignore[misc]
        # A state has a byte before its log, and each action has a byte for its length.
        self.calls_max = min(CALLS_MAX, (ROOM_BYTES - 1) // (action_bytes + 1))  # type: ignore[misc]
        self._live: OrderedDict[str, _Playing] = OrderedDict()

    def begin(self, seed: int, **parameters: Any) -> tuple[Any, str]:
        """Returns a new game, and the text that it shows. The parameters are the level's."""
        raise NotImplementedError(f"{type(self).__name__} has no begin")

    def play(self, game: Any, text: str) -> Step:
        """Plays the action of a text. The game replies to an invalid one."""
        raise NotImplementedError(f"{type(self).__name__} has no play")

    def generate(self, rng: random.Random, **parameters: Any) -> Any:
        """Returns a seed, and the text that its game shows at its start."""
        instance = {"seed": rng.getrandbits(SEED_BITS), "parameters": parameters}
        return {**instance, "shown": self._begin(instance)[1]}

    def prompt(self, instance: Any) -> str:
        """Returns the text that the game shows at its start."""
        return str(instance["shown"])

    def start(self, instance: Any) -> bytes:
        """Returns an empty log."""
        return b""

    def advance(self, instance: Any, state: bytes, action: Action) -> Turn:
        """Plays an action, and adds it to the log."""
        data = action.text.encode("utf-8", "surrogatepass")
        if len(data) > self.action_bytes:
            return Turn(f"This action is too long. The limit is {self.action_bytes} bytes.", state)
        playing = self._live.pop(_key(instance, state), None) or self._again(instance, state)
        step = self._step(playing, action.text)
        log = state + bytes([len(data)]) + data
        if not step.over:
            self._live[_key(instance, log)] = playing
            if len(self._live) > LIVE_MAX:
                self._live.popitem(last=False)
        return Turn(step.shown, log, over=step.over, result=self._facts(playing.total, step.solved))

    def _begin(self, instance: Any) -> tuple[_Playing, str]:
        seed_chance(instance["seed"])
        game, shown = self.begin(instance["seed"], **instance["parameters"])
        return _Playing(game, 0.0, chance()), shown

    def _again(self, instance: Any, log: bytes) -> _Playing:
        """Starts the game again, and plays the actions of a log."""
        playing, shown = self._begin(instance)
        if shown != instance["shown"]:
            raise ValueError("a game with the same seed shows something else, so tasks do not follow from seeds")
        for text in _actions(log):
            self._step(playing, text)
        return playing

    def _step(self, playing: _Playing, text: str) -> Step:
        resume_chance(playing.chance)
        step = self.play(playing.game, text)
        playing.total += step.reward
        playing.chance = chance()
        return step

    def _facts(self, total: float, solved: bool) -> Facts:
        share = total / self.reward_max
        if not share <= 1 + 1e-9:
            raise ValueError(f"rewards add up to {total:g}, above reward_max = {self.reward_max:g}")
        graded = Facts.graded({ONLY_COMPONENT: min(1.0, max(0.0, share))}, solved=solved)
        return replace(graded, info={"game_reward": repr(total)})


def without_downloads() -> None:
    """Stops games from downloading word lists of NLTK. A host has no network, and reads lists that are installed."""
    import nltk  # noqa: PLC0415  # Not required by gradus-gym.

    nltk.download = lambda *_, **__: False


def words_of(name: str) -> str:
    """Returns a name such as "WordSearch" with spaces between its words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def _key(instance: Any, log: bytes) -> str:
    return f"{instance['seed']} {json.dumps(instance['parameters'], sort_keys=True)} {log.hex()}"


def _actions(log: bytes) -> Iterator[str]:
    """Returns the actions of a log. Each has a byte with its length before it."""
    while log:
        end = 1 + log[0]
        yield log[1:end].decode("utf-8", "surrogatepass")
        log = log[end:]


def offer_of(library: str, games: Iterable[Game], left_out: Mapping[str, str], names: str) -> Offer:
    """Returns the games of a library, or those whose names are given between commas.

    The host does not try the levels, because there are many. The server tries them.
    """
    known = {game.id.partition("/")[2]: game for game in games}
    wanted = [slug_of(name) for name in names.split(",") if name.strip()] or sorted(known)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        why = left_out.get(f"{library}/{unknown[0]}")
        raise TargetError(
            f"{library}/{unknown[0]} cannot be mounted: {why}"
            if why
            else f"{library} has no game {unknown[0]}; it has {', '.join(sorted(known))}"
        )
    return Offer([known[name] for name in wanted], {} if names else dict(left_out), tried_here=False)
