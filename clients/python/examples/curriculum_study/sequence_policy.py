"""A transformer of 0.1 million parameters that turns a sequence of digits into another, and its training steps.

Its tokens are the digits, a mark before the answer, and padding. An answer has as many digits as its sequence. Further
digits are cut off, so that there is no end mark to learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import optax
from model import Parameters, causal, initial_layers, layer, norm, normal

LENGTH_MAX = 10
"""Digits of the longest sequence, unless a family has longer ones."""
_MARK, _PAD, _VOCABULARY = 10, 11, 12
_WIDTH, _LAYERS, _HEADS = 64, 2, 4

Rows = npt.NDArray[np.int32]
State = tuple[Parameters, optax.OptState]


def initial(seed: int, length_max: int = LENGTH_MAX) -> Parameters:
    """Random weights, a function of the seed and of the digits of the longest sequence."""
    rng = np.random.default_rng([seed, 29])
    return {
        "tokens": normal(rng, _VOCABULARY, _WIDTH, scale=0.02),
        "places": normal(rng, 2 * length_max + 1, _WIDTH, scale=0.02),
        "digits": normal(rng, _WIDTH, 10, scale=0.02),
        "norm": jnp.ones(_WIDTH),
        "layers": initial_layers(rng, _WIDTH, _LAYERS),
    }


def given_rows(sequences: Sequence[Sequence[int]], length_max: int = LENGTH_MAX) -> Rows:
    """Sequences as rows that a policy reads, (rows, length_max + 1): padded, and with the mark at the end."""
    rows = np.full((len(sequences), length_max + 1), _PAD, np.int32)
    for row, digits in zip(rows, sequences, strict=True):
        row[: len(digits)] = digits
    rows[:, -1] = _MARK
    return rows


def _embedded(p: Parameters, tokens: jnp.ndarray, first: int | jnp.ndarray) -> jnp.ndarray:
    places = jax.lax.dynamic_slice_in_dim(p["places"], first, tokens.shape[1])
    return (p["tokens"][tokens] + places) * 8


def _logits(p: Parameters, x: jnp.ndarray, symbols: int) -> jnp.ndarray:
    return norm(x, p["norm"]) @ p["digits"][:, :symbols]


def log_probabilities(p: Parameters, given: jnp.ndarray, answers: jnp.ndarray, symbols: int) -> jnp.ndarray:
    """Log-probability of each digit of answers (rows, digits), given the digits before it: (rows, digits)."""
    x = _embedded(p, jnp.concatenate([given, answers[:, :-1]], axis=1), 0)
    for w in p["layers"]:
        x = layer(w, _HEADS, x, causal)
    every = jax.nn.log_softmax(_logits(p, x[:, given.shape[1] - 1 :], symbols))
    return jnp.take_along_axis(every, answers[..., None], axis=-1)[..., 0]


@partial(jax.jit, static_argnames=("symbols", "digits"))
def sample(p: Parameters, given: jnp.ndarray, key: jax.Array, symbols: int, digits: int) -> jnp.ndarray:
    """Answers of so many digits to rows (rows, length_max + 1) at temperature 1: (rows, digits).

    A task takes as many as it has. The first digits are the same, however many there are.
    """
    rows, first_written = given.shape
    places_max = first_written + digits
    empty = jnp.zeros((rows, places_max, _HEADS, _WIDTH // _HEADS))
    cache = [(empty, empty)] * _LAYERS

    def read(cache: Any, tokens: jnp.ndarray, first: int | jnp.ndarray) -> tuple[Any, jnp.ndarray]:
        """Reads further tokens, the first of which is at place `first`."""
        places = first + jnp.arange(tokens.shape[1])
        visible = jnp.arange(places_max)[None] <= places[:, None]
        kept: list[tuple[jnp.ndarray, jnp.ndarray]] = []

        def attend(q: jnp.ndarray, k: jnp.ndarray, v: jnp.ndarray) -> jnp.ndarray:
            keys, values = (
                jax.lax.dynamic_update_slice_in_dim(old, new, first, axis=1)
                for old, new in zip(cache[len(kept)], (k, v), strict=True)
            )
            kept.append((keys, values))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, keys) * q.shape[-1] ** -0.5
            shares = jax.nn.softmax(jnp.where(visible, scores, -1e9), axis=-1)
            return jnp.einsum("bhqk,bkhd->bqhd", shares, values)

        x = _embedded(p, tokens, first)
        for w in p["layers"]:
            x = layer(w, _HEADS, x, attend)
        return kept, _logits(p, x[:, -1], symbols)

    def write(carry: Any, place: jnp.ndarray) -> tuple[Any, jnp.ndarray]:
        cache, logits = carry
        digit = jax.random.categorical(jax.random.fold_in(key, place), logits, axis=-1).astype(jnp.int32)
        return read(cache, digit[:, None], place), digit

    _, answers = jax.lax.scan(write, read(cache, given, 0), jnp.arange(first_written, places_max))
    return answers.T


def optimizer(rate: float) -> optax.GradientTransformation:
    """Returns Adam, with gradients clipped at a norm of 1."""
    return optax.chain(optax.clip_by_global_norm(1), optax.adam(rate))


@partial(jax.jit, static_argnames=("symbols", "rate"))
def improve(
    state: State,
    given: jnp.ndarray,
    answers: jnp.ndarray,
    lengths: jnp.ndarray,
    advantages: jnp.ndarray,
    symbols: int,
    rate: float,
) -> State:
    """Takes one step of RLOO on answers (rows, digits) with advantages (rows,).

    With right answers and advantages of 1 it imitates.
    """
    p, kept = state
    written = jnp.arange(answers.shape[1]) < lengths[:, None]

    def loss(p: Parameters) -> jnp.ndarray:
        of_answer = (log_probabilities(p, given, answers, symbols) * written).sum(axis=1)
        return -(advantages * of_answer).mean()

    change, kept = optimizer(rate).update(jax.grad(loss)(p), kept, p)
    return optax.apply_updates(p, change), kept
