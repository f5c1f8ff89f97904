"""Fewest colours: a variable for each vertex and colour, as many as a greedy colouring takes, a clique fixed."""

from typing import Any

from ortools.sat.python import cp_model
from runner import run


def greedy_colors(near: list[set[int]]) -> int:
    """How many colours DSATUR takes."""
    color: dict[int, int] = {}
    while len(color) < len(near):
        rest = [v for v in range(len(near)) if v not in color]
        v = max(rest, key=lambda v: (len({color[w] for w in near[v] if w in color}), len(near[v])))
        taken = {color[w] for w in near[v] if w in color}
        color[v] = next(c for c in range(len(near)) if c not in taken)
    return max(color.values()) + 1


def greedy_clique(near: list[set[int]]) -> list[int]:
    """The largest clique that some vertex and always the best connected candidate make."""
    best: list[int] = []
    for start in range(len(near)):
        clique, candidates = [start], set(near[start])
        while candidates:
            v = max(candidates, key=lambda v: (len(near[v] & candidates), -v))
            clique.append(v)
            candidates &= near[v]
        best = max(best, clique, key=len)
    return best


def build(model: cp_model.CpModel, instance: Any) -> None:
    near: list[set[int]] = [set() for _ in range(instance["vertices"])]
    for a, b in instance["edges"]:
        near[a].add(b)
        near[b].add(a)
    colors = range(greedy_colors(near))
    has = [[model.new_bool_var("") for _ in colors] for _ in near]
    used = [model.new_bool_var("") for _ in colors]
    for v in range(len(near)):
        model.add_exactly_one(has[v])
        for c in colors:
            model.add_implication(has[v][c], used[c])
    for a, b in instance["edges"]:
        for c in colors:
            model.add_at_most_one(has[a][c], has[b][c])
    for c, v in enumerate(greedy_clique(near)):
        model.add(has[v][c] == 1)
    for c in colors[1:]:
        model.add_implication(used[c], used[c - 1])
    model.minimize(sum(used))


run(build)
