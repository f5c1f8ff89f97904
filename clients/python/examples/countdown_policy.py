"""A small policy in numpy that writes countdown expressions, in place of a language model.

It writes a completion move by move. A move is a token such as "* 7": an operator and a number that is not used yet.
Moves are applied to one value from left to right. So with 3, 5, 7 the moves "3", "+ 5", "* 7" are written

    <think>3 + 5 = 8, 8 * 7 = 56</think>
    <answer>(3 + 5) * 7</answer>

Two things are built in: its grammar (each number once) and its arithmetic (the value so far, as a model that thinks
aloud has it). Its only inputs are that value, the target and the numbers left. It does not try moves ahead, does not
know when it has hit the target, and calls no solver or verifier. It learns which numbers to take, in which order and
with which operations. It starts with random weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

SLOTS = 4
"""Numbers that a task may have."""

OPERATIONS = ("+", "-", "reversed -", "*", "/", "reversed /")
"""Operations of a move on the value v and its number n: v + n, v - n, n - v, v * n, v / n, n / v."""

MOVES = SLOTS * len(OPERATIONS)
"""The policy's vocabulary: move m takes number m // 6 by operation m % 6."""

HIDDEN = 128

_SCALES = np.array([1, 3, 10, 30, 100, 300], dtype=np.float32)


@dataclass(frozen=True)
class Puzzle:
    """The parts of a prompt that the policy reads."""

    numbers: tuple[int, ...]
    target: int

    @staticmethod
    def from_metadata(metadata: Mapping[str, str]) -> Puzzle:
        """Reads the task's metadata, which has the same facts as its prompt."""
        return Puzzle(tuple(int(each) for each in metadata["numbers"].split()), int(metadata["target"]))


@dataclass(frozen=True)
class Rollout:
    """Completions, and for each of their moves (rows) the policy's features, choice and log-probability."""

    texts: list[str]
    sample: Array
    """Completion that the move belongs to, (rows,)."""
    features: Array
    """Features of each slot, (rows, SLOTS, features)."""
    legal: Array
    """Whether the grammar allowed each move, (rows, MOVES)."""
    move: Array
    """Move that was made, (rows,)."""
    log_probability: Array
    """Its log-probability when it was made, (rows,)."""


