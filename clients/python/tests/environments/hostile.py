"""Environments that fail, each in its own way."""

from __future__ import annotations

import os
import random
import socket
import threading
from typing import Any

from gradus.serve import Environment, Facts, UnavailableError

print("said while it is imported")

hoard: list[bytearray] = []


def hoard_more(mib: int) -> bool:
    """Keeps memory for ever, of the 512 MiB that there are."""
    hoard.append(bytearray(mib * 2**20))
    return True


def hold_on(how: str) -> bool:
    """Holds memory or leaves state that affects later answers."""
    if how == "hoard":
        # A second such answer finds no memory.
        return hoard_more(384)
    if how == "store":
        # A second such answer finds too little memory, although half is free when it begins.
        return len(bytearray(384 * 2**20)) > 0 and hoard_more(192)
    try:
        return hoard_more(240)
    except MemoryError:
        # An answer that finds no memory may also give a wrong verdict instead of an error.
        return False


class Sound(Environment):
    """Fails in the way that an answer names."""

    id = "bad/verifier"

    def generate(self, rng: random.Random) -> int:
        return rng.randrange(10**9)

    def prompt(self, instance: int) -> str:
        return f"Say {instance}."

    def reference(self, instance: int) -> str:
        return str(instance)

    def verify(self, instance: int, answer: str) -> Any:
        print("x" * 100_000)
        match answer:
            case "raise":
                raise KeyError("a key that is not there")
            case "nan":
                return float("nan")
            case "number":
                return 0.5
            case "hang":
                while True:
                    pass
            case "exit":
                os._exit(0)
            case "hoard" | "store" | "settle":
                return hold_on(answer)
            case "memory":
                return len(bytearray(8 * 1024**3)) > 0
            case "fork":
                os.fork()
            case "write":
                open("/tmp/gradus-written", "w").close()
            case "read":
                return bool(open("/etc/passwd").read())
            case "connect":
                socket.create_connection(("127.0.0.1", 9))
            case "thread":
                threading.Thread(target=print).start()
            case "gone":
                raise UnavailableError("the store is closed")
        return answer == str(instance)


class Leak(Sound):
    """Keeps memory, and makes another instance if there is none left."""

    id = "bad/leak"

    def generate(self, rng: random.Random) -> int:
        try:
            hoard_more(100)
        except MemoryError:
            return -1
        return rng.randrange(10**9)


class Table(Sound):
    """Fills more than half of the memory once. The reason of a wrong answer is the process id."""

    id = "bad/table"

    def verify(self, instance: int, answer: str) -> Facts:
        if not hoard:
            hoard_more(384)
        return Facts.feasible() if answer == str(instance) else Facts.infeasible(str(os.getpid()))


class Code(Sound):
    """Runs answers as code, and keeps the state that they leave behind."""

    id = "bad/code"
    runs_answers = True
    left: list[str] = []

    def verify(self, instance: int, answer: str) -> bool:
        before = len(self.left)
        try:
            found = bool(eval(answer, {"left": self.left, "instance": instance}))
        except (NameError, SyntaxError):
            return False
        return found and before == 0


class Broken(Sound):
    id = "bad/levels"
    levels = {
        "sound": {"how": ""},
        "endless": {"how": "endless"},
        "impure": {"how": "impure"},
        "nothing": {"how": "nothing"},
        "raises": {"how": "raises"},
        "object": {"how": "object"},
        "exits": {"how": "exits"},
        "low": {"how": "low"},
        "lenient": {"how": "lenient"},
    }
    made = 0

    def generate(self, rng: random.Random, how: str = "") -> Any:
        Broken.made += 1
        match how:
            case "endless":
                while True:
                    pass
            case "impure":
                return [how, self.made]
            case "nothing":
                return None
            case "raises":
                raise ValueError("no such board")
            case "object":
                return object()
            case "exits":
                os._exit(3)
        return [how, rng.random()]

    def reference(self, instance: Any) -> str:
        return "other" if instance[0] == "low" else "yes"

    def prompt(self, instance: Any) -> str:
        return f"Say yes to {instance}."

    def verify(self, instance: Any, answer: str) -> bool:
        return answer == "yes" or instance[0] == "lenient"


class Nameless(Sound):
    id = "Bad Name"
