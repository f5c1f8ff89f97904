"""Callback of a training: checks settings, exports the run with each checkpoint, and restores it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from accelerate import PartialState
from transformers import TrainerCallback, set_seed
from transformers.trainer_callback import ExportableState

from gradus._warn import warn
from gradus.trl._training import Training

_STEPS_APART = 100_003
"""Distance between the seeds of successive steps, above any number of ranks, so that no two steps share a seed."""


class GradusCallback(TrainerCallback, ExportableState):
    """TrainerCallback of a `GradusSpec`, which lists it in `callbacks`.

    The run's state is part of the checkpoint's trainer_state.json. So a checkpoint always contains the run, even after
    a kill, and can be moved.
    """

    def __init__(self, training: Training, reproducible: bool) -> None:
        self._training = training
        self._reproducible = reproducible
        self._step = 0

    def on_init_end(self, args: Any, state: Any, control: Any, processing_class: Any = None, **_: Any) -> None:
        """Checks the trainer's settings, and stores those that scoring needs."""
        self._training.connect(args, processing_class)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Moves the run to the trainer's position: the beginning of the run, or that of the checkpoint.

        Does nothing after a finished training, and stops the trainer, which would otherwise make another step and
        checkpoint at each start of its script.
        """
        if 0 < state.max_steps <= state.global_step:
            control.should_training_stop = True
            if state.is_world_process_zero:
                warn(_done(state), UserWarning)
            return
        saved = state.stateful_callbacks[type(self).__name__]["attributes"] if state.global_step else None
        if state.global_step and not saved:
            raise ValueError(
                f"the checkpoint of step {state.global_step} has no state of a run: it was made without the callbacks "
                "of a GradusSpec"
            )
        self._step = self._training.rewards.step = state.global_step
        on_one_rank(lambda: self._training.place_run(saved), state.is_world_process_zero)
        self._training.begin(self._step, saved)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ends the training: readers of the data set then get similar tasks that do not belong to the run."""
        self._training.is_training = False

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Seeds the random generators for the step, if sampling must be the same after a resume."""
        if self._reproducible:
            set_seed((args.seed + state.global_step * _STEPS_APART + args.process_index) % 2**32)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Counts a finished optimizer step."""
        self._step = self._training.rewards.step = state.global_step

    def state(self) -> dict[str, Any]:
        """Returns the run's data for a checkpoint; empty before a training."""
        return {"args": {}, "attributes": self._training.save(self._step)}


def _done(state: Any) -> str:
    return (
        f"this training is complete: it continues from the checkpoint of step {state.global_step}, and max_steps is "
        f"{state.max_steps}. Nothing is trained, and the run does not change. To train on, set a greater max_steps; to "
        "begin again, name another run_id and another output_dir"
    )


def on_one_rank(work: Callable[[], object], is_first: bool) -> None:
    """Calls `work` on the first rank, while the others wait for its end."""
    if is_first:
        work()
    PartialState().wait_for_everyone()


def last_checkpoint(output_dir: str) -> str | None:
    """Returns the newest complete checkpoint with a run's state in a folder; None: there is none.

    A trainer that is killed while it saves leaves an incomplete checkpoint, which `resume_from_checkpoint=True` would
    use.
    """
    # Folders with other names, e.g. checkpoint-best, belong to the user.
    numbered = ((re.fullmatch(r"checkpoint-(\d+)", each.name), each) for each in Path(output_dir).glob("checkpoint-*"))
    folders = {int(name[1]): folder for name, folder in numbered if name}
    return next((str(folders[step]) for step in sorted(folders, reverse=True) if _is_whole(folders[step])), None)


def _is_whole(folder: Path) -> bool:
    try:
        state = json.loads((folder / "trainer_state.json").read_text())
    except (OSError, ValueError):
        return False
    return GradusCallback.__name__ in state.get("stateful_callbacks", {})
