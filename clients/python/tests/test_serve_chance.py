"""Test the generator that a host substitutes for `random`'s own: its draws equal Python's."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from gradus.serve._chance import Late

DRAWS: list[Callable[[random.Random], Any]] = [
    lambda rng: rng.random(),
    lambda rng: rng.getrandbits(70),
    lambda rng: rng.randrange(1000),
    lambda rng: rng.gauss(0, 1),
    lambda rng: rng.sample(range(100), 5),
    lambda rng: rng.choices("abc", k=4),
    lambda rng: rng.randbytes(9),
    lambda rng: rng.getstate(),
]


@pytest.mark.parametrize("draw", DRAWS)
def test_draws_what_python_draws(draw: Callable[[random.Random], Any]) -> None:
    late = Late()
    for seed in (0, 7, 2**40):
        late.begin_with(seed)
        plain = random.Random(seed)
        assert [draw(late), draw(late)] == [draw(plain), draw(plain)]


def test_forgets_what_was_drawn_before() -> None:
    late = Late()
    late.begin_with(1)
    late.gauss(0, 1)
    late.begin_with(1)
    assert late.gauss(0, 1) == random.Random(1).gauss(0, 1)


def test_takes_a_seed_or_a_state_that_the_module_sets() -> None:
    late = Late()
    late.begin_with(1)
    late.seed(5)
    assert late.random() == random.Random(5).random()
    late.begin_with(1)
    late.setstate(random.Random(6).getstate())
    assert late.random() == random.Random(6).random()
