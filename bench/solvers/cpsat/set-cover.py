"""Minimum set cover: each element has a chosen subset."""

from typing import Any

from ortools.sat.python import cp_model
from runner import run


def build(model: cp_model.CpModel, instance: Any) -> None:
    chosen = [model.new_bool_var("") for _ in instance["subsets"]]
    for element in range(instance["elements"]):
        model.add_bool_or(var for var, subset in zip(chosen, instance["subsets"], strict=True) if element in subset)
    model.minimize(sum(chosen))


run(build)
