"""ADSC's four conditions on Countdown, half a billion parameters, on one GPU.

    make serve                            # the server, on localhost:50051; the fourth condition needs a teacher there
    pip install './clients/python[trl]' vllm
    python adsc_four.py                   # all four in turn; run it again after a kill to continue
    python practice.py adsc               # the state of a run, at any time

Each condition is a run file of examples/ with the overrides of examples/README.md, made by `gradus run create`. At the
end of each run it prints the tasks drawn, the success, and how much practice a change of success took, by which
`frontier`'s practice_scale should be set for this model (practice.py). docs/guides/trl.md shows such a table.
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
CONDITIONS: dict[str, tuple[str, ...]] = {
    "adsc-vanilla-rloo": ("adsc-vanilla-rloo.yaml",),
    "adsc-real-only-mab": (
        "adsc-vanilla-rloo.yaml",
        "arms.real/T2.hard=true",
        "arms.real/T3.hard=true",
        "policy={bandit: {ema_softmax: {alpha: 0.15, tau: 0.25}, signal: absolute_advantage, epsilon: 0.1}}",
        "policy.constraints={hard_share_min: 0.1, hard_warmup_batches: 5}",
    ),
    "adsc": ("adsc.yaml",),
    "adsc-qwen-teacher": (
        "adsc.yaml",
        "arms.synthetic/T0={id: teacher/T0, spec: {environment: countdown, level: T0, source: teacher}}",
        "arms.synthetic/T1={id: teacher/T1, spec: {environment: countdown, level: T1, source: teacher}}",
        "arms.synthetic/T2={id: teacher/T2, spec: {environment: countdown, level: T2, source: teacher}, hard: true}",
        "arms.synthetic/T3={id: teacher/T3, spec: {environment: countdown, level: T3, source: teacher}, hard: true}",
    ),
}
"""The runs by id: the file of examples/, and the values of `--set`."""


def train(options: argparse.Namespace, run_id: str) -> None:
    """Trains one condition to its end, from its last checkpoint if there is one."""
    file, *overrides = CONDITIONS[run_id]
    subprocess.run(
        # TRL asks for a batch ahead, so it needs 1. The papers' files have 0.
        [
            "cli/gradus",
            "run",
            "create",
            f"examples/{file}",
            *(f"--set={value}" for value in (f"run_id={run_id}", *overrides, "feedback_lag=1")),
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
    """Trains the chosen conditions, and prints the results."""
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
