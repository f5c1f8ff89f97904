"""An environment of words backwards. Some answers make its verifier fail, as a model's might."""

import ctypes
import time

from gradus.serve import Environment


class Word(Environment):
    """Write a word backwards."""

    id = "mine/word"
    levels = {"short": {"letters": 4}, "long": {"letters": 12}, "vast": {"letters": 9000}}
    verify_seconds = 0.3

    def generate(self, rng, letters):
        return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=letters))

    def prompt(self, instance):
        print("what is printed does not come between the frames")
        return f"Write this word backwards: {instance}"

    def verify(self, instance, answer):
        if answer == "hang":
            while True:
                pass
        if answer == "die":
            ctypes.string_at(0)
        if answer == "slow":
            time.sleep(0.4)
        if answer == "raise":
            raise ValueError("no such answer")
        if answer == "nan":
            return float("nan")
        return answer.strip() == instance[::-1]

    def reference(self, instance):
        return instance[::-1]

    def draw(self, instance, answer):
        script = "<script>alert(1)</script>" if answer == "script" else ""
        return f'<svg xmlns="http://www.w3.org/2000/svg"><text>{instance}: {answer}</text>{script}</svg>'
