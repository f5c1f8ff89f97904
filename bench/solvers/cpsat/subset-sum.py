"""Subset sum: the numbers chosen sum up to the target; as many as possible."""

from typing import Any

from ortools.sat.python import cp_model
from runner import run


def build(model: cp_model.CpModel, instance: Any) -> None:
    chosen = [model.new_bool_var("") for _ in instance["numbers"]]
    model.add(sum(number * var for number, var in zip(instance["numbers"], chosen, strict=True)) == instance["target"])
    model.maximize(sum(chosen))


run(build)
