"""Trains a tiny policy, for tests. `main` is a training on one of several ranks.

torchrun --nproc-per-node 2 trl_training.py '{"kind": "rloo", "server": ..., "run_id": ..., "log": ..., ...}'
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

import gradus
from gradus.trl import GradusSpec

KINDS = {"grpo": (GRPOTrainer, GRPOConfig), "rloo": (RLOOTrainer, RLOOConfig)}


def run_config(**changes: Any) -> dict[str, Any]:
    return {
        "arms": [gradus.arm("countdown", level) for level in ("T0", "T1", "T2")],
        "policy": gradus.bandit(),
        "num_generations": 4,
        "prompts_per_update": 4,
        "seed": 1,
        **changes,
    }


def settings(output_dir: str | Path, **changes: Any) -> dict[str, Any]:
    return {
        "output_dir": str(output_dir),
        "per_device_train_batch_size": 8,
        "max_completion_length": 6,
        "max_steps": 4,
        "save_strategy": "no",
        "logging_steps": 1,
        "report_to": [],
        "learning_rate": 1e-2,
        "use_cpu": True,
        **changes,
    }


def trainer_of(spec: GradusSpec, policy: Path, kind: str = "grpo", **changes: Any) -> Any:
    """Returns a trainer of a tiny policy, with the spec's settings and the given ones."""
    trainer, config = KINDS[kind]
    return spec.trainer(trainer)(
        str(policy),
        reward_funcs=spec.reward_funcs,
        args=config(**spec.config(**changes)),
        train_dataset=spec.train_dataset,
        eval_dataset=spec.eval_dataset,
        callbacks=spec.callbacks,
    )


def main(kind: str, server: str, run_id: str, run: dict[str, Any], policy: str, log: str, **changes: Any) -> None:
    """Trains from the last checkpoint, if there is one. The first rank writes the trainer's log to `log`."""
    spec = GradusSpec(server, run_id, run_config(**run), reproducible=True)
    trainer = trainer_of(spec, Path(policy), kind, **settings(**changes))
    trainer.train(resume_from_checkpoint=spec.last_checkpoint(trainer.args.output_dir))
    if trainer.args.process_index == 0:
        Path(log).write_text(json.dumps(trainer.state.log_history))
    # Without this, a thread of torch that frees the last gathered tensors sometimes aborts the rank at its exit.
    trainer.accelerator.end_training()


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
