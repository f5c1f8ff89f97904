"""Games of one step on OpenEnv's own classes: some secrets follow from the seed, and others ignore it."""

from __future__ import annotations

import random
import time
from typing import Any, Literal

from openenv.core.env_server import Action, Environment, Observation, State


class Guess(Action):
    guess: str


class Choice(Action):
    guess: Literal["north", "south", "east", "west"]


class Pair(Action):
    side: Literal["left", "right"]
    count: int


class Seen(Observation):
    text: str


class Game(Environment):
    """Shows the same for every seed, and rewards the guess of a secret that reset drew."""

    asked = "Guess."

    def __init__(self) -> None:
        super().__init__()
        self.secret: Any = None

    def chance(self, seed: int | None) -> random.Random:
        """Returns the generator of the secret."""
        return random.SystemRandom()

    def draw(self, chance: random.Random) -> Any:
        """Returns a secret."""
        raise NotImplementedError

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> Seen:
        self.secret = self.draw(self.chance(seed))
        return Seen(text=self.asked)

    def step(self, action: Any, timeout_s: float | None = None, **_: Any) -> Seen:
        return Seen(text=self.told(), reward=self.worth(action), done=True)

    def worth(self, action: Any) -> float | None:
        """The reward of an action."""
        return float(action.guess == str(self.secret))

    def told(self) -> str:
        """Returns the text that is shown after the step."""
        return "That was it."

    @property
    def state(self) -> State:
        return State()


class Coin(Game):
    asked = "Heads or tails?"

    def draw(self, chance: random.Random) -> str:
        return chance.choice(["heads", "tails"])


class SeededCoin(Coin):
    def chance(self, seed: int | None) -> random.Random:
        return random.Random(seed)


class SeededPair(SeededCoin):
    def worth(self, action: Any) -> float:
        return float(action.side == ("left" if self.secret == "heads" else "right"))


class Luck(Game):
    """Takes any answer two times of five, and refuses it else."""

    def draw(self, chance: random.Random) -> bool:
        return chance.random() < 0.4

    def worth(self, action: Any) -> float:
        return float(self.secret)


class Colour(Game):
    asked = "Which colour do I think of: vermilion, chartreuse or ultramarine?"

    def draw(self, chance: random.Random) -> str:
        return chance.choice(["vermilion", "chartreuse", "ultramarine"])


class Digit(Game):
    """Tells nothing but the reward."""

    def draw(self, chance: random.Random) -> int:
        return chance.randint(1, 10)


class Revealed(Game):
    """Is hard to guess, and tells what would have been right."""

    def draw(self, chance: random.Random) -> int:
        return chance.randint(1_000, 1_020)

    def told(self) -> str:
        return f"It was {self.secret}."


class Compass(Game):
    """An action has one of four values."""

    def draw(self, chance: random.Random) -> str:
        return chance.choice(["north", "south", "east", "west"])


class Drawer(Game):
    """An action has two fields."""

    def draw(self, chance: random.Random) -> str:
        return chance.choice(["left", "right"])

    def worth(self, action: Any) -> float:
        return float(action.side == self.secret)


class Silent(SeededCoin):
    """Has no reward where its judge is down, as servers say it."""

    def worth(self, action: Any) -> float | None:
        return None


class Slow(SeededCoin):
    """Thinks for long about one guess."""

    def worth(self, action: Any) -> float:
        if action.guess == "slow":
            time.sleep(2)
        return super().worth(action) or 0.0
