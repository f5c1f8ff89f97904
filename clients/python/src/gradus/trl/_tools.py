"""Methods that are tools: TRL's environments want functions, and the server has schemas."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from transformers.utils import get_json_schema

from gradus.rollouts import PolicyTurn
from gradus.tasks import Tool, ToolCall


def method_of(tool: Tool) -> Callable[..., str]:
    """Returns a method for a subclass of `Episode` that makes calls of a tool.

    transformers makes the tool's schema of the method's signature and docstring.

    Raises
    ------
    ValueError
        If no method has the tool's name or schema.

    """
    if tool.name in ("reset", "get_reward") or tool.name.startswith("_") or not tool.name.isidentifier():
        raise ValueError(f"tool {tool.name!r} cannot be a method, as environment_factory wants it: use rollout_func")

    # The server replies to wrong arguments, so all are taken.
    def call(self: Any, /, **arguments: Any) -> str:
        reply: str = self._send(PolicyTurn(tool_calls=(ToolCall("", tool.name, json.dumps(arguments)),)))
        return reply

    schema = json.loads(tool.parameters_json)
    properties, required = schema.get("properties", {}), schema.get("required", ())
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    lines = []
    for name, each in properties.items():
        default = inspect.Parameter.empty if name in required else None
        hint = _hint(each)
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint))
        call.__annotations__[name] = hint
        lines.append(f"    {name}: {each.get('description', '')}")
    for name in ("return", "arguments", "self"):
        call.__annotations__.pop(name, None)
    call.__name__ = call.__qualname__ = tool.name
    call.__doc__ = "\n".join([tool.description, "", *(["Args:", *lines] if lines else [])])
    call.__dict__["__signature__"] = inspect.Signature(parameters)
    if get_json_schema(call) != tool.openai():
        raise ValueError(
            f"tool {tool.name!r} has a schema that no Python signature has, as environment_factory wants it: use "
            "rollout_func"
        )
    return call


_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": type(None),
}


def _hint(schema: Mapping[str, Any]) -> Any:
    """Returns the type of an argument."""
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    kind = schema.get("type")
    if kind == "array" and "items" in schema:
        return list[_hint(schema["items"])]  # type: ignore[misc]
    return _TYPES.get(str(kind), Any)
