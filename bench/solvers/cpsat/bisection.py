"""Minimum bisection: an edge is cut where its ends lie on different sides."""

from typing import Any

from ortools.sat.python import cp_model
from runner import run


def build(model: cp_model.CpModel, instance: Any) -> None:
    vertices = instance["vertices"]
    side = [model.new_bool_var("") for _ in range(vertices)]
    # Sides have no names.
    model.add(side[0] == 1)
    model.add_linear_constraint(sum(side), vertices // 2, (vertices + 1) // 2)
    cost = []
    for a, b, weight in instance["edges"]:
        cut = model.new_bool_var("")
        model.add_bool_or(~side[a], side[b], cut)
        model.add_bool_or(side[a], ~side[b], cut)
        cost.append(weight * cut)
    model.minimize(sum(cost))


run(build)
