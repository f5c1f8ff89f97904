"""Environments with turns: one whose state is in the task id, and one whose state is a live object."""

import os

from gradus.serve import Action, Environment, Facts, Tool, Turn

GUESS = Tool(
    "guess",
    "Says whether the number is higher or lower.",
    {
        "type": "object",
        "properties": {"number": {"type": "integer", "minimum": 1, "maximum": 1000}},
        "required": ["number"],
        "additionalProperties": False,
    },
)
NOTE = Tool(
    "note",
    "Notes a text, and shows all notes.",
    {"type": "object", "properties": {"text": {"type": "string"}}},
)


class Guess(Environment):
    """Find a number from 1 to 1,000. Each guess is answered by "higher" or "lower"."""

    id = "mine/guess"
    calls_max = 12
    calls = 8
    tools = (GUESS, NOTE)
    components = ("closeness",)

    def generate(self, rng):
        return rng.randint(1, 1000)

    def prompt(self, instance):
        return "Find my number, from 1 to 1,000."

    def reference(self, instance):
        return str(instance)

    def start(self, instance):
        return {"notes": [], "guesses": 0}

    def advance(self, instance, state, action: Action):
        if action.tool == "note":
            state["notes"].append(action.arguments.get("text", ""))
            return Turn("; ".join(state["notes"]))
        text = action.arguments["number"] if action.tool else action.text
        try:
            number = int(text)
        except ValueError:
            return Turn("That is no whole number.")
        if number == 666:
            raise RuntimeError("the devil")
        if number == 667:
            os._exit(3)
        state["guesses"] += 1
        if number == instance:
            return Turn(
                f"Right, after {state['guesses']} guesses.", over=True, result=1.0
            )
        reply = "higher" if number < instance else "lower"
        return Turn(
            f"{reply} {action.rng.randint(0, 9)}",
            result=1 - abs(instance - number) / 1000,
        )


class Moody(Guess):
    """A game whose replies depend on chance that no seed decides."""

    id = "mine/moody"
    deterministic = False


class Pile:
    """A live object, which cannot be sent."""

    def __init__(self):
        self.items = []


class Piled(Environment):
    """Put five numbers on a pile in ascending order. The pile is an object of this process."""

    id = "mine/piled"
    calls_max = 8
    tools = (
        Tool(
            "put",
            "Puts a number.",
            {
                "type": "object",
                "properties": {"number": {"type": "integer"}},
                "required": ["number"],
            },
        ),
    )
    replay = True
    action_bytes = 64

    def generate(self, rng):
        return rng.randint(1, 10**9)

    def prompt(self, instance):
        return "Put five numbers on the pile in ascending order."

    def start(self, instance):
        return Pile()

    def advance(self, instance, state, action):
        if action.tool != "put":
            return Turn("Use the tool.")
        state.items.append(action.arguments["number"])
        is_sorted = state.items == sorted(state.items)
        over = len(state.items) == 5
        result = Facts.feasible() if over and is_sorted else False
        return Turn(str(state.items), over=over, result=result)
