"""A transformer of 440,000 parameters in jax, in place of a language model.

It is decoder only, pre-normalised, with tied embeddings. A number's embedding is a learned one plus a linear map of
features: its size, and its position on circles of several lengths, like an hour on a clock. So similar numbers have
similar embeddings from the first step, and a small model can learn to calculate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tokens import END, FIRST_NUMBER, NUMBERS, PAD, VOCABULARY, Language

Parameters = dict[str, Any]


@dataclass(frozen=True)
class Size:
    """Size of a model, and the `language` that it reads and writes."""

    language: Language
    width: int = 96
    layers: int = 3
    heads: int = 4


_CIRCLES = (2, 3, 4, 5, 7, 9, 10, 11, 13, 17, 23, 29, 37, 50, 71, 100, 151, 250, 500, 1000, 2000)


def _looks() -> jnp.ndarray:
    """Returns the features of numbers, (vocabulary, features), 0 for other tokens."""
    n = np.arange(NUMBERS)[:, None]
    angle = 2 * np.pi * n / np.array(_CIRCLES)
    size = np.stack([n[:, 0] / 1000, np.log1p(n[:, 0]) / 7, np.ones(NUMBERS)], axis=1)
    looks = np.concatenate([np.sin(angle), np.cos(angle), size], axis=1)
    return jnp.asarray(np.concatenate([np.zeros((FIRST_NUMBER, looks.shape[1])), looks]), jnp.float32)


LOOKS = _looks()


def initial(size: Size, seed: int) -> Parameters:
    """Returns random weights."""
    rng = np.random.default_rng([seed, 17])
    d = size.width

    return {
        "tokens": normal(rng, VOCABULARY, d, scale=0.02),
        "looks": normal(rng, LOOKS.shape[1], d, scale=0.02),
        "places": normal(rng, size.language.length, d, scale=0.02),
        "norm": jnp.ones(d),
        "layers": initial_layers(rng, d, size.layers),
    }


def normal(rng: np.random.Generator, *shape: int, scale: float) -> jnp.ndarray:
    """Returns normal deviates of this standard deviation."""
    return jnp.asarray(rng.normal(0, scale, shape), jnp.float32)


def initial_layers(rng: np.random.Generator, d: int, layers: int) -> list[Parameters]:
    """Returns random weights of layers of width d."""
    out = 1 / np.sqrt(2 * layers)
    return [
        {
            "norm1": jnp.ones(d),
            "norm2": jnp.ones(d),
            "qkv": normal(rng, d, 3 * d, scale=d**-0.5),
            "out": normal(rng, d, d, scale=d**-0.5 * out),
            "up": normal(rng, d, 4 * d, scale=d**-0.5),
            "down": normal(rng, 4 * d, d, scale=(4 * d) ** -0.5 * out),
        }
        for _ in range(layers)
    ]


def norm(x: jnp.ndarray, gain: jnp.ndarray) -> jnp.ndarray:
    """Scales to a mean square of 1, times a gain for each feature."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * gain


def _embeddings(p: Parameters) -> jnp.ndarray:
    return p["tokens"] + LOOKS @ p["looks"]


def heads_of(x: jnp.ndarray, heads: int) -> jnp.ndarray:
    """Splits the last axis into heads: (…, heads, width of each)."""
    return x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads)


def layer(w: Parameters, heads: int, x: jnp.ndarray, attend: Any) -> jnp.ndarray:
    """Applies one layer; `attend(q, k, v)` is its attention."""
    q, k, v = (heads_of(each, heads) for each in jnp.split(norm(x, w["norm1"]) @ w["qkv"], 3, axis=-1))
    mixed = attend(q, k, v)
    x = x + mixed.reshape(x.shape) @ w["out"]
    return x + jax.nn.gelu(norm(x, w["norm2"]) @ w["up"]) @ w["down"]


def causal(q: jnp.ndarray, k: jnp.ndarray, v: jnp.ndarray) -> jnp.ndarray:
    """Returns the attention of places (rows, length, heads, width) to themselves and earlier ones."""
    length = q.shape[1]
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
    visible = jnp.tril(jnp.ones((length, length), bool))
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(visible, scores, -1e9), axis=-1), v)


