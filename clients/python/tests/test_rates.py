"""Test reading pass rates of rows from files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import gradus

if TYPE_CHECKING:
    from pathlib import Path


def rated(pool: str, row: float, rate: float) -> dict[str, Any]:
    return {"pool": pool, "row": row, "samples": 4, "pass_rate": rate}


def report(*rows: dict[str, Any]) -> str:
    return json.dumps({"report": {}, "rows": rows})


def read(folder: Path, text: str, **options: Any) -> dict[int, float]:
    file = folder / "rates"
    file.write_text(text, encoding="utf-8")
    return gradus.read_rates(file, **options)


def test_csv_is_read_by_its_columns_names(tmp_path: Path) -> None:
    assert read(tmp_path, "row,pass_rate\n3,0.25\n\n0,1\n") == {3: 0.25, 0: 1.0}
    assert read(tmp_path, "pass_rate, note ,row\r\n0.5,x,7\r\n") == {7: 0.5}
    assert read(tmp_path, "\ufeffrow,pass_rate\n3,0.25\n") == {3: 0.25}


def test_a_report_has_the_rows_of_its_suite(tmp_path: Path) -> None:
    assert read(tmp_path, report(rated("a", 3, 0.5), rated("a", 4, 0))) == {3: 0.5, 4: 0.0}
    two = report(rated("a", 3, 0.5), rated("b", 3, 1))
    assert read(tmp_path, two, pool="b") == {3: 1.0}
    with pytest.raises(ValueError, match="rows of several pools: name one of a, b"):
        read(tmp_path, two)
    with pytest.raises(ValueError, match="no rows of pool 'c'"):
        read(tmp_path, two, pool="c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("row,rate\n1,1", r"line 1: wants the columns row,pass_rate; got row,rate"),
        ("row,pass_rate\n0,1\n1,1.5", r"line 3: wants a row from 0 and a rate in \[0, 1\]; got 1,1.5"),
        ("row,pass_rate\n-1,0.5", r"line 2: wants a row from 0"),
        ("row,pass_rate\n1,", r"line 2: wants a row from 0"),
        ("row,pass_rate\n1", r"line 2: wants a row from 0"),
        ("row,pass_rate\n1,0.5\n1,0.6", r"line 3: row 1 has a rate already"),
        ("{", r"rates: .*"),
        (report(), r"the report has no rows of any pool"),
        (report(rated("a", 0.5, 1)), r"rows\[0\]: wants a row from 0 and a pass_rate in \[0, 1\]"),
    ],
)
def test_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text)
