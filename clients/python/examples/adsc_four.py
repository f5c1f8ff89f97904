"""ADSC's four conditions on Countdown, half a billion parameters, on one GPU.

    make serve                            # the server, on localhost:50051; the fourth condition needs a teacher there
    pip install './clients/python[trl]' vllm
    python adsc_four.py                   # one after the other; again after a kill: it goes on
    python practice.py adsc               # what is known of a run, at any time

Each condition is a run file of examples/, made by `gradus run create`. What it prints of each run at its end is what it
drew, how success went, and how much practice a move of success took: the scale that `frontier` should have for this
model (practice.py). docs/guides/trl.md shows such a table.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Sequence
from pathlib import Path

from practice import report
from trl import RLOOConfig, RLOOTrainer

from gradus import Client, GradusError
from gradus.trl import GradusSpec

REPOSITORY = Path(__file__).resolve().parents[3]
CONDITIONS = ("adsc-vanilla-rloo", "adsc-real-only-mab", "adsc", "adsc-qwen-teacher")
"""Run files of examples/, and the ids of their runs."""


def train(options: argparse.Namespace, run_id: str) -> None:
    """Trains one condition to its end, from its last checkpoint if there is one."""
    subprocess.run(
        # The papers' files have 0: TRL asks for a batch ahead.
        [
            "cli/gradus",
            "run",
            "create",
            f"examples/{run_id}.yaml",
            "--set",
            "feedback_lag=1",
            "--server",
            options.server,
        ],
        cwd=REPOSITORY,
        check=True,
    )
    spec = GradusSpec(options.server, run_id)
    output = f"{options.output}/{run_id}"
    config = RLOOConfig(
        **spec.config(
            output_dir=output,
            per_device_train_batch_size=options.batch,
            max_completion_length=options.length,
            learning_rate=1e-5,
            temperature=1.0,
            top_p=1.0,
            save_steps=25,
            logging_steps=1,
            bf16=True,
            use_vllm=not options.no_vllm,
            vllm_mode="colocate",
            vllm_gpu_memory_utilization=0.3,
            report_to=[],
        )
    )
    trainer = RLOOTrainer(
        options.model,
        args=config,
        train_dataset=spec.train_dataset,
        reward_funcs=spec.reward_funcs,
        callbacks=spec.callbacks,
    )
    trainer.train(resume_from_checkpoint=spec.last_checkpoint(output))
    trainer.save_model(f"{output}/final")


def main(arguments: Sequence[str] | None = None) -> None:
    """Trains what is asked for, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="localhost:50051")
    parser.add_argument("--only", action="append", choices=CONDITIONS, help="may be given several times (default: all)")
    parser.add_argument("--model", default="Qwen/Qwen2.5-0.5B-Instruct")
    parser.add_argument("--output", default="out/adsc-four")
    parser.add_argument("--batch", type=int, default=32, help="completions that are trained on at a time")
    parser.add_argument("--length", type=int, default=1024, help="tokens of a completion at most")
    parser.add_argument("--no-vllm", action="store_true", help="generate by transformers")
    options = parser.parse_args(arguments)
    with Client(options.server) as client:
        for run_id in options.only or CONDITIONS:
            try:
                train(options, run_id)
                print(report(client.run(run_id)), flush=True)
            except (GradusError, subprocess.CalledProcessError) as error:
                # A server without a teacher refuses the fourth.
                print(f"{run_id}: left out: {error}", flush=True)


if __name__ == "__main__":
    main()