@partial(jax.jit, static_argnames="size")
def log_probabilities(p: Parameters, size: Size, tokens: jnp.ndarray) -> jnp.ndarray:
    """Returns the log-probability of each token of the completions, (rows, length - prompt_length)."""
    prompt, table = size.language.prompt_length, _embeddings(p)
    x = table[tokens] * 8 + p["places"][: tokens.shape[1]]
    for w in p["layers"]:
        x = layer(w, size.heads, x, causal)
    x = norm(x[:, prompt - 1 : -1], p["norm"])
    logits = x @ table[: size.language.written].T
    chosen = jnp.take_along_axis(logits, tokens[:, prompt:, None], axis=-1)[..., 0]
    return chosen - jax.nn.logsumexp(logits, axis=-1)


Cache = list[tuple[jnp.ndarray, jnp.ndarray]]
"""Keys and values of each layer, (rows, length, heads, width) each."""


def _read(p: Parameters, size: Size, table: jnp.ndarray, prompts: jnp.ndarray) -> tuple[Cache, jnp.ndarray]:
    """Returns the model's cache of the prompts, and the last place's state, (rows, width)."""
    language = size.language
    room = ((0, 0), (0, language.completion_length), (0, 0), (0, 0))
    cache: Cache = []

    def attend(q: jnp.ndarray, k: jnp.ndarray, v: jnp.ndarray) -> jnp.ndarray:
        cache.append((jnp.pad(k, room), jnp.pad(v, room)))
        return causal(q, k, v)

    x = table[prompts] * 8 + p["places"][: language.prompt_length]
    for w in p["layers"]:
        x = layer(w, size.heads, x, attend)
    return cache, norm(x[:, -1], p["norm"])


def _read_on(
    p: Parameters, size: Size, table: jnp.ndarray, cache: Cache, at: jnp.ndarray, token: jnp.ndarray
) -> tuple[Cache, jnp.ndarray]:
    """Returns the cache and the state after one more token, (rows,), at place `at`."""
    visible = (jnp.arange(size.language.length) <= at)[None, None]
    kept: Cache = []

    def attend(q: jnp.ndarray, k: jnp.ndarray, v: jnp.ndarray) -> jnp.ndarray:
        keys, values = (old.at[:, at].set(new) for old, new in zip(cache[len(kept)], (k, v), strict=True))
        kept.append((keys, values))
        scores = jnp.einsum("bhd,bkhd->bhk", q, keys) * q.shape[-1] ** -0.5
        return jnp.einsum("bhk,bkhd->bhd", jax.nn.softmax(jnp.where(visible, scores, -1e9), axis=-1), values)

    x = table[token] * 8 + p["places"][at]
    for w in p["layers"]:
        x = layer(w, size.heads, x, attend)
    return kept, norm(x, p["norm"])


@partial(jax.jit, static_argnames="size")
def sample(p: Parameters, size: Size, prompts: jnp.ndarray, key: jnp.ndarray, temperature: float) -> jnp.ndarray:
    """Returns completions of prompts (rows, prompt_length): tokens (rows, completion_length), padded at the end."""
    language, rows, table = size.language, prompts.shape[0], _embeddings(p)
    cache, hidden = _read(p, size, table, prompts)

    def write(carry: Any) -> Any:
        at, cache, hidden, ended, written = carry
        logits = (hidden @ table[: language.written].T) / temperature
        token = jax.random.categorical(jax.random.fold_in(key, at), logits, axis=-1)
        token = jnp.where(ended, PAD, token)
        cache, hidden = _read_on(p, size, table, cache, at, token)
        written = written.at[:, at - language.prompt_length].set(token)
        return at + 1, cache, hidden, ended | (token == END), written

    def unfinished(carry: Any) -> jnp.ndarray:
        return (carry[0] < language.length) & ~carry[3].all()

    written = jnp.full((rows, language.completion_length), PAD, prompts.dtype)
    begun = (jnp.asarray(language.prompt_length), cache, hidden, jnp.zeros(rows, bool), written)
    return jax.lax.while_loop(unfinished, write, begun)[4]


def count(p: Parameters) -> int:
    """Returns the number of parameters of a model."""
    return sum(each.size for each in jax.tree.leaves(p))
