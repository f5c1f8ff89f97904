"""Takes steps of RLOO, also with contrast pairs (VCC)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import optax
from model import Parameters, Size, log_probabilities
from tokens import PAD, Language, Tokens

from gradus import ContrastPair, GroupOutcome

_PAIRS = 64
"""Contrast pairs of an update that are learned from: the server makes at most four of each prompt."""


@dataclass(frozen=True)
class Objective:
    """Loss that a step improves, and its weights: see `experiment.Settings`."""

    size: Size
    optimizer: optax.GradientTransformation
    entropy: float
    contrast: float
    beta: float


class Pairs(NamedTuple):
    """Preferred and rejected rows, (pairs, tokens) each, and 1 where there is a pair, (pairs,)."""

    preferred: Tokens
    rejected: Tokens
    there: npt.NDArray[np.float32]


@partial(jax.jit, static_argnames="objective")
def improve(
    p: Parameters,
    state: optax.OptState,
    tokens: jnp.ndarray,
    advantages: jnp.ndarray,
    pairs: Pairs | None,
    objective: Objective,
) -> tuple[Parameters, optax.OptState]:
    """Takes one on-policy step, without a KL term, for tokens (rows, length) and advantages (rows,)."""
    size = objective.size

    def loss(p: Parameters) -> jnp.ndarray:
        written = tokens[:, size.language.prompt_length :] != PAD
        of_sample = (log_probabilities(p, size, tokens) * written).sum(axis=1)
        # Loss whose gradient is that of the negative entropy, estimated from the samples.
        surprise = jax.lax.stop_gradient(of_sample) * of_sample
        total = -(advantages * of_sample).mean() + objective.entropy * surprise.mean()
        return total if pairs is None else total + objective.contrast * _contrast(p, size, pairs, objective.beta)

    change, state = objective.optimizer.update(jax.grad(loss)(p), state, p)
    return optax.apply_updates(p, change), state


def _contrast(p: Parameters, size: Size, pairs: Pairs, beta: float) -> jnp.ndarray:
    """Returns the loss of contrast pairs on length-averaged log-probabilities (Curriculum RLOO 3.3)."""

    def average(tokens: jnp.ndarray) -> jnp.ndarray:
        written = tokens[:, size.language.prompt_length :] != PAD
        return (log_probabilities(p, size, tokens) * written).sum(axis=1) / jnp.maximum(written.sum(axis=1), 1)

    losses = -jax.nn.log_sigmoid(beta * (average(pairs.preferred) - average(pairs.rejected)))
    return (losses * pairs.there).sum() / jnp.maximum(pairs.there.sum(), 1)


def pairs_of(
    language: Language, prompts: Tokens, completions: Tokens, outcomes: Sequence[GroupOutcome], generations: int
) -> Pairs:
    """Returns the pairs of a batch, whose rows are ordered by group."""
    preferred = np.full((_PAIRS, language.length), PAD, np.int32)
    rejected, there = preferred.copy(), np.zeros(_PAIRS, np.float32)
    found: list[tuple[int, ContrastPair]] = [
        (i * generations, pair) for i, group in enumerate(outcomes) for pair in group.contrast_pairs
    ]
    for at, (first, pair) in enumerate(found[:_PAIRS]):
        for side, index, end in (
            (preferred, pair.preferred_sample_index, pair.preferred_end),
            (rejected, pair.rejected_sample_index, pair.rejected_end),
        ):
            row = first + index
            side[at] = np.concatenate([prompts[row], language.up_to(completions[row], end)])
        there[at] = 1
    return Pairs(preferred, rejected, there)


def without_empty_columns(language: Language, tokens: Tokens) -> Tokens:
    """Drops last columns that are padding in all rows. Keeps a multiple of 8, so that jax compiles few shapes."""
    written = int((tokens != PAD).any(axis=0).nonzero()[0].max()) + 1 - language.prompt_length
    return tokens[:, : min(language.prompt_length + -(-max(written, 1) // 8) * 8, language.length)]
