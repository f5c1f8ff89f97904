"""An environment whose verifier sleeps if an answer asks for it."""

import time

from gradus.serve import Environment


class Asleep(Environment):
    """Say anything, or let the verifier sleep."""

    id = "attacked/asleep"
    verify_seconds = 1

    def generate(self, rng):
        """Returns a number."""
        return rng.randrange(1000)

    def prompt(self, instance):
        """Returns the prompt."""
        return f"Say {instance}"

    def reference(self, instance):
        """Returns the number."""
        return str(instance)

    def verify(self, instance, answer):
        """Returns whether the answer is the number."""
        if answer == "sleep":
            time.sleep(1000)
        return answer == str(instance)
