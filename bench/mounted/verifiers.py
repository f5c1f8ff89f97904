"""Verifiers that cost about 1, 20, 50 and 200 microseconds an answer: what bench/mounted/run.ts mounts.

Run by itself it is verification alone: each line of its input is "level count", and it writes the nanoseconds of
processor time that verifying so many answers took it.
"""

import random
import sys
import time

from gradus.serve import Environment


class Rounds(Environment):
    """Say what so many rounds of a small sum come to."""

    id = "bench/rounds"
    levels = {"1": {"rounds": 8}, "20": {"rounds": 280}, "50": {"rounds": 700}, "200": {"rounds": 2800}}

    def generate(self, rng, rounds):
        """The rounds, and where the sum begins."""
        return {"rounds": rounds, "start": rng.randrange(65521)}

    def prompt(self, instance):
        """Short: a prompt is no part of what is measured."""
        return f"{instance['rounds']} rounds from {instance['start']}"

    def verify(self, instance, answer):
        """Whether it is the sum, which is reckoned each time."""
        return answer.strip() == self.reference(instance)

    def reference(self, instance):
        """The sum."""
        total = instance["start"]
        for i in range(instance["rounds"]):
            total = (total * 31 + i) % 65521
        return str(total)


ANSWERS = [f"an answer, number {i}" for i in range(256)]


def alone() -> None:
    """Answers each line of the input until it ends."""
    environment = Rounds()
    for line in sys.stdin:
        level, count = line.split()
        instance = environment.generate(random.Random(0), **environment.levels[level])
        began = time.process_time_ns()
        for i in range(int(count)):
            environment.verify(instance, ANSWERS[i % len(ANSWERS)])
        print(time.process_time_ns() - began, flush=True)


if __name__ == "__main__":
    alone()
