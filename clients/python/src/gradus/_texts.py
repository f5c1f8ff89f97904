"""Texts and ids that a call is given, checked: protobuf takes None for an empty one, and bytes for some."""

from __future__ import annotations

from gradus._values import shown


def check_text(text: str, place: str) -> str:
    """The text; raises TypeError for anything else: protobuf takes None for a text that is empty, and bytes for one."""
    if isinstance(text, str):
        return text
    remedy = {
        "NoneType": "; leave out what has no text, for an empty text is scored as one",
        "bytes": "; decode it",
        "list": "; several completions of a task go together, by Task.group",
    }.get(type(text).__name__, "")
    raise TypeError(f"{place}: want what the policy wrote, as str; got {shown(text)}{remedy}")


def check_id(given: str, place: str) -> str:
    """The id; raises TypeError for anything else: protobuf takes None for an id that is empty."""
    if isinstance(given, str):
        return given
    raise TypeError(f"{place}: want it as str; got {shown(given)}")
