"""Small Parquet files of other writers, and beside each its rows as JSON.

    python make-fixtures.py        needs pyarrow 19, polars 1.44, duckdb 2.0 (any near version will do)

Values in the JSON: BIGINT and wider integers, decimals, dates and times as text; bytes as base64; maps as lists of pairs;
NaN and infinities as text. The rows are those that pyarrow reads from the file, so a second reader checks ours.
"""

import base64
import datetime
import decimal
import json
import math
import pathlib
import random

import duckdb
import numpy
import polars
import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
D = decimal.Decimal


def number(value):
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def stamp(ticks, unit, zone):
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    digits = {"s": 3, "ms": 3, "us": 6, "ns": 9}[unit]
    seconds, part = divmod(ticks, per_second)
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    fraction = f".{part * 10**digits // per_second:0{digits}d}"
    return f"{moment.year:04d}-" + moment.strftime("%m-%dT%H:%M:%S") + fraction + ("Z" if zone else "")


def render(scalar, kind):
    if not scalar.is_valid:
        return None
    t = pa.types
    if t.is_boolean(kind):
        return scalar.as_py()
    if t.is_int64(kind) or t.is_uint32(kind) or t.is_uint64(kind):
        return str(scalar.as_py())
    if t.is_integer(kind):
        return scalar.as_py()
    if t.is_floating(kind):
        return number(float(scalar.as_py()))
    if t.is_decimal(kind):
        return f"{scalar.as_py():f}"
    if t.is_string(kind) or t.is_large_string(kind):
        return scalar.as_py()
    if t.is_binary(kind) or t.is_large_binary(kind) or t.is_fixed_size_binary(kind):
        return base64.b64encode(scalar.as_py()).decode()
    if t.is_date(kind):
        return scalar.as_py().isoformat()
    if t.is_time32(kind):
        return (datetime.datetime.min + datetime.timedelta(milliseconds=scalar.value)).strftime("%H:%M:%S.%f")[:-3]
    if t.is_time64(kind):
        return str(scalar.value)
    if t.is_timestamp(kind):
        return stamp(scalar.value, kind.unit, kind.tz)
    if t.is_map(kind):
        entries = scalar.values
        keys, items = entries.field(0), entries.field(1)
        return [[render(keys[i], kind.key_type), render(items[i], kind.item_type)] for i in range(len(entries))]
    if t.is_list(kind) or t.is_large_list(kind):
        return [render(value, kind.value_type) for value in scalar.values]
    if t.is_struct(kind):
        return {field.name: render(scalar[field.name], field.type) for field in kind}
    raise TypeError(kind)


