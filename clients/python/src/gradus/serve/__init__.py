"""Environments in Python, under Gradus's curriculum: their base class, and the programs that serve them.

`Environment` is the class, and docs/guides/python-environments.md the guide. `gradus env new my_env.py` writes a first
environment, `gradus env check my_env.py` checks its rules, and `gradus serve --python my_env.py` serves it. On another
machine `python -m gradus.serve my_env.py --address 0.0.0.0:50061` serves it over gRPC.
"""

from gradus.serve._environment import Axis, Environment, Level, Prompt
from gradus.serve._facts import ExhaustedError, Facts, UnavailableError
from gradus.serve._text_game import TextGame
from gradus.serve._turns import KEEP, Action, Tool, Turn

__all__ = [
    "KEEP",
    "Action",
    "Axis",
    "Environment",
    "ExhaustedError",
    "Facts",
    "Level",
    "Prompt",
    "TextGame",
    "Tool",
    "Turn",
    "UnavailableError",
]
