"""Makes methods from schemas of tools, because TRL's environments take tools as methods."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from transformers.utils import get_json_schema

from gradus.rollouts import PolicyTurn
from gradus.tasks import Tool, ToolCall


def method_of(tool: Tool) -> Callable[..., str]:
    """Returns a method for a subclass of `Episode` that calls a tool.

    transformers makes the tool's schema from the method's signature and docstring. An argument without a description
    gets one.

    Raises
    ------
    ValueError
        If no method can have the tool's name or schema.

    """
    if tool.name in ("reset", "get_reward") or tool.name.startswith("_") or not tool.name.isidentifier():
        raise ValueError(f"tool {tool.name!r} cannot be a method, which environment_factory needs: use rollout_func")

    # Accept any arguments: the server tells the policy which ones are wrong.
    def call(self: Any, /, **arguments: Any) -> str:
        reply: str = self._send(PolicyTurn(tool_calls=(ToolCall("", tool.name, json.dumps(arguments)),)))
        return reply

    wanted = tool.openai()
    schema = wanted["function"]["parameters"]
    properties, required = schema.get("properties", {}), schema.get("required", ())
    # Positional-only parameters, because only their names may be keywords of Python, such as "from".
    kind = inspect.Parameter.POSITIONAL_ONLY
    parameters, lines = [inspect.Parameter("self", kind)], []
    for name, each in properties.items():
        # Add a description to each argument, because transformers requires one.
        each.setdefault("description", f"The {name}.")
        call.__annotations__[name] = _hint(each)
        lines.append(f"    {name}: {each['description']}")
    for name in sorted(properties, key=lambda name: name not in required):
        default = inspect.Parameter.empty if name in required else None
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=call.__annotations__[name]))
    for name in ("return", "arguments", "self"):
        call.__annotations__.pop(name, None)
    call.__name__ = call.__qualname__ = tool.name
    call.__doc__ = "\n".join([tool.description, "", *(["Args:", *lines] if lines else [])])
    call.__dict__["__signature__"] = inspect.Signature(parameters)
    if get_json_schema(call) != wanted:
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
    """Returns the Python type for the JSON Schema of an argument."""
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    kind = schema.get("type")
    if kind == "array" and "items" in schema:
        return list[_hint(schema["items"])]  # type: ignore[misc]
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return dict[str, _hint(schema["additionalProperties"])]  # type: ignore[misc]
    return _TYPES.get(str(kind), Any)
