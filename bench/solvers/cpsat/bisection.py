"""Solves np/bisection with OR-Tools CP-SAT, for comparison with the environment's own solver.

Reads JSON lines {"environment", "instance", "value"} from standard input, where the instance has "vertices" and
"edges", each with "a", "b" and "weight". Writes for each a line {"value", "seconds", "proven"}. One worker, and a time
limit per instance in seconds as the only argument (20 unless given); past it, the value is the best cut found.
"""

import json
import sys
import time

from ortools.sat.python import cp_model


def solve(instance: dict, limit_s: float) -> dict:
    model = cp_model.CpModel()
    vertices = instance["vertices"]
    side = [model.new_bool_var("") for _ in range(vertices)]
    # Sides have no names: vertex 0 is on the first, which has the vertex more or less where the count is odd.
    model.add(side[0] == 1)
    model.add_linear_constraint(sum(side), vertices // 2, (vertices + 1) // 2)
    cost = []
    for edge in instance["edges"]:
        cut = model.new_bool_var("")
        a, b = side[edge["a"]], side[edge["b"]]
        model.add_bool_or(a.negated(), b, cut)
        model.add_bool_or(a, b.negated(), cut)
        cost.append(edge["weight"] * cut)
    model.minimize(sum(cost))
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
