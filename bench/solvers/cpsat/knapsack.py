"""Knapsack: the items chosen weigh no more than the capacity."""

from typing import Any

from ortools.sat.python import cp_model
from runner import run


def build(model: cp_model.CpModel, instance: Any) -> None:
    chosen = [model.new_bool_var("") for _ in instance["weights"]]
    model.add(sum(w * var for w, var in zip(instance["weights"], chosen, strict=True)) <= instance["capacity"])
    model.maximize(sum(v * var for v, var in zip(instance["values"], chosen, strict=True)))


run(build)
