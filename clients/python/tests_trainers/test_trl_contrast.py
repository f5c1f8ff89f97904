"""Test that the loss of contrast pairs equals one by hand, and that TRL's real trainers learn from it."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tiny
import torch
from transformers import AutoModelForCausalLM
from trl_training import KINDS, run_config, settings, trainer_of

from gradus import Client, ContrastPair
from gradus.trl import Contrast, GradusSpec, _contrast
from gradus.trl._contrast import PairQueue, PairRows, contrast_losses, rows_of, tokens_up_to
from gradus.trl._scorer import Scorer

TABLE = torch.tensor([[0.0, 1.0, -1.0, 0.5], [0.3, 0.0, 2.0, -2.0], [1.0, 1.0, 0.0, 0.0], [0.0, -0.5, 0.5, 1.5]])
"""Logits of the next token after each of four tokens."""


class Bigrams(torch.nn.Module):
    """A model whose next token depends on the last one alone, so that all can be computed by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(TABLE.clone())

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        assert attention_mask.shape == input_ids.shape
        return SimpleNamespace(logits=self.table[input_ids])


def by_hand(tokens: list[int]) -> float:
    """Returns the mean log-probability of all tokens but the first."""
    table = TABLE.tolist()
    found = [
        table[last][token] - math.log(sum(math.exp(each) for each in table[last]))
        for last, token in itertools.pairwise(tokens)
    ]
    return sum(found) / len(found)


def test_the_loss_is_that_of_a_hand_computation() -> None:
    pairs = [PairRows([3, 0], [1, 2, 2], [1]), PairRows([2], [0, 3], [3, 3, 3, 1])]
    losses = contrast_losses(Bigrams(), pairs, beta=0.1)
    # The prompt's last token precedes the completion's first one.
    first = by_hand([0, 1, 2, 2]) - by_hand([0, 1])
    second = by_hand([2, 0, 3]) - by_hand([2, 3, 3, 3, 1])
    expected = [-math.log(1 / (1 + math.exp(-0.1 * difference))) for difference in (first, second)]
    assert losses.tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("micro_batches", "accumulated"), [(1, 1), (4, 4), (3, 3), (4, 2)])
def test_an_optimizer_step_has_the_weight_times_the_mean(micro_batches: int, accumulated: int) -> None:
    queue, model = PairQueue(Contrast(weight=0.5, beta=1.0)), Bigrams()
    pairs = [PairRows([i % 4], [1, 2], [i % 3]) for i in range(6)]
    queue.put(pairs)
    total = sum(float(queue.loss(model, micro_batches, accumulated)) for _ in range(micro_batches))
    steps = micro_batches / accumulated
    assert total / steps == pytest.approx(0.5 * float(contrast_losses(model, pairs, 1.0).mean()), rel=1e-5)


def test_a_prefix_is_the_fewest_tokens_that_write_it() -> None:
    tokenizer = tiny.tokenizer()
    ids = tokenizer("1+2", add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
    assert tokens_up_to(tokenizer, ids, 2) == ids[:2]
    # Only the whole text has the end of sequence.
    assert tokens_up_to(tokenizer, ids, 3) == ids
    assert rows_of([ContrastPair(0, 1, 1, 3)], [5], {0: ids, 1: ids[:3]}, tokenizer) == [([5], ids[:1], ids[:3])]
    assert rows_of([ContrastPair(0, 0, 1, 3)], [5], {0: ids, 1: ids[:3]}, tokenizer) == []


def test_a_trainer_that_does_not_know_of_it_is_refused() -> None:
    queue = PairQueue(Contrast())
    queue.put([])
    with pytest.raises(ValueError, match=r"make it by spec\.trainer"):
        queue.put([])
    with pytest.raises(ValueError, match="weight and beta must be above 0"):
        Contrast(weight=0)


class Paired(Scorer):
    """Always prefers a group's first completion to its second, because the tiny policy is seldom right."""

    def score(self, groups: Any) -> Any:
        rewards = super().score(groups)
        self.pairs = {
            each.group_id: (ContrastPair(0, len(each.completions[0].text), 1, len(each.completions[1].text)),)
            for each in groups
            if each.completions[0].text != each.completions[1].text
        }
        return rewards


@pytest.mark.parametrize("kind", KINDS)
def test_a_trainer_learns_from_pairs(
    kind: str, client: Client, run_id: str, policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradus.trl._rewards.Scorer", Paired)
    taken: list[list[PairRows]] = []
    monkeypatch.setattr(
        _contrast.PairQueue, "put", lambda self, pairs, put=PairQueue.put: (taken.append(pairs), put(self, pairs))[1]
    )
    trained = {}
    for weight in (1e-9, 10.0):
        name = f"{run_id}-{weight}"
        spec = GradusSpec(client, name, run_config(reward_scheme="vcc"), contrast=Contrast(weight=weight, beta=1.0))
        torch.manual_seed(0)
        trainer = trainer_of(spec, policy, kind, **settings(tmp_path, max_steps=1, learning_rate=1e-3))
        trainer.train()
        trained[weight] = trainer.model.eval()
    # Both began alike and wrote the same. Only one of them got the preferences.
    assert taken[0] == taken[1] != []
    before = AutoModelForCausalLM.from_pretrained(policy).eval()
    with torch.no_grad():
        of = [float(contrast_losses(each, taken[0], 1.0).mean()) for each in (trained[10.0], trained[1e-9], before)]
    assert of[0] < of[1]
    assert of[0] < of[2]
