"""All uses of undocumented parts of TRL; `check` tests that they exist.

`rollout_func` needs these parts, because TRL gives it no functions to generate or parse completions.
"""

from __future__ import annotations

import inspect
from typing import Any

import transformers
import trl
from trl import GRPOTrainer, chat_template_utils

TESTED = "1.16"
"""Version of TRL with which this file was tested."""

_PARAMETERS = {
    "GRPOTrainer.__init__": {"rollout_func"},
    "GRPOTrainer._generate_single_turn": {"prompt_ids", "images", "multimodal_fields", "num_generations"},
    "parse_response": {"tokenizer", "ids", "prefix", "tools"},
    "add_response_schema": {"processing_class"},
    "get_training_chat_template": {"processing_class"},
}
"""Functions of TRL that this module calls, with the parameters that they must have."""


def check() -> None:
    """Raises ImportError, with the installed version, if a part of TRL is missing or has other parameters."""
    missing = [name for name, wanted in _PARAMETERS.items() if not wanted <= _parameters(name)]
    generate = getattr(GRPOTrainer, "_generate", None)
    if generate is None or "env_mask" not in inspect.getsource(generate):
        missing.append("env_mask of rollout_func")
    if missing:
        raise ImportError(
            f"gradus.trl plays episodes with parts of TRL that the installed TRL {trl.__version__} does not have: "
            f"{', '.join(missing)}; install trl=={TESTED}.*"
        )
    rendering = inspect.signature(transformers.PreTrainedTokenizerBase.apply_chat_template).parameters
    if "sanitize_control_tokens" not in rendering:
        raise ImportError(
            f"the installed transformers {transformers.__version__} reads control tokens in replies, which may repeat "
            "text of the policy: its apply_chat_template has no sanitize_control_tokens; install transformers>=5.23"
        )


def _parameters(name: str) -> set[str]:
    owner = GRPOTrainer if "." in name else chat_template_utils
    function = getattr(owner, name.rpartition(".")[2], None)
    return set() if function is None else set(inspect.signature(function).parameters)


def generate(trainer: Any, prompts: list[list[int]]) -> tuple[list[list[int]], list[list[float]] | None]:
    """Returns the tokens that the policy writes after each prompt, and their log-probabilities; None: not known."""
    ids, logprobs = trainer._generate_single_turn(prompts, None, {}, num_generations=1)
    return ids, logprobs


def end_tokens(trainer: Any) -> set[int]:
    """Returns the tokens that end a completion."""
    return set(trainer.eos_token_ids)


def context_length(trainer: Any) -> int:
    """Returns the maximum number of tokens of a prompt with its completion, 2**31 if the model sets none."""
    if trainer.use_vllm and trainer.vllm_mode == "colocate":
        length: int = trainer.vllm_generation.llm.llm_engine.model_config.max_model_len
        return length
    config = trainer.model.config.get_text_config()
    known: int | None = getattr(config, "max_position_embeddings", None)
    return 2**31 if known is None else known


def parse(tokenizer: Any, ids: list[int], prefix: list[int], tools: list[Any]) -> dict[str, Any]:
    """Returns the chat message of a completion, with its calls of tools. Unreadable calls stay in its text."""
    message: dict[str, Any] = chat_template_utils.parse_response(tokenizer, ids, prefix=prefix, tools=tools)
    return message


def with_parser(tokenizer: Any) -> Any:
    """Returns the tokenizer with a parser of responses; raises ValueError if TRL knows none for its template."""
    for name in ("response_template", "response_schema"):
        if getattr(tokenizer, name, None) is not None:
            return tokenizer
    return chat_template_utils.add_response_schema(tokenizer)


def training_template(tokenizer: Any) -> str | None:
    """Returns a template of TRL to use instead of the tokenizer's own, if that one would change earlier messages.

    None: the tokenizer's own is right. Raises ValueError if TRL has no such template.
    """
    template: str | None = chat_template_utils.get_training_chat_template(tokenizer)
    return template
