"""Maximum clique: no two chosen vertices lack an edge."""

from itertools import combinations
from typing import Any

from ortools.sat.python import cp_model
from runner import run


def build(model: cp_model.CpModel, instance: Any) -> None:
    edges = {tuple(edge) for edge in instance["edges"]}
    chosen = [model.new_bool_var("") for _ in range(instance["vertices"])]
    for pair in combinations(range(instance["vertices"]), 2):
        if pair not in edges:
            model.add_at_most_one(chosen[vertex] for vertex in pair)
    model.maximize(sum(chosen))


run(build)
