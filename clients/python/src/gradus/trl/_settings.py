"""Converts the `trainer:` block of a run file to settings of TRL."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from gradus.runs import TrainerSettings

_TAKEN = {
    "learning_rate": "learning_rate",
    "optimizer": "optim",
    "schedule": "lr_scheduler_type",
    "gradient_clip": "max_grad_norm",
    "micro_batch_size": "per_device_train_batch_size",
    "checkpoint_every": "save_steps",
    "kl_coefficient": "beta",
    "clip": "epsilon",
    "importance_level": "importance_sampling_level",
    "entropy_coefficient": "entropy_coef",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "completion_length_max": "max_completion_length",
}
"""Settings of the `trainer:` block of a run file, with their names in TRL."""

_OF_GRPO_ALONE = frozenset(["importance_sampling_level", "entropy_coef"])
"""TRL settings that GRPOConfig has and RLOOConfig lacks."""

_OPTIMIZERS = {"adamw": "adamw_torch"}
"""Names of optimizers in TRL, by their names in run files, where these differ."""

_ELSEWHERE = {
    "algorithm": "the trainer's class",
    "model": "the trainer's argument `model`",
    "batch_size": "the run's prompts_per_update",
    "contrast_beta": "Contrast(beta=...)",
    "contrast_coefficient": "Contrast(weight=...)",
    "judge_model": "the server's --judge-model",
    "judge_temperature": "the server's --judge-temperature",
}
"""Where each setting of the `trainer:` block is set, if not in GRPOConfig or RLOOConfig."""


def trainer_settings(trainer: TrainerSettings, config: type | None = None) -> tuple[dict[str, Any], Mapping[str, str]]:
    """Returns the settings that a GRPOConfig or RLOOConfig takes, and the rest.

    Parameters
    ----------
    trainer
        The `trainer:` block of a run, e.g. `spec.run_config.trainer`.
    config
        GRPOConfig or RLOOConfig; None: only settings that both have.

    Returns
    -------
    taken
        Keyword arguments of the configuration.
    left
        Settings that the configuration lacks, each with the place where it is set; "": TRL has no such setting.

    """
    given = {each.name: getattr(trainer, each.name) for each in dataclasses.fields(trainer)}
    given = {name: value for name, value in given.items() if value is not None and value != ""}
    known = None if config is None else {each.name for each in dataclasses.fields(config)}
    taken: dict[str, Any] = {}
    left: dict[str, str] = {}
    for name, value in given.items():
        theirs = _TAKEN.get(name)
        has = theirs is not None and (theirs not in _OF_GRPO_ALONE if known is None else theirs in known)
        if theirs is None or not has:
            left[name] = "spec.config(GRPOConfig, ...)" if theirs and known is None else _ELSEWHERE.get(name, "")
        else:
            taken[theirs] = _OPTIMIZERS.get(value, value) if name == "optimizer" else value
    return taken, left


def words_of(left: Mapping[str, str]) -> str:
    """Returns the settings that `trainer_settings` left over as a text, e.g. for a log."""
    return ", ".join(f"{name} ({place})" if place else f"{name} (TRL has none)" for name, place in left.items())
