"""Travelling salesman: a circuit over all cities, whose arcs cost the distances."""

from typing import Any

from ortools.sat.python import cp_model
from runner import run


def build(model: cp_model.CpModel, instance: Any) -> None:
    arcs = []
    cost = []
    for a, row in enumerate(instance["distances"]):
        for b, distance in enumerate(row):
            if a != b:
                arc = model.new_bool_var("")
                arcs.append((a, b, arc))
                cost.append(distance * arc)
    model.add_circuit(arcs)
    model.minimize(sum(cost))


run(build)
