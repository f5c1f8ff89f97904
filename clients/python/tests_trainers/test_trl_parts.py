"""Parts of gradus.trl for which a whole training would be a long way round."""

from __future__ import annotations

from typing import Any

import pytest
import tiny
from trl.chat_template_utils import add_response_schema, parse_response

from gradus.trl._shape import Shape
from gradus.trl._text import texts_of


def first_stall(shape: Shape, prompts_per_update: int, lag: int, steps: int = 60) -> int | None:
    """The optimizer step in which TRL waits for itself, played as it pulls and scores; None: in none so far."""
    pulled = scored = 0
    for step in range(steps):
        for _ in range(step * shape.accumulated, (step + 1) * shape.accumulated + 1):
            last = _ // shape.repeats
            while pulled <= last:
                closed = scored * shape.prompts // prompts_per_update
                if ((pulled + 1) * shape.prompts - 1) // prompts_per_update > closed + lag:
                    return step
                pulled += 1
        scored = -(-(step + 1) * shape.accumulated // shape.repeats)
    return None


@pytest.mark.parametrize("prompts_per_update", [1, 4, 6, 32])
@pytest.mark.parametrize("repeats", [1, 2, 6])
@pytest.mark.parametrize("accumulated", [1, 2, 3, 8])
def test_the_least_lag_is_the_least(accumulated: int, repeats: int, prompts_per_update: int) -> None:
    shape = Shape(4, repeats, accumulated)
    lag = shape.lag_wanted(prompts_per_update)
    assert first_stall(shape, prompts_per_update, lag) is None
    assert first_stall(shape, prompts_per_update, lag - 1) is not None


def test_thoughts_that_a_template_moves_away_are_found_again() -> None:
    vocabulary: Any = tiny.tokenizer()
    vocabulary.chat_template = tiny.qwen3_template()
    vocabulary = add_response_schema(vocabulary)
    text = "<think>\nfour and two\n</think>\n\n<answer>4 + 2</answer>"
    ids = vocabulary(text)["input_ids"]
    parsed = [parse_response(vocabulary, ids)]
    assert "four" not in parsed[0]["content"], "it no longer moves them: this test is to find another template"
    assert texts_of([parsed], [ids], vocabulary) == [text]
    assert texts_of([[{"role": "assistant", "content": text}]], [[]], vocabulary) == [text]
    assert texts_of([text], [[]], vocabulary) == [text]
