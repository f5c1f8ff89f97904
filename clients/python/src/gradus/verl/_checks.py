"""What verl's configuration must be for a run, and why."""

from __future__ import annotations

from typing import Any

from gradus.runs import RunConfig
from gradus.training import check_batches, check_generations, check_scored_by_step


def check(run: RunConfig, data: Any, max_samples: int) -> None:
    check_scored_by_step(run)
    if data.get("shuffle"):
        raise ValueError("data.shuffle=True: which task comes next is the run's to say. Set data.shuffle=False")
    if data.get("dataloader_num_workers"):
        raise ValueError(
            f"data.dataloader_num_workers={data.get('dataloader_num_workers')}: workers read ahead, and their "
            "checkpoints hold what they read rather than what was trained on. Set data.dataloader_num_workers=0; "
            "the server makes the tasks ahead"
        )
    if run.length == 0 and max_samples < 1:
        raise ValueError(
            "the run has no end, and verl counts its steps by rows: set data.train_max_samples to the prompts to "
            "train on (train_batch_size times the steps)"
        )
    batch = data.get("gen_batch_size") or data.get("train_batch_size")
    if batch:
        check_batches(run, batch, "data.gen_batch_size" if data.get("gen_batch_size") else "data.train_batch_size")
    generations = _select(data, "actor_rollout_ref", "rollout", "n")
    if generations is not None:
        check_generations(run, generations, "actor_rollout_ref.rollout.n")
    epochs = _select(data, "trainer", "total_epochs")
    if epochs is not None and epochs != 1:
        raise ValueError(
            f"trainer.total_epochs={epochs}: a run does not begin again, and verl plans its steps by epochs. Set "
            "trainer.total_epochs=1; what is to come again is the policy's to say (gradus.replay)"
        )


def _select(data: Any, *path: str) -> Any:
    """A value of the configuration that `data` is a part of; None: it stands alone, or there is none."""
    node = data._get_root() if hasattr(data, "_get_root") else None
    for name in path:
        node = None if node is None else node.get(name)
    return node
