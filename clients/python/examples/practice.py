"""Measures how much practice changes an arm's success, by which `frontier`'s practice_scale should be set.

    python practice.py adsc adsc-vanilla-rloo --server localhost:50051      # runs, by their ids

The frontier policy counts an arm's practice: the sum of q(1 - q) over its closed groups, where q is the solved share.
The count starts again when success has changed by 0.15. At a practice of `practice_scale` the arm's interest is halved.
So the scale should be about the practice that the model's arms need for such a change.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence

from gradus import Client, Run

_RATE, _SETTLED, _MOVED = 0.02, 8.0, 0.15
"""Rate of the slow average, groups before it counts, and how far a move is: server/curriculum/policies/frontier.ts."""


def practice_until_moved(shares: Iterable[float]) -> list[float]:
    """Returns the practice before each change of success, from the solved shares of one arm's groups, in order.

    Practice after the last change is left out. An arm whose success never changes gives an empty list.
    """
    total = count = practice = 0.0
    reference: float | None = None
    stretches: list[float] = []
    for share in shares:
        total = (1 - _RATE) * total + share
        count = (1 - _RATE) * count + 1
        practice += share * (1 - share)
        level = (total + 0.5) / (count + 1)
        if reference is None:
            reference = level if count > _SETTLED else None
        elif abs(level - reference) > _MOVED:
            stretches.append(practice)
            reference, practice = level, 0.0
    return stretches


def shares_by_arm(run: Run) -> dict[str, list[float]]:
    """Returns the solved share of each closed group of a run, by arm, in cursor order."""
    info = run.get()
    found: dict[str, list[float]] = {arm.arm_id: [] for arm in info.config.arms}
    for batch in range(info.state.batches_closed):
        for group in run.groups(batch):
            rewarded = [sample for sample in group.samples if sample.reward is not None]
            if group.closed and rewarded:
                found[group.arm_id].append(sum(sample.solved for sample in rewarded) / len(rewarded))
    return found


def table(shares: Mapping[str, Sequence[float]]) -> str:
    """Returns a table of each arm's groups, first and last success, and practice before changes."""
    lines = [f"{'arm':<16}{'groups':>8}{'first':>8}{'last':>8}  practice until success moved by 0.15"]
    for arm, own in shares.items():
        if not own:
            lines.append(f"{arm:<16}{0:>8}")
            continue
        some = max(1, len(own) // 10)
        first, last = sum(own[:some]) / some, sum(own[-some:]) / some
        stretches = ", ".join(f"{each:.0f}" for each in practice_until_moved(own)) or "it did not move"
        lines.append(f"{arm:<16}{len(own):>8}{first:>8.2f}{last:>8.2f}  {stretches}")
    return "\n".join(lines)


def report(run: Run) -> str:
    """Returns a report on a run: its arms, the success in each, and the practice before each change of success."""
    shares = shares_by_arm(run)
    groups = max(1, sum(map(len, shares.values())))
    drawn = ", ".join(f"{arm} {len(own) / groups:.0%}" for arm, own in shares.items())
    return f"{run.run_id}: {run.get().state.batches_closed} update batches\ndrawn: {drawn}\n{table(shares)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the states of runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", help="ids of runs")
    parser.add_argument("--server", default="localhost:50051")
    options = parser.parse_args(arguments)
    with Client(options.server) as client:
        for run_id in options.runs:
            print(report(client.run(run_id)), flush=True)


if __name__ == "__main__":
    main()
