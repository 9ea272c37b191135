"""Reads tables with pypaimon, and Parquet files with pyarrow and DuckDB, for the interop suite.

One JSON request a line on stdin, one JSON answer a line on stdout, as `oracle serve` does; values as in ../oracle/README.md.
"""
import decimal
import json
import os
import sys
import time

os.environ["TZ"] = "UTC"  # before any engine looks: timestamps are shown in UTC
time.tzset()
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pypaimon_read


def rows(arrow, digits):
    """Rows of an Arrow table in its order. digits: sub-second digits of TIME and TIMESTAMP columns, by name."""
    columns = [
        [pypaimon_read.to_json(v, f.type, digits.get(f.name)) for v in arrow[f.name].to_pylist()] for f in arrow.schema
    ]
    return [dict(zip(arrow.schema.names, values)) for values in zip(*columns)]


def read_table(request):
    return pypaimon_read.read(request["warehouse"], request["db"], request["table"], **request.get("options", {}))


def read_parquet(request):
    path, digits = request["path"], request.get("digits", {})
    if request["engine"] == "pyarrow":
        # A file handle: pyarrow would take `bucket=1` in a path for a partition column.
        with open(path, "rb") as file:
            return rows(pq.ParquetFile(file).read(), digits)
    with duckdb.connect() as connection:
        return rows(connection.execute("SELECT * FROM read_parquet(?, hive_partitioning = false)", [path]).to_arrow_table(), digits)


def bound(stats, side, kind):
    """pyarrow shows statistics of DECIMAL as stored only."""
    if not pa.types.is_decimal(kind):
        return getattr(stats, side)
    raw = getattr(stats, side + "_raw")
    unscaled = int.from_bytes(raw, "big", signed=True) if isinstance(raw, bytes) else raw
    return decimal.Decimal(unscaled).scaleb(-kind.scale)


def check_parquet(request):
    """Reads every page with its checksum, and compares the statistics of each row group with the values."""
    problems, statistics, indexes = [], 0, 0
    with open(request["path"], "rb") as handle:
        file = pq.ParquetFile(handle, page_checksum_verification=True)
        for g in range(file.metadata.num_row_groups):
            group, table = file.metadata.row_group(g), file.read_row_group(g)
            if group.num_rows != table.num_rows:
                problems.append({"group": g, "rows": table.num_rows, "stated": group.num_rows})
            for c in range(group.num_columns):
                chunk = group.column(c)
                indexes += chunk.has_column_index and chunk.has_offset_index
                stats = chunk.statistics
                if stats is None or "." in chunk.path_in_schema:
                    continue
                statistics += 1
                column = table[chunk.path_in_schema]
                true = {"nulls": column.null_count}
                stated = {"nulls": stats.null_count}
                if stats.has_min_max:
                    bounds = pc.min_max(column)
                    true["min"], true["max"] = str(bounds["min"].as_py()), str(bounds["max"].as_py())
                    stated["min"], stated["max"] = (str(bound(stats, side, column.type)) for side in ("min", "max"))
                if true != stated:
                    problems.append({"group": g, "column": chunk.path_in_schema, "true": true, "stated": stated})
    return [{"problems": problems, "statistics": statistics, "indexes": indexes}]


def query(request):
    """SQL of DuckDB; the rows in the order the statement gives."""
    with duckdb.connect() as connection:
        return rows(connection.execute(request["sql"]).to_arrow_table(), request.get("digits", {}))


COMMANDS = {"read_table": read_table, "read_parquet": read_parquet, "check_parquet": check_parquet, "query": query}

out = sys.stdout
sys.stdout = sys.stderr  # nothing but answers may reach stdout
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = {"ok": True, "out": COMMANDS[request["cmd"]](request)}
    except Exception as error:
        answer = {"ok": False, "error": str(error) or type(error).__name__, "class": type(error).__name__}
    out.write(json.dumps({"id": request["id"], **answer}, ensure_ascii=False) + "\n")
    out.flush()
