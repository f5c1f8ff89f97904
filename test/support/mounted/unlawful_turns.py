"""Environments with turns, each of which breaks one rule."""

import random

from gradus.serve import Environment, Turn


class Plain(Environment):
    """Says a number."""

    calls_max = 6
    state_bytes = 64

    def generate(self, rng):
        return rng.randint(1, 10**9)

    def prompt(self, instance):
        return "Say a number."

    def start(self, instance):
        return 0

    def advance(self, instance, state, action):
        return Turn(f"call {state}", state=state + 1, result=False)


class Lawful(Plain):
    id = "mine/lawful"


class Counts(Plain):
    """Keeps the number of calls in the environment."""

    id = "mine/counts"
    count = 0

    def advance(self, instance, state, action):
        self.count += 1
        return Turn(f"call {self.count}", state=state + 1)


class Forgets(Plain):
    """Plays as an object that is not repeated in full: its reply depends on this process."""

    id = "mine/forgets"
    replay = True

    def start(self, instance):
        return {"calls": 0, "seen": random.SystemRandom().random()}

    def advance(self, instance, state, action):
        state["calls"] += 1
        return Turn(f"{state}")


class Raises(Plain):
    """Raises for an answer that it cannot read."""

    id = "mine/raises"

    def advance(self, instance, state, action):
        return Turn(str(float(action.text)))


class Grows(Plain):
    """Exceeds its size of states."""

    id = "mine/grows"

    def advance(self, instance, state, action):
        return Turn("more", state="x" * 40 * (action.number + 1))


class Accepts(Plain):
    """Takes anything for right."""

    id = "mine/accepts"

    def advance(self, instance, state, action):
        return Turn("right", over=True, result=True)


class Chance(Plain):
    """Draws random numbers, and declares that."""

    id = "mine/chance"
    deterministic = False

    def advance(self, instance, state, action):
        return Turn(str(random.SystemRandom().random()), state=state + 1)
