"""Verifiers that take about 1, 20, 50 and 200 microseconds an answer, for bench/mounted/run.ts.

As a program it measures verification alone. It reads lines of "level count", and writes the nanoseconds of processor
time that it took to verify that number of answers.
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
        """Returns the number of rounds, and the start of the sum."""
        return {"rounds": rounds, "start": rng.randrange(65521)}

    def prompt(self, instance):
        """Returns a short prompt, because prompts are not measured."""
        return f"{instance['rounds']} rounds from {instance['start']}"

    def verify(self, instance, answer):
        """Computes the sum each time, and returns whether the answer is it."""
        return answer.strip() == self.reference(instance)

    def reference(self, instance):
        """Returns the sum."""
        total = instance["start"]
        for i in range(instance["rounds"]):
            total = (total * 31 + i) % 65521
        return str(total)


ANSWERS = [f"an answer, number {i}" for i in range(256)]


def alone() -> None:
    """Answers each line of stdin."""
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
