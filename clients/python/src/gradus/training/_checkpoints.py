"""Saves and restores a run with a trainer's checkpoint.

A trainer that returns to a checkpoint trains on the same tasks again only if the run returns too. Otherwise the run
would count the same training twice, and other tasks would follow.
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
    """Data of a run in a checkpoint; it can be pickled.

    `state` is the exported state of the whole run, and `cursor` the position of the handle that reads its tasks.
    """

    run_id: str
    cursor: int
    incarnation: str
    version: int
    state: bytes


def checkpoint_of(run: Run) -> RunCheckpoint:
    """Returns the run's present state, and the position of its handle."""
    # Read the version before the export. If the run changes in between, `restore` sees another version, and imports the
    # run.
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
    """Restores the position of the run's handle, and the run's state if the run has changed since or was deleted.

    Returns whether it restored the run. Tasks that were issued before then no longer count ("stale_epoch"). Changes by
    an operator (pause, weights, policy, arms, shape) stay; see `leave_old_shape`.

    Raises
    ------
    ValueError
        If the checkpoint is of another run.

    """
    if saved["run_id"] != run.run_id:
        raise ValueError(
            f"the checkpoint is of run {saved['run_id']!r}, and the configuration names {run.run_id!r}: "
            "name the checkpoint's run, or begin without the checkpoint"
        )
    moved = not _stands_there(_state(run), saved)
    if moved:
        retry_while_away(lambda: run.import_state(saved["state"], timeout=PATIENCE_SECONDS), PATIENCE_SECONDS)
    run.cursor = leave_old_shape(run, saved["cursor"]) if moved else saved["cursor"]
    return moved


def leave_old_shape(run: Run, cursor: int) -> int:
    """Closes open groups of a shape that the run no longer has. Returns the cursor from which to continue.

    A checkpoint contains groups that were issued and not scored. If `Run.update_shape` has since changed
    num_generations or prompts_per_update, a trainer of the new shape cannot complete such a group or its update batch.

    Parameters
    ----------
    run
        The run, after its state was imported.
    cursor
        Position from which the trainer would continue, in tasks.

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
        words = f"{len(old)} groups of run {run.run_id!r} were issued with sizes that it no longer has, and are closed"
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
    """Writes a checkpoint to a file, as a whole or not at all."""
    text = json.dumps({**saved, "state": state_to_text(saved["state"])})
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.write_text(text)
    unfinished.replace(path)


def read_checkpoint(path: Path) -> RunCheckpoint:
    """Reads the checkpoint that `write_checkpoint` wrote."""
    read: dict[str, Any] = json.loads(path.read_text())
    return RunCheckpoint(
        run_id=read["run_id"],
        cursor=read["cursor"],
        incarnation=read["incarnation"],
        version=read["version"],
        state=state_from_text(read["state"]),
    )


def state_to_text(state: bytes) -> str:
    """Returns an exported state as text, for JSON."""
    return base64.b64encode(zlib.compress(state)).decode()


def state_from_text(text: str) -> bytes:
    """Returns the state from the text of `state_to_text`."""
    return zlib.decompress(base64.b64decode(text))


def retry_while_away(work: Callable[[], object], patience: float) -> None:
    """Calls `work`, and again every second while the server cannot be reached, for up to `patience` seconds.

    Use it for calls that the client does not retry because a second call has another effect, if that effect is
    harmless.
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
