"""Verifiers that report unreadable answers in each possible way, and a resource that is down."""

from gradus.serve import Environment, Facts, UnavailableError


class Digits(Environment):
    """Repeat a number."""

    id = "mine/digits"

    def generate(self, rng):
        return rng.randrange(1000, 10_000)

    def prompt(self, instance):
        return f"Repeat this number: {instance}"

    def parse(self, answer):
        return int(answer)

    def verify(self, instance, answer):
        if answer < 0:
            return Facts.malformed("a number here has no sign")
        if answer == 13:
            raise UnavailableError("the abacus is away")
        return self.worth(answer == instance)

    def worth(self, is_right):
        return is_right


class GradedDigits(Digits):
    """Repeat a number, for a share of the reward."""

    id = "mine/graded-digits"
    components = ("score",)

    def worth(self, is_right):
        return 1.0 if is_right else 0.25
