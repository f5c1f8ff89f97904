"""Lengths of completions, as a run sums them for people to read."""

from __future__ import annotations

from dataclasses import dataclass

from gradus._values import Value
from gradus.v1 import curriculum_pb2 as cur


@dataclass(frozen=True)
class CompletionLengths(Value, message=cur.CompletionLengths):
    """Sums of completions' lengths: in tokens for samples whose trainer reported them, otherwise in characters.

    Attributes
    ----------
    tokens, token_samples
        Sum of the tokens, and number of the samples that have them.
    characters, character_samples
        Sum of the characters of the other samples, in UTF-16 code units, and number of these samples.

    """

    tokens: int
    token_samples: int
    characters: int
    character_samples: int

    @property
    def unit(self) -> str:
        """Unit of `mean` and `total`: "tokens" if any sample has them, otherwise "characters"."""
        return "tokens" if self.token_samples else "characters"

    @property
    def total(self) -> int:
        """Sum over the samples that have the unit."""
        return self.tokens if self.token_samples else self.characters

    @property
    def mean(self) -> float | None:
        """Mean over the samples that have the unit; None: there is no sample."""
        samples = self.token_samples or self.character_samples
        return self.total / samples if samples else None
