"""The study of growth, which asks whether an arm that grows needs no range that fits.

    python growth.py                                    # all of it, two trainings at a time, then the report
    python growth.py --part cipher --only grow --seeds 2
    python growth.py --report                           # tables and plots of the figures that are there

docs/studies/growth.md says what is compared and how it is judged, and was written before any training. Finished
trainings are not repeated.
"""

from __future__ import annotations

import sys

from growth_plan import CONDITIONS, PARTS
from growth_report import write_report
from sequences import Study, main

GROWTH = Study("growth", __file__, PARTS, CONDITIONS, write_report)

if __name__ == "__main__":
    sys.exit(main(study=GROWTH))
