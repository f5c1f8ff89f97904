"""gradus.trl with TRL's real trainers, on one rank."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

import gradus
from gradus import Client
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


def settings(out: Path, **changes: Any) -> dict[str, Any]:
    return {
        "output_dir": str(out),
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
    """A trainer of a tiny policy, with the spec's settings and these."""
    trainer, config = KINDS[kind]
    return trainer(
        str(policy),
        reward_funcs=spec.reward_funcs,
        args=config(**spec.config(**changes)),
        train_dataset=spec.train_dataset,
        eval_dataset=spec.eval_dataset,
        callbacks=spec.callbacks,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_trainer_trains_on_a_run(kind: str, client: Client, run_id: str, policy: Path, tmp_path: Path) -> None:
    spec = GradusSpec(client, run_id, run_config())
    trainer = trainer_of(spec, policy, kind, **settings(tmp_path))
    trainer.train()

    assert trainer.args.generation_batch_size == 16
    assert trainer.args.gradient_accumulation_steps == 2
    state = client.run(run_id).get().state
    assert (state.batches_closed, state.samples_recorded) == (4, 4 * 16)
    assert client.run(run_id).feedback_counts.keys() == {"recorded"}
    groups = [group for batch in range(4) for group in client.run(run_id).groups(batch)]
    assert all({sample.sample_index for sample in group.samples} == {0, 1, 2, 3} for group in groups)

    logs = [each for each in trainer.state.log_history if "reward" in each]
    assert len(logs) == 4
    for step, log in enumerate(logs):
        assert log["gradus/wait_ms"] == pytest.approx(log["gradus/wait_tasks_ms"] + log["gradus/wait_scores_ms"])
        of_step = [group for group in groups if group.update_batch == step]
        rewards = [sample.reward or 0 for group in of_step for sample in group.samples]
        assert log["reward"] == pytest.approx(sum(rewards) / len(rewards), abs=1e-6)
        for arm in {group.arm_id for group in of_step}:
            mine = [sample.reward for group in of_step if group.arm_id == arm for sample in group.samples]
            assert log[f"gradus/{arm}/reward"] == pytest.approx(sum(mine) / len(mine), abs=1e-6)
    probabilities = [value for name, value in logs[-1].items() if name.endswith("/probability")]
    assert len(probabilities) == 3
    assert math.fsum(probabilities) == pytest.approx(1)
    assert len({group.mean for group in groups}) > 1
