"""Reads files with pass rates of rows, for `Run.rate_rows`."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike


class RowRates(dict[int, float]):
    """Pass rates by the rows' numbers in the pool's file, from 0.

    Attributes
    ----------
    pool_digest
        Digest of the pool whose rows these are (`PoolInfo.digest`); "": the file does not contain it.

    """

    pool_digest: str = ""

    def of(self, digests: Iterable[object]) -> RowRates:
        """Returns these rates with the digest of their pool: the only one among the `digests` of the file's rows.

        Without any digest, sets "". Raises ValueError for different digests.
        """
        named = sorted({digest for digest in digests if isinstance(digest, str) and digest})
        if len(named) > 1:
            message = f"its rows are of two pools, with the digests {named[0]} and {named[1]}"
            raise ValueError(message)
        self.pool_digest = named[0] if named else ""
        return self


def read_rates(path: str | PathLike[str], *, pool: str | None = None) -> RowRates:
    """Reads pass rates of a pool's rows from a file, by the rows' numbers in the pool's file, from 0.

    Parameters
    ----------
    path
        CSV with the columns `row` and `pass_rate`, and `pool_digest` if it is there, such as `gradus pools profile`
        writes, or a report.json of `gradus eval` of a suite with rows of a pool.
    pool
        Name of the pool whose rows are read from a report; None: the only pool that has rows in the report.

    Raises
    ------
    ValueError
        The file is neither such a CSV file nor such a report. The message names the line or the field, and what is
        expected.
    OSError
        The file cannot be read.

    """
    # The file may have a byte order mark, which spreadsheets write.
    text = Path(path).read_text(encoding="utf-8-sig")
    try:
        return _of_report(text, pool) if text.lstrip().startswith("{") else _of_csv(text)
    except ValueError as error:
        message = f"{path}: {error}"
        raise ValueError(message) from error


def _is_rate(row: Any, rate: Any) -> bool:
    return isinstance(row, int) and row >= 0 and isinstance(rate, int | float) and 0 <= rate <= 1


def _of_csv(text: str) -> RowRates:
    reader = csv.DictReader(text.splitlines())
    names = [name.strip() for name in reader.fieldnames or ()]
    if "row" not in names or "pass_rate" not in names:
        message = f"line 1: wants the columns row,pass_rate; got {','.join(names)}"
        raise ValueError(message)
    reader.fieldnames = names
    rates = RowRates()
    digests: set[object] = set()
    for line in reader:
        try:
            row, rate = int(line["row"]), float(line["pass_rate"])
        except (TypeError, ValueError):
            row, rate = -1, -1.0
        if not _is_rate(row, rate):
            got = ",".join(str(value) for value in line.values())
            message = f"line {reader.line_num}: wants a row from 0 and a rate in [0, 1]; got {got}"
            raise ValueError(message)
        if row in rates:
            message = f"line {reader.line_num}: row {row} has a rate already"
            raise ValueError(message)
        rates[row] = rate
        digests.add(line.get("pool_digest"))
    return rates.of(digests)


def _of_report(text: str, pool: str | None) -> RowRates:
    all_rows = json.loads(text).get("rows", [])
    rows = [row for row in all_rows if pool is None or row.get("pool") == pool]
    if not rows:
        whose = "any pool" if pool is None else f"pool '{pool}'"
        message = f"the report has no rows of {whose}: evaluate a suite that has such rows"
        raise ValueError(message)
    pools = sorted({str(row.get("pool")) for row in rows})
    if len(pools) > 1:
        message = f"the report has rows of several pools: name one of {', '.join(pools)}"
        raise ValueError(message)
    for i, row in enumerate(rows):
        if not _is_rate(row.get("row"), row.get("pass_rate")):
            message = f"rows[{i}]: wants a row from 0 and a pass_rate in [0, 1]"
            raise ValueError(message)
    rates = RowRates({row["row"]: float(row["pass_rate"]) for row in rows})
    return rates.of(row.get("pool_digest") for row in rows)
