"""Runs examples/trl_grpo.py in forked processes: they have imported everything, which takes longer than they do.

Reads the arguments of one training after the other, a JSON list a line; writes its process id, and its exit status when
it has ended.
"""

from __future__ import annotations

import json
import os
import sys
import traceback

import tiny  # noqa: F401
import trl_grpo
from transformers import AutoModelForCausalLM, AutoTokenizer


def main(policy: str, log: str) -> None:
    # Once here, so that all that is imported on demand is.
    AutoModelForCausalLM.from_pretrained(policy)
    AutoTokenizer.from_pretrained(policy)
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            train(json.loads(line), log)
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)


def train(arguments: list[str], log: str) -> None:
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(out, 1)
    os.dup2(out, 2)
    try:
        trl_grpo.main(arguments)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
