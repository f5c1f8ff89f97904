"""Common parts of the adapters: their targets, and conversions of answers and rewards."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gradus.serve._catalogue import TargetError

# Matches calls that run a text as code. If a scorer has one, each answer is scored in a process of its own.
_RUNS_TEXT = re.compile(r"\b(?:eval|exec|parse_expr|sympify)\(")
_WRAPPINGS = {"plain": "{}", "boxed": "\\boxed{{{}}}", "tag": "<answer>{}</answer>", "line": "Answer: {}"}


@dataclass(frozen=True)
class Target:
    """A target without its adapter's prefix, e.g. "nemo-gym:": a name or an address, and options after commas."""

    name: str
    options: dict[str, str]

    @classmethod
    def parse(cls, text: str, known: Iterable[str]) -> Target:
        """Parses a text such as "address,rows=file.jsonl,high=10". TargetError names unknown options."""
        name, *rest = [part.strip() for part in text.split(",")]
        options = dict(part.partition("=")[::2] for part in rest if part)
        known = sorted({*known, "wrap", "low", "high"})
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise TargetError(f"there is no option '{unknown[0]}'; there are {', '.join(known)}")
        if options.get("wrap", "plain") not in _WRAPPINGS:
            raise TargetError(f"wrap={options['wrap']}: there are {', '.join(_WRAPPINGS)}")
        return cls(name, options)

    def wrapped(self, answer: str) -> str:
        """Returns the answer with the marks that the other library expects. Gradus has removed its own marks."""
        return _WRAPPINGS[self.options.get("wrap", "plain")].format(answer)

    def share(self, reward: float) -> float:
        """Returns a reward scaled to [0, 1] by the range in the options.

        Raises ValueError if the reward is outside of the range.
        """
        low, high = float(self.options.get("low", 0)), float(self.options.get("high", 1))
        share = (reward - low) / (high - low)
        if not (math.isfinite(share) and 0 <= share <= 1):
            raise ValueError(
                f"a reward of {reward:g} lies outside of [{low:g}, {high:g}]: give low= and high= at the mount"
            )
        return share


def slug_of(name: str) -> str:
    """Returns a name in the form of an id: lower-case letters and digits, joined by "-"."""
    words = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in name.lower()).split()
    return "-".join(words) or "unnamed"


def chosen(names: str, known: Iterable[str], slug: Callable[[str], str], library: str) -> dict[str, str]:
    """Returns names by their slugs: those between commas, or all known ones.

    Raises TargetError if a name is unknown.
    """
    slugs = {slug(name): name for name in sorted(known)}
    wanted = [slug(name) for name in names.split(",") if name.strip()] or list(slugs)
    for each in wanted:
        if each not in slugs:
            alike = difflib.get_close_matches(each, slugs) or list(slugs)[:8]
            raise TargetError(f"{library} has no '{each}'; it has {len(slugs)} others, such as {', '.join(alike)}")
    return {each: slugs[each] for each in wanted}


def runs_text(source: str) -> bool:
    """Returns whether a scorer with this source may run a text as code."""
    return _RUNS_TEXT.search(source) is not None
