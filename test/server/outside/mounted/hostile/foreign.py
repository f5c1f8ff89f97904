"""An environment that runs answers as code, and whose module attacks the server while it is imported."""

import json
import os
import re

import attacks

from gradus.serve import Environment, Facts

LEAK = re.compile(r"CANARY[-: ].{0,100}|NEIGHBOUR-SAYS-[0-9]+|CANARY$")
# These break the host's own channel, which is a fault of the mount alone.
AS_ANSWERS_ONLY = ("a09", "a31", "a37", "a47", "a50", "a51")


def excerpt(name):
    """Returns what the attack has read of the server or of others, else the beginning of its output."""
    said = attacks.attempt(attacks.ATTACKS[name])
    leak = LEAK.search(said)
    return f"LEAK {leak.group()}" if leak else said[:120]


AT_IMPORT = {name: excerpt(name) for name in attacks.ATTACKS if name[:3] not in AS_ANSWERS_ONLY}


class Foreign(Environment):
    id = "mine/foreign"
    runs_answers = True

    def generate(self, rng):
        return rng.randrange(10**6)

    def prompt(self, instance):
        return f"Say {instance}.\n{json.dumps(AT_IMPORT)}"

    def reference(self, instance):
        return str(instance)

    def verify(self, instance, answer):
        if "excerpt" in answer:
            return Facts.infeasible(str(eval(answer)))
        return answer == str(instance)
