"""An environment with a growth axis, for tests of mounted environments."""

from gradus.serve import Axis, Environment


class Reversed(Environment):
    """Write a word backwards."""

    id = "mounted/reversed"
    levels = {f"{count} letters": {"letters": count} for count in range(3, 7)}
    axes = {"letters": Axis(list(levels), first=3)}

    def generate(self, rng, letters):
        return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=letters))

    def prompt(self, instance):
        return f"Write this word backwards: {instance}"

    def verify(self, instance, answer):
        return answer.strip() == instance[::-1]

    def reference(self, instance):
        return instance[::-1]