def expect(name, **read):
    table = pq.read_table(HERE / f"{name}.parquet", **read)
    rows = [
        {field.name: render(table.column(i)[row], field.type) for i, field in enumerate(table.schema)}
        for row in range(table.num_rows)
    ]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    (HERE / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def write(name, table, read=None, **options):
    options.setdefault("compression", "none")
    pq.write_table(table, HERE / f"{name}.parquet", **options)
    expect(name, **(read or {}))


rng = random.Random(20260801)


def maybe(value, share=0.2):
    return None if rng.random() < share else value


def flat(rows, nulls=True):
    share = 0.2 if nulls else 0.0
    words = ["", "a", "naïve", "日本", "😀", "a rather longer piece of text that passes the limit of the copy by words, 96 bytes at least", "x" * 70]
    return pa.table(
        {
            "b": pa.array([maybe(rng.random() < 0.5, share) for _ in range(rows)], pa.bool_()),
            "i8": pa.array([maybe(rng.randint(-128, 127), share) for _ in range(rows)], pa.int8()),
            "i16": pa.array([maybe(rng.randint(-32768, 32767), share) for _ in range(rows)], pa.int16()),
            "i32": pa.array([maybe(rng.choice([-(2**31), 2**31 - 1, rng.randint(-999, 999)]), share) for _ in range(rows)], pa.int32()),
            "i64": pa.array([maybe(rng.choice([-(2**63), 2**63 - 1, rng.randint(-(2**40), 2**40)]), share) for _ in range(rows)], pa.int64()),
            "f": pa.array([maybe(rng.choice([0.5, -0.0, float("inf"), float("nan"), 1.25]), share) for _ in range(rows)], pa.float32()),
            "d": pa.array([maybe(rng.choice([0.1, -0.0, float("-inf"), float("nan"), rng.random()]), share) for _ in range(rows)], pa.float64()),
            "s": pa.array([maybe(rng.choice(words) + str(rng.randint(0, 9)), share) for _ in range(rows)], pa.string()),
            "bin": pa.array([maybe(bytes(rng.randint(0, 255) for _ in range(rng.randint(0, 9))), share) for _ in range(rows)], pa.binary()),
            "day": pa.array([maybe(datetime.date(1969, 12, 31) + datetime.timedelta(rng.randint(-9999, 9999)), share) for _ in range(rows)], pa.date32()),
            "ms": pa.array([maybe(rng.randint(-(10**12), 10**13), share) for _ in range(rows)], pa.timestamp("ms")),
            "us": pa.array([maybe(rng.randint(-(10**15), 10**16), share) for _ in range(rows)], pa.timestamp("us", "UTC")),
        }
    )


for version in ["1.0", "2.0"]:
    write(f"flat_v{version[0]}_plain", flat(40), data_page_version=version, use_dictionary=False, compression="snappy", data_page_size=300, write_batch_size=17)
    write(f"flat_v{version[0]}_dictionary", flat(40), data_page_version=version, compression="zstd", data_page_size=200, write_batch_size=13)
write("flat_required", pa.table(flat(60, nulls=False).columns, pa.schema([f.with_nullable(False) for f in flat(1).schema])), compression="gzip", row_group_size=25)
write("brotli", flat(40), compression="brotli")
write("lz4_raw", flat(40), compression="lz4", write_page_checksum=True)
write("checksum_v2", flat(40), compression="zstd", write_page_checksum=True, data_page_version="2.0")

wide = 2**62
delta = pa.table(
    {
        "i32": pa.array([maybe(rng.choice([-(2**31), 2**31 - 1, i]), 0.1) for i in range(240)], pa.int32()),
        "i64": pa.array([maybe(rng.choice([-(2**63), 2**63 - 1, i * wide // 150, i]), 0.1) for i in range(240)], pa.int64()),
        "steady": pa.array([1700000000000 + 1000 * i for i in range(240)], pa.int64()),
        "length": pa.array([maybe("v" * (i % 13) + str(i), 0.1) for i in range(240)], pa.string()),
        "prefix": pa.array([maybe(f"https://example.org/{i // 50}/{i}", 0.1) for i in range(240)], pa.string()),
        "flba": pa.array([maybe(i.to_bytes(6, "big"), 0.1) for i in range(240)], pa.binary(6)),
    }
)
encodings = {"i32": "DELTA_BINARY_PACKED", "i64": "DELTA_BINARY_PACKED", "steady": "DELTA_BINARY_PACKED",
             "length": "DELTA_LENGTH_BYTE_ARRAY", "prefix": "DELTA_BYTE_ARRAY", "flba": "DELTA_BYTE_ARRAY"}
for version in ["1.0", "2.0"]:
    write(f"delta_v{version[0]}", delta.slice(0, 160 if version == "2.0" else 240), data_page_version=version, use_dictionary=False, column_encoding=encodings, compression="zstd", data_page_size=1500, write_batch_size=100)

split = pa.table(
    {
        "f": pa.array([maybe(rng.random(), 0.1) for _ in range(60)], pa.float32()),
        "d": pa.array([maybe(rng.random(), 0.1) for _ in range(60)], pa.float64()),
        "i32": pa.array([maybe(rng.randint(-(2**31), 2**31 - 1), 0.1) for _ in range(60)], pa.int32()),
        "i64": pa.array([maybe(rng.randint(-(2**63), 2**63 - 1), 0.1) for _ in range(60)], pa.int64()),
        "flba": pa.array([maybe(rng.randbytes(5), 0.1) for _ in range(60)], pa.binary(5)),
        "half": pa.array([maybe(x, 0.1) for x in numpy.linspace(-60000, 60000, 60).astype("float16")], pa.float16()),
    }
)
write("byte_stream_split", split, use_dictionary=False, use_byte_stream_split=True, data_page_size=200, write_batch_size=30)

numbers = pa.table(
    {
        "u8": pa.array([0, 255, None], pa.uint8()),
        "u16": pa.array([0, 65535, None], pa.uint16()),
        "u32": pa.array([0, 2**32 - 1, None], pa.uint32()),
        "u64": pa.array([0, 2**64 - 1, None], pa.uint64()),
        "dec9": pa.array([D("-1234567.89"), D("0.01"), None], pa.decimal128(9, 2)),
        "dec18": pa.array([D("-1234567890123456.78"), D("0.01"), None], pa.decimal128(18, 2)),
        "dec38": pa.array([D("-12345678901234567890123456789012345.678"), D("0.001"), None], pa.decimal128(38, 3)),
        "t32": pa.array([0, 86399999, None], pa.time32("ms")),
        "t64": pa.array([1, 86399999999, None], pa.time64("us")),
        "tns": pa.array([-1, 1700000000123456789, None], pa.timestamp("ns")),
        "none": pa.array([None, None, None], pa.null()),
    }
)
write("numbers", numbers)
write("decimals_as_integers", numbers.select(["dec9", "dec18", "dec38"]), store_decimal_as_integer=True)
write("int96", pa.table({"t": pa.array([-1, None, 0, 1700000000123456789, -62135596800 * 10**6], pa.timestamp("ns"))}), use_deprecated_int96_timestamps=True)
for codec in ["snappy", "zstd"]:
    write(f"all_null_v2_{codec}", pa.table({"n": pa.array([None] * 100, pa.string()), "i": pa.array([None] * 100, pa.int64())}), data_page_version="2.0", compression=codec)
write("all_null_v1", pa.table({"n": pa.array([None] * 100, pa.string()), "i": pa.array([None] * 100, pa.int32())}), compression="snappy")
write("no_rows", flat(0))
write("dictionary_overflow", pa.table({"s": pa.array([f"value number {i % 90} and some text" for i in range(200)], pa.large_string()), "n": pa.array([i * 7919 % 300 for i in range(200)], pa.int64())}), dictionary_pagesize_limit=1024, data_page_size=512, write_batch_size=50, compression="snappy")

nested_type = pa.schema(
    [
        ("id", pa.int32()),
        ("ll", pa.list_(pa.list_(pa.string()))),
        ("m", pa.map_(pa.string(), pa.list_(pa.int64()))),
        ("r", pa.struct([("a", pa.int32()), ("in", pa.struct([("s", pa.string()), ("l", pa.list_(pa.bool_()))]))])),
        ("lr", pa.list_(pa.struct([("x", pa.float64()), ("m", pa.map_(pa.int32(), pa.string()))]))),
    ]
)


def nested_row(i):
    strings = lambda: maybe([maybe(f"s{rng.randint(0, 20)}") for _ in range(rng.randint(0, 3))])
    pairs = lambda make, key: maybe([(key(k), make()) for k in range(rng.randint(0, 3))])
    return {
        "id": i,
        "ll": maybe([strings() for _ in range(rng.randint(0, 3))]),
        "m": pairs(lambda: maybe([maybe(rng.randint(-(2**60), 2**60)) for _ in range(rng.randint(0, 3))]), lambda k: f"k{k}"),
        "r": maybe({"a": maybe(i), "in": maybe({"s": maybe(f"t{i}"), "l": maybe([maybe(True) for _ in range(rng.randint(0, 2))])})}),
        "lr": maybe([maybe({"x": maybe(0.5 * i), "m": pairs(lambda: maybe(f"v{i}"), lambda k: k)}) for _ in range(rng.randint(0, 3))]),
    }


nested = pa.Table.from_pylist([nested_row(i) for i in range(80)], nested_type)
for version in ["1.0", "2.0"]:
    write(f"nested_v{version[0]}", nested, data_page_version=version, compression="zstd", data_page_size=64, write_batch_size=8, row_group_size=50)
write("nested_item_names", nested.slice(0, 20), use_compliant_nested_type=False)
long_lists = pa.table({"id": pa.array(range(30), pa.int32()), "l": pa.array([list(range(i * 3)) if i % 7 else None for i in range(30)], pa.list_(pa.int32()))})
for version in ["1.0", "2.0"]:
    write(f"long_lists_v{version[0]}", long_lists, data_page_version=version, data_page_size=100, write_batch_size=20, use_dictionary=False, write_page_index=True, compression="snappy")

indexed = pa.table(
    {
        "k": pa.array(range(2000), pa.int64()),
        "v": pa.array([None if i % 400 < 100 else (i * 31) % 2000 for i in range(2000)], pa.int32()),
        "s": pa.array([f"key {i:06d}" for i in range(2000)], pa.string()),
        "d": pa.array([float("nan") if i == 700 else (-0.0 if i == 0 else i / 8) for i in range(2000)], pa.float64()),
    }
)
pq.write_table(indexed, HERE / "page_index.parquet", write_page_index=True, row_group_size=1000, data_page_size=400, write_batch_size=50, use_dictionary=["s"], compression="zstd")

con = duckdb.connect()
con.execute(
    """create table t as select i::int as i, (i * 1000003)::bigint as l, case when i % 3 = 0 then null else 'text ' || (i % 20) end as s,
    i % 2 = 0 as b, (i / 7)::double as d, (i / 100)::decimal(10, 2) as dec, date '2024-01-01' + i::int as day,
    timestamp '2024-01-01 00:00:00.123456' + interval (i) second as ts, [i, null, i + 1] as list,
    {'x': i, 'y': 'y' || i} as struct, map([i::varchar], [i * 2]) as map, i::utinyint as u8, time '01:02:03.000004' as t
    from range(60) r(i)"""
)
for version in ["V1", "V2"]:
    con.execute(f"copy t to '{HERE}/duckdb_{version.lower()}.parquet' (format parquet, compression zstd, parquet_version {version}, row_group_size 2048)")
    expect(f"duckdb_{version.lower()}")

frame = polars.DataFrame(
    {
        "i": list(range(60)),
        "s": [None if i % 3 == 0 else f"text {i % 20}" for i in range(60)],
        "d": [i / 7 for i in range(60)],
        "ts": [datetime.datetime(2024, 1, 1, 0, 0, i, 123456) for i in range(60)],
        "day": [datetime.date(2024, 1, 1 + i % 28) for i in range(60)],
        "list": [[i, None] if i % 4 else ([] if i % 8 else None) for i in range(60)],
        "struct": [{"x": i, "y": [f"y{i}"]} for i in range(60)],
        "b": [None if i % 5 == 0 else i % 2 == 0 for i in range(60)],
    }
)
frame.write_parquet(HERE / "polars.parquet", compression="zstd", row_group_size=40, data_page_size=256)
expect("polars")
