"""Trains by GRPO with TRL on tasks that Gradus' bandit chooses. It can be resumed after any kill.

    make serve                                            # the server, on localhost:50051
    pip install './clients/python[trl]'
    python trl_grpo.py --model Qwen/Qwen3-0.6B            # run it again after a kill: it goes on at its last checkpoint

Under several ranks: `torchrun --nproc-per-node 2 trl_grpo.py`, or `accelerate launch`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from trl import GRPOConfig, GRPOTrainer

import gradus
from gradus.trl import GradusSpec

TIERS = ("T0", "T1", "T2", "T3")


def run_config(prompts: int, generations: int) -> dict[str, Any]:
    """Returns a run without an end: a bandit over countdown's four tiers, a fifth of each batch from hard ones."""
    return {
        "arms": [gradus.arm("countdown", tier, hard=tier in ("T2", "T3")) for tier in TIERS],
        "policy": gradus.bandit(constraints=gradus.constraints(hard_share_min=0.2)),
        "num_generations": generations,
        "prompts_per_update": prompts,
        "seed": 1,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Trains, from the last checkpoint if there is one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="localhost:50051")
    parser.add_argument("--run", default="trl-grpo")
    parser.add_argument("--model", default="Qwen/Qwen3-0.6B")
    parser.add_argument("--output", default="out/trl-grpo")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--prompts", type=int, default=32)
    parser.add_argument("--generations", type=int, default=16)
    parser.add_argument("--batch", type=int, default=16, help="completions that are trained on at a time")
    parser.add_argument("--length", type=int, default=1024, help="tokens of a completion at most")
    parser.add_argument("--save-every", type=int, default=10)
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args(arguments)

    # restart: a training that died before its first checkpoint starts again. reproducible: a resumed one samples the
    # same completions as without the break.
    run = run_config(options.prompts, options.generations)
    spec = GradusSpec(options.server, options.run, run, reproducible=True, restart=True)
    config = GRPOConfig(
        **spec.config(
            output_dir=options.output,
            max_steps=options.steps,
            per_device_train_batch_size=options.batch,
            max_completion_length=options.length,
            learning_rate=1e-6,
            save_steps=options.save_every,
            logging_steps=1,
            report_to=[],
            use_cpu=options.cpu,
        )
    )
    trainer = GRPOTrainer(
        options.model,
        args=config,
        train_dataset=spec.train_dataset,
        reward_funcs=spec.reward_funcs,
        callbacks=spec.callbacks,
    )
    trainer.train(resume_from_checkpoint=spec.last_checkpoint(options.output))


if __name__ == "__main__":
    main()
