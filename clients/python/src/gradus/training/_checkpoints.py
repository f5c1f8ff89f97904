"""A run in a trainer's checkpoint.

A trainer that goes back to a checkpoint trains on the same tasks again only if the run goes back too: what it learnt
after the checkpoint would otherwise count twice, and the tasks that follow would be others.
"""

from __future__ import annotations

import base64
import json
import logging
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

from gradus.client import Run
from gradus.errors import NotFoundError, UnavailableError
from gradus.runs import RunState
from gradus.training._references import PATIENCE_SECONDS


class RunCheckpoint(TypedDict):
    """What a checkpoint holds of a run; it pickles. `state` is the whole run, `cursor` the reader's position."""

    run_id: str
    cursor: int
    incarnation: str
    version: int
    state: bytes


def checkpoint_of(run: Run) -> RunCheckpoint:
    """The run as it stands, and the position of its handle."""
    # The state is read first: if the run moves on in between, the version is found to differ, and the run is put back.
    before = run.get().state
    state = run.export_state()
    return RunCheckpoint(
        run_id=run.run_id,
        cursor=before.first_open_cursor if run.cursor is None else run.cursor,
        incarnation=before.incarnation,
        version=before.version,
        state=state,
    )


def restore(run: Run, saved: RunCheckpoint) -> bool:
    """Puts what the run learned back to where it stood, if the run moved on since or is gone, and the handle too.

    Gives whether it was put back. Tasks that were given out before then count no more ("stale_epoch"). What an operator
    changed since (pause, weights, policy, arms, shape) stays changed; see `leave_old_shape`.

    Raises
    ------
    ValueError
        If the checkpoint is another run's.

    """
    if saved["run_id"] != run.run_id:
        raise ValueError(
            f"the checkpoint is of run {saved['run_id']!r}, and the configuration names {run.run_id!r}: "
            "train on with the one, or begin a checkpoint of the other"
        )
    moved = not _stands_there(_state(run), saved)
    if moved:
        retry_while_away(lambda: run.import_state(saved["state"], timeout=PATIENCE_SECONDS), PATIENCE_SECONDS)
    run.cursor = leave_old_shape(run, saved["cursor"]) if moved else saved["cursor"]
    return moved


def leave_old_shape(run: Run, cursor: int) -> int:
    """Closes open groups of a shape that the run has no more, and gives the cursor at which to go on.

    A checkpoint holds groups that were given out and not scored. If `Run.update_shape` changed num_generations or
    prompts_per_update since, a trainer of the new shape can't make such a group or its update batch whole.

    Parameters
    ----------
    run
        The run, after its state was imported.
    cursor
        Where the trainer would go on, in tasks.

    """
    config = run.get(timeout=PATIENCE_SECONDS).config_now
    opened = list(run.groups("open"))
    old = [each for each in opened if len(each.missing) + len(each.samples) != config.num_generations]
    ahead = [each for each in opened if each.cursor >= cursor]
    sizes = Counter(each.update_batch for each in ahead)
    if config.dynamic_sampling is None:
        # The last batch of a run may be smaller.
        ends = {each.update_batch for each in ahead if each.cursor + 1 == config.length}
        odd = {batch for batch, size in sizes.items() if size != config.prompts_per_update and batch not in ends}
        old += [each for each in ahead if each.update_batch in odd and each not in old]
    if old:
        words = f"{len(old)} groups of run {run.run_id!r} were given out in a shape that it has no more, and are closed"
        logging.getLogger("gradus").warning(words)
        run.close_groups([each.group_id for each in old], "the run's shape was changed while the trainer was stopped")
    return max(cursor, run.get(timeout=PATIENCE_SECONDS).state.first_open_cursor)


def _state(run: Run) -> RunState | None:
    try:
        return run.get(timeout=PATIENCE_SECONDS).state
    except NotFoundError:
        return None


def _stands_there(state: RunState | None, saved: RunCheckpoint) -> bool:
    return state is not None and (state.incarnation, state.version) == (saved["incarnation"], saved["version"])


def write_checkpoint(path: Path, saved: RunCheckpoint) -> None:
    """Writes it into a file, whole or not at all."""
    text = json.dumps({**saved, "state": state_to_text(saved["state"])})
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.write_text(text)
    unfinished.replace(path)


def read_checkpoint(path: Path) -> RunCheckpoint:
    """What `write_checkpoint` wrote."""
    read: dict[str, Any] = json.loads(path.read_text())
    return RunCheckpoint(
        run_id=read["run_id"],
        cursor=read["cursor"],
        incarnation=read["incarnation"],
        version=read["version"],
        state=state_from_text(read["state"]),
    )


def state_to_text(state: bytes) -> str:
    """A run's exported state as text, for JSON."""
    return base64.b64encode(zlib.compress(state)).decode()


def state_from_text(text: str) -> bytes:
    """The state that `state_to_text` was given."""
    return zlib.decompress(base64.b64decode(text))


def retry_while_away(work: Callable[[], object], patience: float) -> None:
    """Does something again for so many seconds as long as the server is away.

    For what calls make once only, since it does more when it is made twice, and where that does no harm.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            work()
        except UnavailableError:
            if time.monotonic() > deadline:
                raise
            time.sleep(1)
        else:
            return
