"""Replaces parts of completions that UTF-8 cannot hold.

A Python string may hold half of a UTF-16 surrogate pair, and a careless tokenizer writes one. No right answer has such
a half, so a replacement changes no reward. The client replaces the half and only warns, because one odd token must not
end a training.
"""

from __future__ import annotations

from gradus._arguments import check_text
from gradus._warn import warn
from gradus.errors import SurrogateWarning


def sendable(text: str, place: str, owner: str = "") -> str:
    """Returns the text for UTF-8.

    Two adjacent halves become their character, and each lone half becomes U+FFFD.

    Parameters
    ----------
    text
        Text of the policy.
    place
        Names the sample in the error and in the warning, e.g. "text of sample 3".
    owner
        Name of the group or task of the sample, for the warning, e.g. "group abc"; "": the warning names none.

    Raises
    ------
    TypeError
        If the text is not a str.

    Warns
    -----
    SurrogateWarning
        If the text had to be changed.

    """
    try:
        check_text(text, place).encode()
    except UnicodeEncodeError as error:
        sample = f"{place} of {owner}" if owner else place
        half = f"U+{ord(text[error.start]):04X}"
        warn(
            f"{sample}: character {error.start} is half of a surrogate pair ({half}), which UTF-8 cannot hold: a lone "
            "half is scored as U+FFFD. Have the tokenizer replace what it cannot decode",
            SurrogateWarning,
        )
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