class Policy:
    """A two-layer network that scores the moves of each slot, with the same weights for all slots."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng([seed, 1])
        inputs = _features(np.zeros(1), np.zeros((1, SLOTS)), np.ones((1, SLOTS), bool), np.zeros(1)).shape[-1]
        sizes = (inputs, HIDDEN, HIDDEN, len(OPERATIONS))
        self._weights: list[Array] = []
        for fan_in, fan_out in pairwise(sizes):
            scale = np.sqrt(2 / fan_in)
            self._weights.append((self._rng.normal(size=(fan_in, fan_out)) * scale).astype(np.float32))
            self._weights.append(np.zeros(fan_out, np.float32))
        self._weights[-2] *= 0.01  # All moves are about equally likely at the start.
        self._moments = [np.zeros((2, *each.shape), np.float32) for each in self._weights]
        self._steps = 0
        self._activations: list[Array] = []

    def sample(self, puzzles: Sequence[Puzzle]) -> Rollout:
        """Writes one completion for each puzzle, at temperature 1."""
        numbers = np.zeros((len(puzzles), SLOTS))
        for index, puzzle in enumerate(puzzles):
            numbers[index, : len(puzzle.numbers)] = puzzle.numbers
        target = np.array([puzzle.target for puzzle in puzzles], dtype=float)
        value = np.zeros(len(puzzles))
        left = numbers > 0
        moves: list[list[tuple[int, float]]] = [[] for _ in puzzles]
        parts: list[tuple[Array, ...]] = []
        for position in range(SLOTS):
            rows = np.flatnonzero(left.any(axis=1))
            features = _features(value[rows], numbers[rows], left[rows], target[rows])
            legal = np.repeat(left[rows], len(OPERATIONS), axis=1)
            if position == 0:  # The first number is written as it is: 0 + n.
                legal &= np.arange(MOVES) % len(OPERATIONS) == 0
            log_probabilities = self.log_probabilities(features, legal)
            # Gumbel-max: to add this noise and take the largest is to draw from the softmax.
            move = np.argmax(log_probabilities + self._rng.gumbel(size=legal.shape), axis=1)
            parts.append((rows, features, legal, move, log_probabilities[np.arange(len(rows)), move]))
            slot = move // len(OPERATIONS)
            value[rows] = _apply(move % len(OPERATIONS), value[rows], numbers[rows, slot])
            left[rows, slot] = False
            for row, chosen in zip(rows, move, strict=True):
                moves[row].append((int(chosen), float(value[row])))
        texts = [write(puzzle, made) for puzzle, made in zip(puzzles, moves, strict=True)]
        return Rollout(texts, *(np.concatenate(part) for part in zip(*parts, strict=True)))

    def log_probabilities(self, features: Array, legal: Array) -> Array:
        """Returns log-probabilities of moves, (rows, MOVES), very low for illegal ones. `descend` uses the last."""
        x = features.reshape(-1, features.shape[-1])
        self._activations = [x]
        for layer in range(0, len(self._weights), 2):
            x = x @ self._weights[layer] + self._weights[layer + 1]
            if layer + 2 < len(self._weights):
                x = np.maximum(x, 0)
            self._activations.append(x)
        scores = np.where(legal, x.reshape(legal.shape), np.float32(-1e9))
        scores -= scores.max(axis=1, keepdims=True)
        result: Array = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return result

    def descend(self, gradient: Array, learning_rate: float) -> None:
        """Takes a step of Adam, given the loss's gradient by the last scores, (rows, MOVES)."""
        gradients: list[Array] = []
        backward = gradient.reshape(-1, len(OPERATIONS)).astype(np.float32)
        for layer in reversed(range(0, len(self._weights), 2)):
            if layer + 2 < len(self._weights):
                backward = backward * (self._activations[layer // 2 + 1] > 0)
            gradients[:0] = [self._activations[layer // 2].T @ backward, backward.sum(axis=0)]
            backward = backward @ self._weights[layer].T
        norm = np.sqrt(sum(float((each**2).sum()) for each in gradients))
        self._adam([each * min(1.0, 1.0 / (norm + 1e-8)) for each in gradients], learning_rate)

    def _adam(self, gradients: list[Array], learning_rate: float) -> None:
        self._steps += 1
        for weight, gradient, moments in zip(self._weights, gradients, self._moments, strict=True):
            moments[0] += 0.1 * (gradient - moments[0])
            moments[1] += 0.02 * (gradient**2 - moments[1])
            mean, square = moments[0] / (1 - 0.9**self._steps), moments[1] / (1 - 0.98**self._steps)
            np.subtract(weight, learning_rate * mean / (np.sqrt(square) + 1e-8), out=weight)


def write(puzzle: Puzzle, moves: Sequence[tuple[int, float]]) -> str:
    """Returns the completion's text for moves and the values after them."""
    expression, thoughts, before = "", [], ""
    for move, value in moves:
        number, operation = str(puzzle.numbers[move // len(OPERATIONS)]), OPERATIONS[move % len(OPERATIONS)]
        after = f"{value:g}"
        if not expression:
            expression = number
        else:
            reverse, symbol = operation.startswith("reversed"), operation[-1]
            operand = f"({expression})" if " " in expression else expression
            expression = f"{number} {symbol} {operand}" if reverse else f"{operand} {symbol} {number}"
            thoughts.append(f"{number if reverse else before} {symbol} {before if reverse else number} = {after}")
        before = after
    return f"<think>{', '.join(thoughts)}</think>\n<answer>{expression}</answer>"


def _apply(operation: Array, value: Array, number: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        results = [value + number, value - number, number - value, value * number, value / number, number / value]
    chosen = np.choose(operation, results)
    return np.where(np.isfinite(chosen), chosen, 0.0)


def _features(value: Array, numbers: Array, left: Array, target: Array) -> Array:
    """Returns the features by which the policy scores each slot's moves, (rows, SLOTS, features).

    They are the value, the target, this slot's number and the other numbers left, sorted, each on several scales, and
    how many numbers are left.
    """
    rows = len(value)
    shared = np.concatenate([_encode(value), _encode(target), np.eye(SLOTS + 1)[left.sum(axis=1)]], axis=1)
    present = np.where(left, numbers, 0)
    others = np.repeat(present[:, None, :], SLOTS, axis=1)
    others[:, np.arange(SLOTS), np.arange(SLOTS)] = 0
    others = -np.sort(-others, axis=2)[:, :, : SLOTS - 1]
    own = [_encode(numbers), _encode(others).reshape(rows, SLOTS, -1), others > 0]
    return np.concatenate([np.repeat(shared[:, None], SLOTS, axis=1), *own], axis=2).astype(np.float32)


def _encode(x: Array) -> Array:
    x = x[..., None]
    return np.concatenate([np.tanh(x / _SCALES), np.sign(x) * np.log1p(np.abs(x)) / 5], axis=-1)
