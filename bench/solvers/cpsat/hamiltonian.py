"""Solves np/hamiltonian with OR-Tools CP-SAT, for comparison with the environment's own solver.

Reads JSON lines {"environment", "instance", "value"} from standard input, where the instance has "vertices" and
"adjacency", a matrix of bits with "words" words of 32 bits to a row in "bits". Writes for each a line {"value",
"seconds", "proven"}. One worker, and a time limit per instance in seconds as the only argument (20 unless given); past
it, the value is the longest cycle found. A circuit over the arcs both ways, where a vertex with a loop is left out.
"""

import json
import sys
import time

from ortools.sat.python import cp_model


def neighbours(instance: dict) -> list[list[int]]:
    words, bits = instance["adjacency"]["words"], instance["adjacency"]["bits"]
    vertices = range(instance["vertices"])
    return [[u for u in vertices if bits[v * words + u // 32] >> (u % 32) & 1] for v in vertices]


def solve(instance: dict, limit_s: float) -> dict:
    model = cp_model.CpModel()
    near = neighbours(instance)
    left_out = [model.new_bool_var("") for _ in near]
    arcs = [(v, v, loop) for v, loop in enumerate(left_out)]
    arcs += [(v, u, model.new_bool_var("")) for v, list_ in enumerate(near) for u in list_]
    model.add_circuit(arcs)
    visited = len(near) - sum(left_out)
    # An edge there and back is no cycle.
    model.add(visited >= 3)
    model.maximize(visited)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = limit_s
    start = time.perf_counter()
    status = solver.solve(model)
    seconds = time.perf_counter() - start
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    value = round(solver.objective_value) if found else None
    return {"value": value, "seconds": round(seconds, 6), "proven": status == cp_model.OPTIMAL}


def main() -> None:
    limit_s = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    for line in sys.stdin:
        print(json.dumps(solve(json.loads(line)["instance"], limit_s)), flush=True)


if __name__ == "__main__":
    main()
