"""Reads instances as JSONL and writes a digest of each one's canonical form: equal exactly for relabelled twins.

Graphs are labelled by bliss, as igraph brings it along (Junttila and Kaski, "Engineering an efficient canonical
labeling tool for large and sparse graphs", 2007). It knows colours of vertices, not of edges: an edge with a weight
becomes a vertex of that weight's colour between two edges.
"""

import hashlib
import json
import sys
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import igraph

Edge = tuple[int, int]


def labelled(kinds: Sequence[Hashable], edges: Iterable[Edge]) -> object:
    """The canonical form of a graph whose vertices are of these kinds."""
    ranks = {kind: rank for rank, kind in enumerate(sorted(set(kinds), key=repr))}
    graph = igraph.Graph(n=len(kinds), edges=list(edges))
    colors = [ranks[kind] for kind in kinds]
    permutation = graph.canonical_permutation(color=colors)
    form = graph.permute_vertices(permutation)
    return [sorted(map(repr, kinds)), sorted(sorted(edge) for edge in form.get_edgelist())]


def weighted(vertices: int, edges: Iterable[tuple[int, int, int]]) -> object:
    kinds: list[Hashable] = [-1] * vertices
    halves: list[Edge] = []
    for a, b, weight in edges:
        halves += [(a, len(kinds)), (len(kinds), b)]
        kinds.append(weight)
    return labelled(kinds, halves)


def graph(task: Any) -> object:
    return labelled([0] * task["vertices"], task["edges"])


def bisection(task: Any) -> object:
    return weighted(task["vertices"], task["edges"])


def tsp(task: Any) -> object:
    rows = task["distances"]
    return weighted(len(rows), ((a, b, rows[a][b]) for a in range(len(rows)) for b in range(a)))


def set_cover(task: Any) -> object:
    count = len(task["subsets"])
    kinds = ["subset"] * count + ["element"] * task["elements"]
    return labelled(kinds, [(i, count + element) for i, subset in enumerate(task["subsets"]) for element in subset])


def meetings(task: Any) -> object:
    people = [("person", *((each["start"], each["end"]) for each in day)) for day in task["availability"]]
    kinds = [*people, *(("meeting", each["minutes"]) for each in task["meetings"])]
    attends = [(who, len(people) + i) for i, each in enumerate(task["meetings"]) for who in each["attendees"]]
    return [labelled(kinds, attends), sorted(task["rooms"])]


def knapsack(task: Any) -> object:
    return [task["capacity"], sorted(zip(task["weights"], task["values"], strict=True))]


def numbers(task: Any) -> object:
    return [task["target"], sorted(task["numbers"])]


def arithmetic(task: Any) -> object:
    return expression(task["expression"])


def expression(part: Any) -> object:
    kind = part["kind"]
    if "left" not in part:
        return [
            kind,
            *([key, expression(below) if isinstance(below, dict) else below] for key, below in part.items()),
        ]
    if kind in ("difference", "quotient"):
        return [kind, expression(part["left"]), expression(part["right"])]
    return [kind, *sorted(map(repr, map(expression, operands(part, kind))))]


def operands(part: Any, kind: str) -> list[Any]:
    """Of sums of sums all that is added, and of products of products all that is multiplied."""
    if part["kind"] != kind:
        return [part]
    return operands(part["left"], kind) + operands(part["right"], kind)


def linear(task: Any) -> object:
    kinds: list[Hashable] = ["unknown"] * len(task["names"])
    edges: list[Edge] = []

    def add(kind: Hashable, above: int | None = None) -> int:
        kinds.append(kind)
        if above is not None:
            edges.append((above, len(kinds) - 1))
        return len(kinds) - 1

    def add_term(term: Any, above: int) -> None:
        if term["kind"] == "constant":
            add(("constant", repr(term["value"])), above)
        elif term["kind"] == "unknown":
            edges.append((add(("unknown", repr(term["coefficient"])), above), term["index"]))
        else:
            group = add(("group", repr(term["factor"])), above)
            for inner in term["terms"]:
                add_term(inner, group)

    for statement in task["statements"]:
        relation = statement["relation"]
        own = add(("statement", relation.replace(">", "<")))
        for side in ("left", "right"):
            low = relation != "=" and (side == "left") == relation.startswith("<")
            place = add(("side", relation == "=", low), own)
            for term in statement[side]:
                add_term(term, place)
    return labelled(kinds, edges)


FORMS = {
    "math/arithmetic": arithmetic,
    "math/linear": linear,
    "countdown": numbers,
    "np/bisection": bisection,
    "np/clique": graph,
    "np/coloring": graph,
    "np/hamiltonian": graph,
    "np/independent-set": graph,
    "np/knapsack": knapsack,
    "np/meetings": meetings,
    "np/set-cover": set_cover,
    "np/subset-sum": numbers,
    "np/tsp": tsp,
}

form = FORMS[sys.argv[1]]
for line in sys.stdin:
    print(hashlib.sha256(json.dumps(form(json.loads(line))).encode()).hexdigest()[:32])
