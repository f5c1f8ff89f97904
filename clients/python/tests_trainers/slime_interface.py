"""Stand-in for slime, which is on no package index: the names that gradus.slime imports, and slime's calls to it.

Read from github.com/THUDM/slime: slime/rollout/data_source.py at 018ff18f78c4, slime/utils/types.py at 0d234f3e3a83,
slime/rollout/sglang_rollout.py at 0044b40d6584, slime/rollout/rm_hub/__init__.py at 0b420f1ef416. An installed
slime's own modules are used instead.
"""

from __future__ import annotations

import abc
import asyncio
import importlib
import importlib.util
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from types import ModuleType
from typing import Any

from tiny import tokenizer


class DataSource(abc.ABC):
    """The five methods that a data source must have."""

    @abc.abstractmethod
    def get_samples(self, num_samples: int) -> Any: ...

    @abc.abstractmethod
    def add_samples(self, samples: Any) -> Any: ...

    @abc.abstractmethod
    def save(self, rollout_id: Any) -> Any: ...

    @abc.abstractmethod
    def load(self, rollout_id: Any = None) -> Any: ...

    @abc.abstractmethod
    def __len__(self) -> int: ...


@dataclass
class Sample:
    """The fields of slime's sample that are written or read here."""

    class Status(Enum):
        PENDING = "pending"
        COMPLETED = "completed"
        TRUNCATED = "truncated"
        ABORTED = "aborted"
        FAILED = "failed"

    group_index: int | None = None
    index: int | None = None
    prompt: Any = ""
    response: str = ""
    label: str | None = None
    reward: Any = None
    remove_sample: bool = False
    status: Status = Status.PENDING
    metadata: dict[str, Any] = field(default_factory=dict)
    tokens: list[int] = field(default_factory=list)
    response_length: int = 0
    loss_mask: list[int] | None = None
    rollout_log_probs: list[float] | None = None


class GenerateState:
    """The part of the rollout's state that is read here."""

    tokenizer: Any = None

    def __init__(self, args: Any) -> None:
        self.args = args


def install() -> None:
    """Makes the names importable, unless slime is installed."""
    if "slime" in sys.modules or importlib.util.find_spec("slime") is not None:
        return
    names: dict[str, dict[str, Any]] = {
        "slime": {},
        "slime.rollout": {},
        "slime.rollout.data_source": {"DataSource": DataSource},
        "slime.rollout.sglang_rollout": {"GenerateState": GenerateState},
        "slime.utils": {},
        "slime.utils.http_utils": {"post": None},
        "slime.utils.processing_utils": {"load_tokenizer": lambda path, **_: tokenizer()},
        "slime.utils.types": {"Sample": Sample},
    }
    for name, contents in names.items():
        module = ModuleType(name)
        module.__dict__.update(contents)
        sys.modules[name] = module


def arguments(prompt_data: str, folder: str, **others: Any) -> Namespace:
    """Returns slime's arguments, with those of the guide."""
    lines: dict[str, Any] = {
        "data_source_path": "gradus.slime.RunDataSource",
        "custom_rm_path": "gradus.slime.reward",
        "prompt_data": prompt_data,
        "group_rm": True,
        "apply_chat_template": True,
        "apply_chat_template_kwargs": None,
        "hf_checkpoint": "characters",
        "n_samples_per_prompt": 4,
        "rollout_batch_size": 4,
        "over_sampling_batch_size": 4,
        "num_rollout": 8,
        "dynamic_sampling_filter_path": None,
        "partial_rollout": False,
        "save": folder,
        "load": folder,
    }
    return Namespace(**(lines | others))


def load_function(path: str) -> Any:
    """Returns the object that an argument of slime names by its path."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def rollout(args: Namespace, source: Any, write: Callable[[Any, int], str]) -> list[list[Any]]:
    """Runs one rollout: gets groups, generates their samples concurrently, and scores by group or by sample."""

    async def one(group: list[Any]) -> list[Any]:
        reward = load_function(args.custom_rm_path)
        for place, sample in enumerate(group):
            sample.response = write(sample, place)
            sample.status = type(sample.status).COMPLETED
        if args.group_rm:
            for sample, each in zip(group, await reward(args, group), strict=False):
                sample.reward = each
        else:
            for sample in group:
                sample.reward = await reward(args, sample)
        return group

    async def all_of(groups: list[list[Any]]) -> list[list[Any]]:
        return sorted(await asyncio.gather(*map(one, groups)), key=lambda group: group[0].index)

    return asyncio.run(all_of(source.get_samples(args.over_sampling_batch_size)))
