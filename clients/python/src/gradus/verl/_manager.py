"""Reward manager that makes verl also report completions that were cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from verl import DataProto
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager

from gradus.enums import FinishReason
from gradus.verl._reward import FINISH_REASON, TOKENS


class RewardManager(NaiveRewardManager):
    """verl's own manager gives `compute_score` a text; this one adds why generation ended, and the number of tokens.

    verl does not keep the reason: its servers report "completed" for complete and for cut completions. A completion was
    cut if it has all `actor_rollout_ref.rollout.response_length` tokens and does not end with a special token, such as
    the end of the sequence.
    """

    async def run_single(self, data: DataProto) -> dict[str, Any]:
        """Returns the reward of the last sequence of a trajectory, like verl's own manager."""
        last = data[-1:]
        written = _written(last)
        row = last.non_tensor_batch["extra_info"][0]
        told = {**row, FINISH_REASON: self._finish_reason(last, written), TOKENS: written}
        # Copy `extra_info`, because the completions of a prompt may share the dict of its row.
        extra_info = np.empty(1, dtype=object)
        extra_info[0] = told
        last.non_tensor_batch = {**last.non_tensor_batch, "extra_info": extra_info}
        result: dict[str, Any] = await super().run_single(last)
        return result

    def _finish_reason(self, data: DataProto, written: int) -> FinishReason:
        ids = data.batch["responses"][0]
        longest = self.config.actor_rollout_ref.rollout.response_length
        if written < longest or int(ids[written - 1]) in self.tokenizer.all_special_ids:
            return "stop"
        return "length"


def _written(data: DataProto) -> int:
    """Returns the number of tokens of a sequence's completion."""
    ids = data.batch["responses"][0]
    return int(data.batch["attention_mask"][0, -len(ids) :].sum())
