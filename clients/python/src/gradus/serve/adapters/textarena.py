"""TextArena: games of one player, `textarena/NAME`, with the library's own variants as levels.

Games of several players are left out, because the library has no opponents but language models.
"""

from __future__ import annotations

import ast
import functools
import platform
import re
from numbers import Real
from pathlib import Path
from typing import Any

from gradus.serve._catalogue import Offer, TargetError
from gradus.serve.adapters._games import ACTION_BYTES, SHORT_BYTES, Game, Step, offer_of, without_downloads, words_of
from gradus.serve.adapters._target import slug_of

LIBRARY = "textarena"
# Each variant of a game is registered several times. The one named "-raw" shows only the text since the last action.
_ID = re.compile(r"(.+?)-v\d+(?:-(.+?))?-raw")
_LEFT_OUT = {
    "guess-who": "a language model answers the questions",
    "twenty-questions": "a language model answers the questions",
    "wordle#hardcore": "its word list takes minutes to read",
    "wordle#long-hardcore": "its word list takes minutes to read",
    "sokoban#medium": "a room takes up to a minute to make",
}
# Games of many short actions.
_SHORT = ("2048", "fifteen-puzzle", "minesweeper", "sokoban", "sudoku", "tower-of-hanoi")
GAME = -1
"""Sender of the game's own messages."""
_SEVERAL = "it has several players, and the library has no opponents but language models"


def offer(names: str) -> Offer:
    """Returns all games of one player, or those whose names are given between commas."""
    try:
        import textarena  # noqa: PLC0415  # Not required by gradus-gym.
    except ImportError as error:
        raise TargetError('TextArena is not installed: pip install nltk==3.9.1 "textarena>=0.7.4,<0.8"') from error
    without_downloads()
    keep_dictionary()
    folder = Path(textarena.__file__).parents[1]
    levels: dict[str, dict[str, dict[str, Any]]] = {}
    left_out: dict[str, str] = {}
    for name, spec in textarena.envs.registration.ENV_REGISTRY.items():
        found = _ID.fullmatch(name)
        if not found:
            continue
        slug = slug_of(words_of(found[1]))
        source = folder.joinpath(*spec.entry_point.partition(":")[0].split(".")).with_suffix(".py")
        level = found[2] or "default"
        place = f"{slug}#{level}" if f"{slug}#{level}" in _LEFT_OUT else slug
        why = _LEFT_OUT.get(place) or why_not(source)
        if why:
            left_out[f"{LIBRARY}/{place}"] = why
        else:
            levels.setdefault(slug, {})[level] = {"id": name}
    games = [
        TextArenaGame(f"{LIBRARY}/{slug}", of, SHORT_BYTES if slug in _SHORT else ACTION_BYTES)
        for slug, of in levels.items()
    ]
    return offer_of(LIBRARY, games, left_out, names)


def keep_dictionary() -> None:
    """Lets word games of a process share one dictionary, which takes seconds to read."""
    from textarena.envs.utils import word_lists  # noqa: PLC0415

    word_lists.EnglishDictionary = functools.cache(word_lists.EnglishDictionary)


def why_not(source: Path) -> str:
    """Returns why a game is left out; empty: it is not. Reads its source, because some games cannot be imported."""
    if not source.is_file():
        return f"the library registers it, but has no {source.parent.name}/{source.name}"
    text = source.read_text("utf-8")
    if "SinglePlayerState(" not in text:
        return _SEVERAL
    try:
        ast.parse(text)
    except SyntaxError as error:
        return f"Python {platform.python_version()} cannot parse its source: {error.msg}"
    return ""


class TextArenaGame(Game):
    """A game of TextArena."""

    def begin(self, seed: int, **parameters: Any) -> tuple[Any, str]:
        """Returns a game and its instructions."""
        import textarena  # noqa: PLC0415

        game = textarena.make(parameters["id"])
        game.reset(num_players=1, seed=seed)
        return game, shown(game)

    def play(self, game: Any, text: str) -> Step:
        """Plays an action, in brackets as the games ask for."""
        over, info = game.step(text if "[" in text or "]" in text else f"[{text}]")
        if not over:
            return Step(shown(game), 0.0, over=False, solved=False)
        rewards, _ = game.close()
        said = "\n".join(part for part in (shown(game), info.get("reason")) if part)
        # Three games give the reason in place of a reward if they end by invalid actions.
        reward = float(rewards[0]) if isinstance(rewards[0], Real) else 0.0
        return Step(said, reward, over=True, solved=reward >= 1)


def shown(game: Any) -> str:
    """Returns what the game itself has said since the last action."""
    _, messages = game.get_observation()
    return "\n".join(str(text) for sender, text, *_ in messages if sender == GAME)
