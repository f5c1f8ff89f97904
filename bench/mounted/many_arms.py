"""300 levels of one environment in Python, as bench/curriculum/many-arms.ts names them: say the number shown."""

from gradus.serve import Environment

HOPELESS, MASTERED, LADDERS = 150, 75, 25


class Many(Environment):
    """Say a number."""

    id = "bench/many"
    levels = {
        **{f"hopeless{i}/0": {} for i in range(HOPELESS)},
        **{f"mastered{i}/0": {} for i in range(MASTERED)},
        **{f"ladder{i}/{level}": {} for i in range(LADDERS) for level in range(3)},
    }

    def generate(self, rng):
        """A number."""
        return rng.randrange(10**12)

    def prompt(self, instance):
        """Shows it."""
        return f"Say {instance}."

    def verify(self, instance, answer):
        """Whether it is said."""
        return answer.strip() == str(instance)

    def reference(self, instance):
        """It."""
        return str(instance)
