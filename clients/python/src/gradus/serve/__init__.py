"""Environments in Python, under Gradus's curriculum: what one is written as, and what serves it.

`Environment` is the class, and docs/guides/python-environments.md the guide. `gradus env new my_env.py` writes a first
one, `gradus env check my_env.py` says what holds of it, and `gradus serve --python my_env.py` serves it. On another
machine `python -m gradus.serve my_env.py --address 0.0.0.0:50061` serves it over gRPC.
"""

from gradus.serve._environment import Environment, Level, Prompt
from gradus.serve._facts import ExhaustedError, Facts, UnavailableError

__all__ = ["Environment", "ExhaustedError", "Facts", "Level", "Prompt", "UnavailableError"]
