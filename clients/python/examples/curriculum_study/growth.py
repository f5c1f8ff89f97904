"""The study of growth, which asks whether an arm that grows needs no range that fits.

    python growth.py                                    # all of it, two trainings at a time, then the report
    python growth.py --part cipher --only grow --seeds 2
    python growth.py --report                           # tables and plots of the figures that are there

docs/studies/growth.md says what is compared and how it is judged, and was written before any training. Finished
trainings are not repeated.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import np_training
import sequences
from growth_plan import CONDITIONS, PARTS
from growth_report import write_report
from np_plan import NP_CONDITIONS, NP_PARTS, PILOT, Problem
from sequence_plan import Condition, Part
from sequence_training import Trained
from sequences import Job, Study, main

from gradus import Client


def _train(client: Client, job: Job, condition: Condition, shares: Sequence[float]) -> Trained:
    if isinstance(job.part.family, Problem):
        return np_training.train(client, job.part, condition, job.seed)
    return sequences.train(client, job, condition, shares)


_PARTS: Mapping[str, Part[Any]] = {**PARTS, **PILOT, **NP_PARTS}
GROWTH = Study("growth", __file__, _PARTS, {**CONDITIONS, **NP_CONDITIONS}, write_report, _train)

if __name__ == "__main__":
    sys.exit(main(study=GROWTH))
