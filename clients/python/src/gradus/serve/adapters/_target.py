"""Common parts of the adapters: their targets, and conversions of answers and rewards."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from gradus.serve._catalogue import TargetError

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
