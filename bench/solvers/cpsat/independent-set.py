"""Maximum independent set: no edge has both ends chosen."""

from typing import Any

from ortools.sat.python import cp_model
from runner import run


def build(model: cp_model.CpModel, instance: Any) -> None:
    chosen = [model.new_bool_var("") for _ in range(instance["vertices"])]
    for edge in instance["edges"]:
        model.add_at_most_one(chosen[vertex] for vertex in edge)
    model.maximize(sum(chosen))


run(build)
