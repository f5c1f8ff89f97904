"""Reads instances as JSONL, solves each by CP-SAT with one worker, and writes value and seconds as JSONL."""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from ortools.sat.python import cp_model


def run(build: Callable[[cp_model.CpModel, Any], None]) -> None:
    """Solves each line of stdin before it reads the next; `build` puts an instance into a model.

    Seconds are those that CP-SAT says it took, or the CPU time of the call if that is less (as on a busy machine): in
    both, making the model does not count. An argument limits the seconds for an instance; the value of one that is not
    proven by then is null.
    """
    for line in sys.stdin:
        model = cp_model.CpModel()
        build(model, json.loads(line))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        if len(sys.argv) > 1:
            solver.parameters.max_time_in_seconds = float(sys.argv[1])
        start = time.process_time()
        status = solver.solve(model)
        seconds = min(time.process_time() - start, solver.wall_time)
        solved = status == cp_model.OPTIMAL
        if not solved and len(sys.argv) == 1:
            raise RuntimeError(f"not solved: {solver.status_name(status)}")
        value = round(solver.objective_value) if solved else None
        print(json.dumps({"value": value, "seconds": seconds}), flush=True)
