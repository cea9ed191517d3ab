"""Moves a warehouse: queries of a file are read, written in several dialects, and optimised."""

import logging
import sys
from pathlib import Path

from sqlglot import parse_one  # type: ignore[import-not-found]
from sqlglot.optimizer import optimize  # type: ignore[import-not-found]
from tests.helpers import TPCDS_SCHEMA, TPCH_SCHEMA  # type: ignore

FIXTURES = Path("tests/fixtures/optimizer")
DIALECTS = ("duckdb", "bigquery", "snowflake", "tsql")
SCHEMAS = {"tpc-h": TPCH_SCHEMA, "tpc-ds": TPCDS_SCHEMA}


def main(name: str, most: int) -> None:
    """The first queries of a fixture, which has each as it was written and as it is when it is optimised."""
    logging.disable()
    lines = (FIXTURES / name / f"{name}.sql").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith(("#", "--")))
    for written in text.split(";")[: 2 * most : 2]:
        query = parse_one(written)
        for dialect in DIALECTS:
            query.sql(dialect=dialect, pretty=True)
        optimize(query, schema=SCHEMAS[name])


main(sys.argv[1], int(sys.argv[2]))
