"""Contrast pairs (VCC) as a second loss beside a trainer's own: Curriculum RLOO 3.3.

Under the reward scheme `vcc` the server makes pairs from a group: the part of a completion up to its first right
answer is preferred to another completion. The loss is the mean of -log sigmoid(beta (a - b)), where a and b are the
length-averaged log-probabilities of the preferred and the rejected text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch.nn.functional import logsigmoid

from gradus.outcomes import ContrastPair


@dataclass(frozen=True)
class Contrast:
    """The loss of contrast pairs.

    Attributes
    ----------
    weight
        Factor of this loss, which is added to the trainer's own (c in Curriculum RLOO 4.1).
    beta
        Factor of the difference of log-probabilities.
    pairs_max
        Maximum number of pairs of a generation batch that are used, the first ones. Each costs two rows of a forward
        pass.

    """

    weight: float = 0.01
    beta: float = 0.1
    pairs_max: int = 64

    def __post_init__(self) -> None:
        if not (self.weight > 0 and self.beta > 0 and self.pairs_max >= 1):
            raise ValueError(f"weight and beta must be above 0, and pairs_max 1 at least; got {self}")


class PairRows(NamedTuple):
    """Tokens of a pair: its prompt, and the parts of the two completions that it compares."""

    prompt: Sequence[int]
    preferred: Sequence[int]
    rejected: Sequence[int]


def tokens_up_to(tokenizer: Any, ids: Sequence[int], end: int) -> Sequence[int]:
    """Returns the shortest prefix of the tokens whose text has at least `end` characters; all tokens if none has."""

    def length(kept: int) -> int:
        return len(tokenizer.decode(ids[:kept], skip_special_tokens=True))

    if length(len(ids)) <= end:
        # The prefix is the whole completion, so keep its end-of-sequence token.
        return ids
    return ids[: bisect_left(range(len(ids) + 1), end, key=length)]


def rows_of(
    pairs: Sequence[ContrastPair], prompt: Sequence[int], completions: Mapping[int, Sequence[int]], tokenizer: Any
) -> list[PairRows]:
    """Returns contrast pairs of a group as tokens. Pairs in which one text is empty are left out.

    Parameters
    ----------
    pairs
        Pairs from the server.
    prompt
        The group's prompt, as tokens.
    completions
        Tokens by sample index.
    tokenizer
        The trainer's processing class.

    """
    found = [
        PairRows(
            prompt,
            tokens_up_to(tokenizer, completions[pair.preferred_sample_index], pair.preferred_end),
            tokens_up_to(tokenizer, completions[pair.rejected_sample_index], pair.rejected_end),
        )
        for pair in pairs
    ]
    return [each for each in found if len(each.preferred) > 0 and len(each.rejected) > 0]


def average_log_probabilities(
    model: Any, prompts: Sequence[Sequence[int]], completions: Sequence[Sequence[int]]
) -> Any:
    """Returns the mean log-probability of each completion's tokens after its prompt, at temperature 1: tensor (n,)."""
    rows = [[*prompt, *completion] for prompt, completion in zip(prompts, completions, strict=True)]
    width = max(map(len, rows))
    device = next(model.parameters()).device
    # Padding is masked, so its token does not matter.
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows], device=device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    starts = torch.tensor([len(prompt) for prompt in prompts], device=device)
    places = torch.arange(width, device=device)
    logits = model(input_ids=ids, attention_mask=(places < lengths[:, None]).long()).logits[:, :-1].float()
    chosen = torch.log_softmax(logits, dim=-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    # The logits at one position belong to the next token.
    written = (places[1:] >= starts[:, None]) & (places[1:] < lengths[:, None])
    return (chosen * written).sum(dim=1) / written.sum(dim=1)


def contrast_losses(model: Any, pairs: Sequence[PairRows], beta: float) -> Any:
    """Returns -log sigmoid(beta (preferred - rejected)) of each pair: a tensor (n,)."""
    prompts = [pair.prompt for pair in pairs] * 2
    both = average_log_probabilities(model, prompts, [p.preferred for p in pairs] + [p.rejected for p in pairs])
    preferred, rejected = both.split(len(pairs))
    return -logsigmoid(beta * (preferred - rejected))


class PairQueue:
    """Contrast pairs of a generation batch, divided over the micro-batches that train on the batch."""

    def __init__(self, contrast: Contrast) -> None:
        self.contrast = contrast
        self._pairs: Sequence[PairRows] = ()
        self._turn = 0
        self._is_used = True

    def put(self, pairs: Sequence[PairRows]) -> None:
        """Takes the pairs of a new generation batch.

        Raises
        ------
        ValueError
            If the pairs of the batch before were never used: the trainer was not made by `with_contrast`.

        """
        if not self._is_used:
            raise ValueError(
                "the spec has a contrast loss, and the trainer does not use it: make it by spec.trainer(GRPOTrainer)"
            )
        self._pairs, self._turn, self._is_used = pairs[: self.contrast.pairs_max], 0, False

    def loss(self, model: Any, micro_batches: int, accumulated: int) -> Any:
        """Returns the loss that the next micro-batch adds.

        Over an optimizer step these losses sum to `weight` times the pairs' mean.

        Parameters
        ----------
        model
            The model.
        micro_batches, accumulated
            Numbers of micro-batches in a generation batch, and in an optimizer step.

        """
        self._is_used = True
        turn, self._turn = self._turn % micro_batches, self._turn + 1
        own = self._pairs[turn::micro_batches]
        if not own:
            return 0.0
        share = micro_batches / accumulated / len(self._pairs)
        return self.contrast.weight * share * contrast_losses(model, own, self.contrast.beta).sum()


def with_contrast(kind: type, queue: PairQueue) -> type:
    """Returns a subclass of a trainer's class whose loss includes that of the contrast pairs in the queue."""

    class WithContrast(kind):
        def compute_loss(self, model: Any, inputs: Any, *arguments: Any, **options: Any) -> Any:
            """Returns the trainer's own loss; in training plus that of the pairs."""
            loss = super().compute_loss(model, inputs, *arguments, **options)
            if not model.training:
                return loss
            accumulated = self.current_gradient_accumulation_steps
            more = queue.loss(model, self.args.steps_per_generation, accumulated)
            # transformers divides a loss by the number of accumulated micro-batches, unless the trainer does so.
            return loss + more * (accumulated if self.compute_loss_func is None else 1)

    WithContrast.__name__ = WithContrast.__qualname__ = kind.__name__
    return WithContrast
