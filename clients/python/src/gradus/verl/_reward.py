"""The reward function that verl's reward workers await."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradus.training import TaskReference, WrittenCompletion, reward_or, score_one

ROW = "gradus"
"""Key of a row's `extra_info` that holds the reference to its task."""

TASK = "gradus_task"
"""Key of a row's `extra_info` that holds the task as JSON, for `gradus.verl.AgentLoop`."""

FINISH_REASON = "gradus_finish_reason"
"""Key of a row's `extra_info` for the reason why generation ended, which `gradus.verl.RewardManager` sets."""

TOKENS = "gradus_tokens"
"""Key of a row's `extra_info` for the completion's number of tokens, which `gradus.verl.RewardManager` sets."""


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    unscored: float | None = None,
    **_: Any,
) -> dict[str, float]:
    """Returns the reward of one completion, for `reward.custom_reward_function`. Concurrent calls share a message.

    Parameters
    ----------
    data_source, ground_truth
        Not used: the server knows the task.
    solution_str
        The completion.
    extra_info
        From the row, with the reference to its task; `gradus.verl.RewardManager` adds why generation ended.
    unscored
        Reward of a completion that could not be scored; None: an error. Set it in
        `reward.custom_reward_function.reward_kwargs`.

    Returns
    -------
    dict
        `score`: the reward; `acc`: 1 if solved, 0 if not, NaN if not known.

    Raises
    ------
    UnscoredError
        If the completion has no reward and `unscored` is None.

    """
    if extra_info is None or ROW not in extra_info:
        raise ValueError(
            f"the row of data source {data_source!r} is not of gradus.verl.RunDataset: see data.custom_cls"
        )
    task = TaskReference.from_row(extra_info[ROW])
    reason, tokens = extra_info.get(FINISH_REASON), extra_info.get(TOKENS)
    written = WrittenCompletion(task, solution_str, finish_reason=reason, tokens=tokens)
    outcome = await score_one(written)
    solved = float("nan") if outcome.solved is None else float(outcome.solved)
    return {"score": reward_or(outcome, unscored), "acc": solved}
