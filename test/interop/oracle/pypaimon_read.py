#!/usr/bin/env python3
"""Reads Paimon tables with pypaimon and prints the merged rows as JSON lines, in the same notation
as `oracle read` (see README.md), sorted by primary key.

    pip install pypaimon==2.1.0
    pypaimon_read.py WAREHOUSE DB TABLE [--snapshot N | --tag NAME]
"""
import argparse
import base64
import datetime
import decimal
import json
import math
import re

import pyarrow as pa
from pypaimon import CatalogFactory


def fraction(value, digits):
    """Sub-second digits; pyarrow hands out nanosecond values as pandas timestamps."""
    nanos = value.microsecond * 1000 + getattr(value, "nanosecond", 0)
    return "." + ("%09d" % nanos)[:digits] if digits else ""


def iso(value, digits):
    return "%04d-%02d-%02dT%02d:%02d:%02d" % (
        value.year, value.month, value.day, value.hour, value.minute, value.second) + fraction(value, digits)


UNIT = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def to_json(value, kind, digits=None):
    """digits: the declared sub-second digits of a TIME or TIMESTAMP column; Arrow has only its unit."""
    if value is None:
        return None
    if pa.types.is_int64(kind):
        return str(value)
    if pa.types.is_floating(kind):
        if math.isnan(value):
            return "NaN"
        return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if pa.types.is_timestamp(kind):
        return iso(value, UNIT[kind.unit] if digits is None else digits) + ("Z" if kind.tz else "")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.time):
        shown = UNIT[kind.unit] if digits is None else 3 if value.microsecond else min(digits, 3)
        return "%02d:%02d:%02d" % (value.hour, value.minute, value.second) + fraction(value, shown)
    if pa.types.is_map(kind):
        return [[to_json(k, kind.key_type), to_json(v, kind.item_type)] for k, v in value]
    if pa.types.is_list(kind):
        return [to_json(v, kind.value_type) for v in value]
    if pa.types.is_struct(kind):
        return {f.name: to_json(value[f.name], f.type) for f in kind}
    return value


def read(warehouse, db, name, **options):
    """The merged rows of a table as JSON-ready dicts, sorted by primary key."""
    table = CatalogFactory.create({"warehouse": warehouse}).get_table(db + "." + name)
    if options:
        table = table.copy(options)
    builder = table.new_read_builder()
    arrow = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    declared = {f.name: re.match(r"TIME(?:STAMP|STAMP_LTZ)?\((\d)\)", str(f.type)) for f in table.fields}
    columns = []
    for f in arrow.schema:
        digits = declared.get(f.name) and int(declared[f.name].group(1))
        columns.append([to_json(v, f.type, digits) for v in arrow[f.name].to_pylist()])
    rows = [dict(zip(arrow.schema.names, values)) for values in zip(*columns)]
    keys = [arrow[k].to_pylist() for k in table.primary_keys]
    order = sorted(range(len(rows)), key=lambda i: [sort_key(k[i]) for k in keys])
    return [rows[i] for i in order]


def sort_key(value):
    return value.encode() if isinstance(value, str) else value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("warehouse", "db", "table"):
        parser.add_argument(name)
    parser.add_argument("--snapshot")
    parser.add_argument("--tag")
    args = parser.parse_args()
    options = {}
    if args.snapshot:
        options["scan.snapshot-id"] = args.snapshot
    if args.tag:
        options["scan.tag-name"] = args.tag
    for row in read(args.warehouse, args.db, args.table, **options):
        print(json.dumps(row, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()
