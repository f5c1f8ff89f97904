"""Longest cycle: a circuit over the edges both ways, where a vertex with a loop is left out."""

from typing import Any

from ortools.sat.python import cp_model
from runner import run


def build(model: cp_model.CpModel, instance: Any) -> None:
    left_out = [model.new_bool_var("") for _ in range(instance["vertices"])]
    arcs = [(vertex, vertex, loop) for vertex, loop in enumerate(left_out)]
    for a, b in instance["edges"]:
        arcs += [(a, b, model.new_bool_var("")), (b, a, model.new_bool_var(""))]
    model.add_circuit(arcs)
    visited = len(left_out) - sum(left_out)
    # An edge there and back is no cycle.
    model.add(visited >= 3)
    model.maximize(visited)


run(build)
