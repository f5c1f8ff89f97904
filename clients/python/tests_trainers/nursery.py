"""Runs trainings in forked processes, because imports take longer than the trainings.

Reads a JSON list of jobs from each line, and starts them together. Writes their process ids, and their exit statuses
when all have ended. `program` is examples/trl_grpo.py or trl_training.py, with the arguments `given`. `environment` has
the variables that torchrun would set for a rank. Output is appended to the file `log`.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import threading
import traceback
from typing import Any

import tqdm
import trl_grpo
import trl_training
from transformers import AutoModelForCausalLM, AutoTokenizer


def train_on_turns(given: dict[str, Any]) -> None:
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
    import trl_turns_training  # noqa: PLC0415 (few trainings need it)

    (trl_turns_training.resumable if "player" in given else trl_turns_training.main)(**given)


PROGRAMS = {
    "trl_grpo": trl_grpo.main,
    "trl_training": lambda given: trl_training.main(**given),
    "trl_turns_training": train_on_turns,
}


def main(policy: str) -> None:
    # Its monitor would be a thread.
    tqdm.tqdm.monitor_interval = 0
    # Forked processes would share tqdm's own lock. One that is killed while it writes would keep the lock.
    tqdm.tqdm.set_lock(threading.RLock())
    # Load a model once, so that everything imported on demand is there before a fork.
    AutoModelForCausalLM.from_pretrained(policy)
    AutoTokenizer.from_pretrained(policy)
    print("ready", flush=True)
    for line in sys.stdin:
        children = [forked(job) for job in json.loads(line)]
        print(json.dumps(children), flush=True)
        print(json.dumps([os.waitpid(child, 0)[1] for child in children]), flush=True)


def forked(job: dict[str, Any]) -> int:
    # A lock that another thread holds at the fork would stay locked in the child.
    threads = os.listdir("/proc/self/task")
    assert len(threads) == 1, threads
    child = os.fork()
    if child == 0:
        train(**job)
    return child


def train(program: str, given: Any, log: str, environment: dict[str, str]) -> None:
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(out, 1)
    os.dup2(out, 2)
    faulthandler.enable()
    os.environ.update(environment)
    try:
        PROGRAMS[program](given)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
