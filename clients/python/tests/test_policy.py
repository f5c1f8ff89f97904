"""Test the small policy of examples/: its texts, and that its objective moves it the right way."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from countdown_policy import Policy, Puzzle, write
from grpo_countdown import Settings, improve, interval

PUZZLES = [Puzzle((3, 5, 7), 56), Puzzle((61, 42, 3, 78), 56), Puzzle((2, 2, 2, 2), 1)] * 40
SETTINGS = Settings(entropy=0)


def test_an_answer_uses_each_number_once_and_comes_to_the_last_thought() -> None:
    for puzzle, text in zip(PUZZLES, Policy(seed=0).sample(PUZZLES).texts, strict=True):
        form = re.fullmatch(r"<think>.*= (\S+)</think>\n<answer>([-+*/() 0-9]+)</answer>", text)
        assert form, text
        thought, answer = form.groups()
        assert sorted(map(int, re.findall(r"\d+", answer))) == sorted(puzzle.numbers)
        try:
            # The text is the example's own, of digits and operators, so eval is safe.
            value = eval(re.sub(r"(\d+)", r"Fraction(\1)", answer), {"Fraction": Fraction})
        except ZeroDivisionError:
            continue
        if "/ 0 " not in text:
            assert float(thought) == pytest.approx(float(value), rel=1e-4, abs=1e-4)


def test_moves_are_written_left_to_right() -> None:
    moves = [(0, 3.0), (6, 8.0), (12 + 2, -1.0), (18 + 5, -7.0)]
    text = write(Puzzle((3, 5, 7, 7), 1), moves)
    assert text == "<think>3 + 5 = 8, 7 - 8 = -1, 7 / -1 = -7</think>\n<answer>7 / (7 - (3 + 5))</answer>"


def test_probabilities_are_of_legal_moves() -> None:
    policy = Policy(seed=0)
    rollout = policy.sample(PUZZLES)
    p = np.exp(policy.log_probabilities(rollout.features, rollout.legal))
    assert p.sum(axis=1) == pytest.approx(1)
    assert p[~rollout.legal].max() == 0
    assert rollout.legal[np.arange(len(rollout.move)), rollout.move].all()


def test_what_was_better_than_its_group_becomes_likelier() -> None:
    policy = Policy(seed=0)
    rollout = policy.sample(PUZZLES)
    advantages = np.random.default_rng(0).choice([-1.0, 1.0], size=len(PUZZLES))
    improve(policy, rollout, advantages, SETTINGS, learning_rate=1e-4)
    after = policy.log_probabilities(rollout.features, rollout.legal)[np.arange(len(rollout.move)), rollout.move]
    change = (after - rollout.log_probability) * advantages[rollout.sample]
    assert change.mean() > 0


def test_a_sample_without_a_reward_teaches_nothing() -> None:
    policy, same = Policy(seed=0), Policy(seed=0)
    rollout = policy.sample(PUZZLES)
    improve(policy, rollout, np.full(len(PUZZLES), np.nan), SETTINGS, learning_rate=1.0)
    unchanged = same.log_probabilities(rollout.features, rollout.legal)
    assert (policy.log_probabilities(rollout.features, rollout.legal) == unchanged).all()


def test_the_interval_holds_the_mean() -> None:
    low, high = interval(np.array([0.0, 1.0] * 100))
    assert low == pytest.approx(0.43, abs=0.01)
    assert high == pytest.approx(0.57, abs=0.01)
