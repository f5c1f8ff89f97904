"""GEM: games in texts, `gem/NAME`, with the library's own levels. Its other environments have one turn."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

from gradus.serve._catalogue import Offer, TargetError
from gradus.serve._environment import Axis
from gradus.serve.adapters._games import Game, Step, offer_of, without_downloads, words_of
from gradus.serve.adapters._target import slug_of

LIBRARY = "gem"
INSTALL = 'pip install nltk==3.9.1 numpy pandas && pip install --no-deps "gem-llm>=0.1,<0.2"'
_ID = re.compile(r"game:(\w+)-v\d+(?:-(.+))?")
_LEFT_OUT = {
    "gem/rg:*": "its tasks are those of reasoning-gym: mount reasoning-gym instead",
    "gem/fifteen-puzzle#random": "the library cannot make it (version 0.1.0)",
    "gem/crosswords#random": "the library cannot make it (version 0.1.0)",
    "gem/sokoban#hard": "a room takes up to a minute to make",
    "gem/sokoban#random": "a room takes up to a minute to make",
    "gem/math:*, code:*, qa:*, logic:*, eval:*": "they have one turn, and load data sets from a hub",
}
# Growth axes by size, for each game: the axis's name, the parameter that sets the size, its values from easy to hard,
# and a function from a value to the turns that it needs.
_SIZES: dict[str, tuple[str, str, list[int], Callable[[int], int]]] = {
    "towerof-hanoi": ("disks", "num_disks", [2, 3, 4, 5, 6], lambda disks: 2 ** (disks + 1)),
    "fifteen-puzzle": ("rows", "num_rows", [2, 3, 4, 5], lambda rows: min(90, 8 * rows**2)),
    "guess-the-number": ("numbers", "max_number", [8, 16, 32, 64, 128], lambda numbers: numbers.bit_length() + 1),
    "mastermind": ("places", "code_length", [2, 3, 4, 5, 6], lambda places: 8 + 2 * places),
    "word-search": ("words", "num_words", [3, 4, 5, 6, 7, 8], lambda words: 4 * words),
    "game2048": ("tile", "target_tile", [32, 64, 128], lambda tile: min(90, 2 * tile)),
}


def offer(names: str) -> Offer:
    """Returns all games, or those whose names are given between commas."""
    # GEM imports all of reasoning-gym only to register its data sets.
    stub = sys.modules.setdefault("reasoning_gym", ModuleType("reasoning_gym"))
    if not hasattr(stub, "factory"):
        stub.factory = SimpleNamespace(DATASETS={})  # type: ignore[attr-defined]
    try:
        from gem.envs.registration import ENV_REGISTRY  # noqa: PLC0415  # Not required by gradus-gym.
    except ImportError as error:
        raise TargetError(f"GEM is not installed: {INSTALL}") from error
    without_downloads()
    levels: dict[str, dict[str, dict[str, Any]]] = {}
    for name in ENV_REGISTRY:
        found = _ID.fullmatch(name)
        slug, level = (slug_of(words_of(found[1])), found[2] or "default") if found else ("", "")
        if slug and f"{LIBRARY}/{slug}#{level}" not in _LEFT_OUT:
            levels.setdefault(slug, {})[level] = {"id": name}
    games = [game_of(slug, of) for slug, of in levels.items()]
    return offer_of(LIBRARY, games, _LEFT_OUT, names)


def game_of(slug: str, levels: dict[str, dict[str, Any]]) -> GemGame:
    """Returns a game with the library's levels, and with those of its size."""
    if slug not in _SIZES:
        return GemGame(f"{LIBRARY}/{slug}", levels)
    axis, name, values, turns = _SIZES[slug]
    sizes = {f"{value} {axis}": {**levels["easy"], name: value, "max_turns": turns(value)} for value in values}
    return GemGame(f"{LIBRARY}/{slug}", {**levels, **sizes}, axes={axis: Axis(list(sizes))})


class GemGame(Game):
    """A game of GEM."""

    answer_formats = ("boxed", "think_answer", "answer_line", "answer_tag")

    def begin(self, seed: int, **parameters: Any) -> tuple[Any, str]:
        """Returns a game and its instructions."""
        import gem  # noqa: PLC0415

        game = gem.make(parameters.pop("id"), **parameters)
        return game, shown(*game.reset(seed=seed))

    def play(self, game: Any, text: str) -> Step:
        """Plays an action, between the marks that GEM looks for."""
        seen, reward, terminated, truncated, info = game.step(f"\\boxed{{{text}}}")
        return Step(shown(seen, info), float(reward), terminated or truncated, terminated and reward >= 1)


def shown(seen: str, info: dict[str, Any]) -> str:
    """Returns an observation as GEM's own wrapper shows it: with the suffix, e.g. the board."""
    return f"{seen}\n{info.get('suffix', '')}".strip()
