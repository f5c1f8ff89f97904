"""The supervised start: every condition and seed goes on from the same weights."""

from __future__ import annotations

import pickle
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import optax
from data import read_start
from model import Parameters, Size, initial, log_probabilities
from settings import Settings
from tokens import PAD, PROMPT_LENGTH, PROMPT_NUMBERS
from tqdm import trange


def make_start(exported: Path, out: Path, settings: Settings) -> None:
    """Imitates the solver's answers, and writes the weights to `out`."""
    prompts, completions = read_start(exported)
    p = initial(settings.size, seed=0)
    rate = optax.warmup_cosine_decay_schedule(
        0, settings.start_rate, settings.start_steps // 10, settings.start_steps, settings.start_rate / 20
    )
    optimizer = optax.chain(optax.clip_by_global_norm(1), optax.adamw(rate, b2=0.98, weight_decay=0.01))
    state = optimizer.init(p)

    @jax.jit
    def step(p: Parameters, state: optax.OptState, tokens: jnp.ndarray) -> tuple[Parameters, optax.OptState, jnp.ndarray]:
        loss, gradient = jax.value_and_grad(imitation)(p, settings.size, tokens)
        change, state = optimizer.update(gradient, state, p)
        return optax.apply_updates(p, change), state, loss

    rng = np.random.default_rng(0)
    # Most answers are short, and the few that are long cost as much as all: they are cut, not left out.
    length = int(np.percentile((completions != PAD).sum(axis=1), 85))
    progress = trange(settings.start_steps, desc="supervised start", unit="step")
    for i in progress:
        rows = rng.integers(len(prompts), size=settings.start_batch)
        width = completions.shape[1] if i % 8 == 0 else length
        tokens = np.concatenate([_shuffled(prompts[rows], rng), completions[rows, :width]], axis=1)
        p, state, loss = step(p, state, tokens)
        if i % 20 == 0:
            progress.set_postfix(loss=f"{loss:.3f}")
    out.write_bytes(pickle.dumps(jax.tree.map(np.asarray, p)))


def _shuffled(prompts: npt.NDArray[np.int32], rng: np.random.Generator) -> npt.NDArray[np.int32]:
    """The same prompts with their numbers in another order, which leaves the answer right."""
    numbers = prompts[:, -PROMPT_NUMBERS:]
    order = np.argsort(np.where(numbers == PAD, 2, rng.random(numbers.shape)), axis=1)
    return np.concatenate([prompts[:, :-PROMPT_NUMBERS], np.take_along_axis(numbers, order, axis=1)], axis=1)


def imitation(p: Parameters, size: Size, tokens: jnp.ndarray) -> jnp.ndarray:
    """Mean negative log-probability of a completion's tokens."""
    written = tokens[:, PROMPT_LENGTH:] != PAD
    return -(log_probabilities(p, size, tokens) * written).sum() / written.sum()


def load(path: Path) -> Parameters:
    """The weights that `make_start` wrote."""
    return jax.tree.map(jnp.asarray, pickle.loads(path.read_bytes()))
