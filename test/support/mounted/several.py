"""A dozen environments, most of them with a growth axis, for tests of runs over many mounted environments."""

from gradus.serve import Axis, Environment

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Word(Environment):
    """Write a word backwards."""

    def __init__(self, number, levels):
        self.id = f"mounted/word-{number}"
        self.levels = {f"{count} letters": {"letters": count} for count in levels}
        if len(levels) > 1:
            self.axes = {"letters": Axis(list(self.levels), first=levels[0])}

    def generate(self, rng, letters):
        return "".join(rng.choices(LETTERS, k=letters))

    def prompt(self, instance):
        return f"Write this word backwards: {instance}"

    def verify(self, instance, answer):
        if answer == "raise":
            raise ValueError("no such answer")
        return answer.strip() == instance[::-1]

    def reference(self, instance):
        return instance[::-1]


# The last two have one level each, one of them with instances that no task id has room for.
environments = [
    *(Word(number, range(3 + number % 3, 8)) for number in range(10)),
    Word(10, [6]),
    Word(11, [9000]),
]
