"""The supervised start: the weights with which all conditions and seeds begin."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from experiment import Experiment, Settings, same_order
from model import Parameters, Size, initial, log_probabilities
from tokens import PAD, Tokens, UnreadError
from tqdm import tqdm, trange


def read_answers(experiment: Experiment, exported: Path) -> tuple[Tokens, Tokens]:
    """Returns prompts and completions to imitate, (rows, tokens) each, from a file of `gradus export --solver`.

    Rows that the tokens cannot express are left out.
    """
    rng = np.random.default_rng(1)
    language = experiment.language
    prompts, completions = [], []
    with exported.open() as lines:
        for line in tqdm(lines, desc="reading answers", unit="row"):
            prompt, answer = (message["content"] for message in json.loads(line)["messages"])
            try:
                completion = language.completion(experiment.twist(answer, rng))
                prompts.append(language.prompt(prompt))
                completions.append(completion)
            except UnreadError:
                continue
    return np.stack(prompts), np.stack(completions)


def make_start(experiment: Experiment, settings: Settings, exported: Path, out: Path) -> None:
    """Imitates the solver's answers, and writes the weights to `out`."""
    p = imitate(settings, *read_answers(experiment, exported), shuffle=experiment.shuffle)
    out.write_bytes(pickle.dumps(jax.tree.map(np.asarray, p)))


def imitate(
    settings: Settings,
    prompts: Tokens,
    completions: Tokens,
    *,
    seed: int = 0,
    shuffle: Callable[[Tokens, np.random.Generator], Tokens] = same_order,
) -> Parameters:
    """Returns weights of a seed after `settings.start_steps` steps of imitation of completions, (rows, tokens)."""
    p = initial(settings.size, seed)
    rate = optax.warmup_cosine_decay_schedule(
        0, settings.start_rate, max(1, settings.start_steps // 10), settings.start_steps, settings.start_rate / 20
    )
    optimizer = optax.chain(optax.clip_by_global_norm(1), optax.adamw(rate, b2=0.98, weight_decay=0.01))
    state = optimizer.init(p)

    def step(
        p: Parameters, state: optax.OptState, tokens: jnp.ndarray
    ) -> tuple[Parameters, optax.OptState, jnp.ndarray]:
        loss, gradient = jax.value_and_grad(imitation)(p, settings.size, tokens)
        change, state = optimizer.update(gradient, state, p)
        return optax.apply_updates(p, change), state, loss

    compiled = jax.jit(step)
    rng = np.random.default_rng(seed)
    # A few long answers would make every step as slow as they are. So seven of eight steps cut completions to the
    # usual length.
    usual = int(np.percentile((completions != PAD).sum(axis=1), 85))
    progress = trange(settings.start_steps, desc="supervised start", unit="step")
    for i in progress:
        rows = rng.integers(len(prompts), size=settings.start_batch)
        width = completions.shape[1] if i % 8 == 0 else usual
        tokens = np.concatenate([shuffle(prompts[rows], rng), completions[rows, :width]], axis=1)
        p, state, loss = compiled(p, state, tokens)
        if i % 20 == 0:
            progress.set_postfix(loss=f"{loss:.3f}")
    return p


def imitation(p: Parameters, size: Size, tokens: jnp.ndarray) -> jnp.ndarray:
    """Returns the mean negative log-probability of the completions' tokens."""
    written = tokens[:, size.language.prompt_length :] != PAD
    return -(log_probabilities(p, size, tokens) * written).sum() / written.sum()


@dataclass(frozen=True)
class Start:
    """Weights to start from, and a name that is unique to them, because machines make slightly different weights."""

    name: str
    weights: Parameters


def load(path: Path) -> Start:
    """Reads the start that `make_start` wrote."""
    written = path.read_bytes()
    return Start(hashlib.sha256(written).hexdigest()[:16], jax.tree.map(jnp.asarray, pickle.loads(written)))
