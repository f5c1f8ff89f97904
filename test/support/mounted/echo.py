"""An environment whose facts repeat the answer, so that a verdict on another answer is noticed."""

import ctypes
import time
from pathlib import Path

from gradus.serve import Environment, Facts


hoard = []


class Echo(Environment):
    """Say anything."""

    id = "mine/echo"
    verify_seconds = 5

    def generate(self, rng):
        return rng.randrange(1000)

    def prompt(self, instance):
        return f"Say {instance}"

    def verify(self, instance, answer):
        if answer == "die":
            ctypes.string_at(0)
        if answer == "hoard":
            hoard.append(bytearray(384 * 2**20))
        if answer.startswith("nap"):
            time.sleep(0.3)
        if answer == "wait":
            while not (Path(__file__).parent / "go").exists():
                time.sleep(0.01)
            return True
        info = {str(i): "x" * 1000 for i in range(16)} if answer.startswith("large") else {}
        return Facts("infeasible", violation=answer, info=info)
