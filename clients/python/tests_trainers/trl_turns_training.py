"""Trainings on tasks with turns, programs of the nursery: on one rank of several, or to be killed and resumed."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from test_trl_turns import run_of, trainer_of

import gradus
from gradus.trl import GradusSpec

SMALL_CALLS = [
    f'<tool_call>\n{{"name": "guess", "arguments": {{"code": {list(code)}}}}}\n</tool_call>'
    for code in itertools.product(range(1, 4), repeat=2)
]
STEPS = 6


def main(server: str, run_id: str, policy: str, output: str, log: str) -> None:
    """Trains one step. The first rank writes the trainer's log to `log`."""
    spec = GradusSpec(server, run_id, run_of(prompts_per_update=3))
    trainer = trainer_of(spec, Path(policy), Path(output), per_device_train_batch_size=6)
    trainer.train()
    if trainer.args.process_index == 0:
        Path(log).write_text(json.dumps(trainer.state.log_history))
    trainer.accelerator.end_training()


def resumable(server: str, run_id: str, policy: str, output: str, log: str, player: str) -> None:
    """Train on small games from the last checkpoint; write the trainer's log to `log`.

    `player`: the spec's property that plays episodes. Rewards decide which game is drawn.
    """
    sizes = {"small": {"places": 2, "colours": 2}, "large": {"places": 2, "colours": 3}}
    arms = [
        gradus.arm("games/mastermind", arm_id=name, parameters=size, calls=3, tools=["guess"])
        for name, size in sizes.items()
    ]
    spec = GradusSpec(
        server, run_id, run_of(arms=arms, policy=gradus.bandit()), reproducible=True, restart=True, patience=120
    )
    saving = {"max_steps": STEPS, "save_strategy": "steps", "save_steps": 1}
    playing = {player: getattr(spec, player)}
    trainer = trainer_of(spec, Path(policy), Path(output), playing, SMALL_CALLS, **saving)
    trainer.train(resume_from_checkpoint=spec.last_checkpoint(output))
    Path(log).write_text(json.dumps(trainer.state.log_history))
