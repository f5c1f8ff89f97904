"""A training on tasks with turns, on one rank of several: a program of the nursery."""

from __future__ import annotations

import json
from pathlib import Path

from test_trl_turns import run_of, trainer_of

from gradus.trl import GradusSpec


def main(server: str, run_id: str, policy: str, output: str, log: str) -> None:
    """Trains one step. The first rank writes the trainer's log to `log`."""
    spec = GradusSpec(server, run_id, run_of(prompts_per_update=3))
    trainer = trainer_of(spec, Path(policy), Path(output), per_device_train_batch_size=6)
    trainer.train()
    if trainer.args.process_index == 0:
        Path(log).write_text(json.dumps(trainer.state.log_history))
    trainer.accelerator.end_training()
