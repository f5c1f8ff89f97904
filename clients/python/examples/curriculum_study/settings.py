"""The sizes of the study: one for two cores, one for a GPU."""

from __future__ import annotations

from dataclasses import dataclass, field

from model import Size


@dataclass(frozen=True)
class Settings:
    """What every condition and every seed has in common."""

    name: str
    size: Size = field(default_factory=Size)
    start_rows: int = 150_000
    """Solver's answers that are exported for the supervised start; about two in three can be written in whole numbers."""
    start_steps: int = 2_000
    start_batch: int = 256
    start_rate: float = 2e-3
    updates: int = 150
    prompts: int = 16
    generations: int = 8
    rate: float = 1e-4
    entropy: float = 0.001
    contrast: float = 0.01
    """Weight of the contrast pairs' loss, where a condition has it (Curriculum RLOO 4.1: c = .01)."""
    contrast_beta: float = 0.1
    evaluate_every: int = 15
    temperature: float = 0.6
    """Of evaluation (Curriculum RLOO 4.1); in training it is 1."""
    samples: int = 16
    """Of each held-out prompt, at the end."""
    curve_samples: int = 4
    """Of each held-out prompt, on the way."""
    held_out: int = 400
    """Prompts of three numbers, and as many of four; of five numbers three quarters of it."""


SMALL = Settings("small")
LARGE = Settings(
    "large",
    size=Size(width=384, layers=6, heads=8),
    start_rows=1_000_000,
    start_steps=6_000,
    updates=600,
    prompts=64,
    generations=16,
    rate=3e-5,
    evaluate_every=30,
)
