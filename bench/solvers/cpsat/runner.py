"""Reads instances as JSONL, solves each by CP-SAT with one worker, and writes value and seconds as JSONL."""

import json
import sys
import time
from typing import Any, Callable

from ortools.sat.python import cp_model


def run(build: Callable[[cp_model.CpModel, Any], None]) -> None:
    """Solves all that stdin holds; `build` puts an instance into a model. Seconds are CPU time of the search alone."""
    for line in sys.stdin:
        instance = json.loads(line)["instance"]
        model = cp_model.CpModel()
        build(model, instance)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        start = time.process_time()
        status = solver.solve(model)
        seconds = time.process_time() - start
        if status != cp_model.OPTIMAL:
            raise RuntimeError(f"not solved: {solver.status_name(status)}")
        print(json.dumps({"value": round(solver.objective_value), "seconds": seconds}))
