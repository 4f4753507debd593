#!/usr/bin/env python3
"""Makes the table of the micro benchmarks from Google Benchmark's JSON.

Every figure is the minimum of the repetitions, in microseconds of CPU time: what other programs on
the machine do can only add to it. A figure in parentheses is how many times as long as ours the
peer takes: (4.0) means that ours is four times as fast.
"""

import argparse
import json
import re
import statistics
import sys

# Columns of the decode table: key, title.
DECODE_PEERS = [
    ("frozen64", "frozen64"),
    ("frozen32", "frozen32"),
    ("safe", "safe"),
    ("memoryview", "memoryview"),
    ("slicing", "slicing"),
    ("memcpy", "memcpy"),
]
QUERY_PEERS = [("croaring", "CRoaring"), ("memset", "memset")]

HEADLINES = ["small_sparse", "gaps_sparse_keys", "medium_typical", "large_dense"]
BITSETS = ["medium_typical", "large_dense", "0.95m_of_10m", "3.9m_of_10m"]

LEGEND = """\
us of CPU time, minimum of {repetitions} interleaved repetitions; in parentheses: times ours.
index     walk over the headers, all their rules checked; (r) memory of the index used again, (f) a new one
content   index (r) and the content of every container
all       format::Decode() of an Iceberg frame: length, CRC-32, index (f), content
16 KiB    ours on pieces of 16 KiB in memory of their own, at odd addresses, cut at odd offsets
frozen64  roaring64_bitmap_portable_deserialize_frozen; content: + internal_validate; all: + zlib's CRC-32
frozen32  roaring_bitmap_portable_deserialize_size and _frozen, key by key
safe      roaring64_bitmap_portable_deserialize_safe; content and all as with frozen64
memoryview, slicing   the two decoders of memoryview.py; they check neither content nor CRC
memcpy    of the payload
"""

QUERY_LEGEND = """\
contains: 1000 rows, half of them deleted, random or sorted.
count: 1000 ranges of 4,096 rows (small) or half of the rows (large).
positions, runs, mask, roaring: of 4,096 rows (small), 8,388,608 rows or 80 % (large), or all (whole).
CRoaring: contains or contains_bulk; range_cardinality; iterator_read, for runs joined and for masks set bit by bit;
and with a range, then portable_serialize. Whole: to_uint64_array, to_bitset. memset: as many bytes as the answer has.
result: positions, runs with `runs`.
"""


def read_micro(path):
    """Returns the context, and {name: {"min", "median", "result", "repetitions"}} in order."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    runs = {}
    # Interleaved repetitions come in any order.
    for entry in sorted(data["benchmarks"], key=lambda entry: entry.get("family_index", 0)):
        if entry.get("run_type", "iteration") != "iteration":
            continue
        if entry.get("error_occurred"):
            raise SystemExit(f"table.py: {entry['name']}: {entry.get('error_message')}")
        name = re.sub(r"/(min_time|repeats):[^/]*", "", entry["run_name"])
        scale = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}[entry["time_unit"]]
        run = runs.setdefault(name, {"times": [], "result": entry.get("result")})
        run["times"].append(entry["cpu_time"] * scale)
    return data["context"], {
        name: {
            "min": min(run["times"]),
            "median": statistics.median(run["times"]),
            "repetitions": len(run["times"]),
            "result": run["result"],
        }
        for name, run in runs.items()
    }


def cpu_name():
    """Returns the model of the CPU, or "unknown"."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown"


def make_rows(runs, python_runs):
    """Groups benchmarks that differ in the column only. Returns rows as dictionaries."""
    columns_of = {}
    for name, run in runs.items():
        row, column = name.rsplit("/", 1)
        columns_of.setdefault(row, {})[column] = run
    rows = []
    for name, columns in columns_of.items():
        group, *path = name.split("/")
        if group == "decode":
            payload, checks = path
            peers = {key: columns[key] for key, _ in DECODE_PEERS if key in columns}
            if checks == "index":
                peers.update(python_runs.get(payload, {}))
            variants = [("ours", checks if checks == "all" else checks + " (r)"),
                        ("ours_fresh", checks + " (f)")]
            for key, title in variants:
                if key in columns:
                    rows.append(make_row(group, [payload, title], columns, key, peers))
        else:
            peers = {key: columns[key] for key, _ in QUERY_PEERS if key in columns}
            if "ours" in columns:
                rows.append(make_row(group, path, columns, "ours", peers))
    return rows


def by_subject(rows):
    """Sorts rows by the first two parts of their case, each in the order in which it came first."""
    order = {}
    for row in rows:
        for part in row["case"][:2]:
            order.setdefault(part, len(order))
    return sorted(rows, key=lambda row: [order[part] for part in row["case"][:2]])


def make_row(group, path, columns, key, peers):
    ours = columns[key]
    row = {
        "group": group,
        "case": path,
        "ours_us": ours["min"],
        "ours_median_us": ours["median"],
        "repetitions": ours["repetitions"],
        "result": ours["result"],
        "peers_us": {name: peer["min"] for name, peer in peers.items()},
        "peers_median_us": {name: peer["median"] for name, peer in peers.items()},
        "ratios": {name: peer["min"] / ours["min"] for name, peer in peers.items()},
    }
    pieces = columns.get(key + "_pieces")
    if pieces:
        row["pieces_us"] = pieces["min"]
        row["pieces_ratio"] = pieces["min"] / ours["min"]
    return row


def number(value):
    """Three significant digits, without an exponent."""
    if value >= 1000:
        return f"{value:,.0f}"
    if value >= 100:
        return f"{value:.0f}"
    if value >= 10:
        return f"{value:.1f}"
    if value >= 1:
        return f"{value:.2f}"
    return f"{value:.3f}"


def times(ratio):
    return f"({ratio:,.0f})" if ratio >= 100 else f"({ratio:.3g})"


def print_table(head, lines, left):
    """Prints columns, the first `left` of them aligned to the left."""
    widths = [max(len(line[i]) for line in [head] + lines) for i in range(len(head))]
    previous = None
    for line in [head, ["-" * width for width in widths]] + lines:
        # A line between the payloads, or kernels.
        if previous is not None and line is not lines[0] and line in lines and line[0] != previous:
            print()
        previous = line[0]
        cells = [cell.ljust(width) if i < left else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(line, widths))]
        print("  ".join(cells).rstrip())


def cells_of(row, peers):
    cells = [number(row["ours_us"])]
    cells.append(f"{number(row['pieces_us'])} {times(row['pieces_ratio'])}"
                 if "pieces_us" in row else "-")
    for key, _ in peers:
        if key in row["peers_us"]:
            cells.append(f"{number(row['peers_us'][key])} {times(row['ratios'][key])}")
        else:
            cells.append("-")
    return cells


def print_group(rows, group, head, peers, with_result):
    rows = by_subject([row for row in rows if row["group"] == group])
    peers = [peer for peer in peers if any(peer[0] in row["peers_us"] for row in rows)]
    lines = []
    for row in rows:
        line = list(row["case"]) + cells_of(row, peers)
        if with_result:
            line.append(f"{row['result']:,.0f}")
        lines.append(line)
    if not lines:
        return
    head = head + ["ours", "16 KiB"] + [title for _, title in peers]
    if with_result:
        head.append("result")
    print_table(head, lines, len(rows[0]["case"]))
    print()


def find_targets(rows):
    """Yields (what is aimed at, worst figure, where, whether it is met) for what was measured."""
    by_case = {(row["group"], *row["case"]): row for row in rows}

    def worst(text, cases, figure, bound, at_least=True, unit=""):
        found = []
        for case in cases:
            value = figure(by_case[case]) if case in by_case else None
            if value is not None:
                found.append((value, case))
        if not found:
            return
        value, case = min(found) if at_least else max(found)
        met = value >= bound if at_least else value <= bound
        yield {"target": text, "worst": value, "unit": unit, "case": "/".join(case), "met": met}

    def ratio(peer):
        return lambda row: row["ratios"].get(peer)

    def rate(row):
        return row["result"] / row["ours_us"] / 1e3 if row["ours_us"] else None

    reused = [("decode", name, "index (r)") for name in HEADLINES]
    fresh = [("decode", name, "index (f)") for name in HEADLINES]
    every = [("decode", row["case"][0], "all") for row in rows if row["case"][-1] == "all"]
    dense = [("decode", name, "all") for name in BITSETS]
    yield from worst("index (r) at least 4 times as fast as frozen64", reused, ratio("frozen64"), 4)
    yield from worst("index (f) at least 3 times as fast as frozen64", fresh, ratio("frozen64"), 3)
    yield from worst("index (r) at least 100 times as fast as memoryview", reused,
                     ratio("memoryview"), 100)
    yield from worst("index (f) at least 50 times as fast as memoryview", fresh,
                     ratio("memoryview"), 50)
    yield from worst("all of bitsets within 2.5 times a memcpy", dense,
                     lambda row: 1 / row["ratios"]["memcpy"] if "memcpy" in row["ratios"] else None,
                     2.5, at_least=False)
    yield from worst("all at least twice as fast as safe + validate + zlib", every, ratio("safe"), 2)
    yield from worst("positions out of bitsets at 1 G/s or more",
                     [("query", "positions", "0.95m_of_10m", "whole"),
                      ("query", "positions", "3.9m_of_10m", "whole"),
                      ("query", "positions", "3.9m_of_10m", "large")], rate, 1, unit=" G/s")
    yield from worst("positions out of runs within twice a memset",
                     [("query", "positions", "all_of_4294m", "large")],
                     lambda row: 1 / row["ratios"]["memset"] if "memset" in row["ratios"] else None,
                     2, at_least=False)


def print_slower(rows):
    slower = [row for row in rows
              if row["ratios"].get("croaring", row["ratios"].get("frozen64", 9)) < 1]
    if slower:
        print("Slower than CRoaring:")
        for row in slower:
            ratio = row["ratios"].get("croaring", row["ratios"].get("frozen64"))
            print(f"  {'/'.join(row['case'])}: {number(row['ours_us'])} us, {times(ratio)}")
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("micro", help="JSON of dv-bench")
    parser.add_argument("--python", help="JSON of memoryview.py")
    parser.add_argument("--load", default="", help="load average to mention")
    parser.add_argument("--json", help="file to write the rows to")
    args = parser.parse_args()

    context, runs = read_micro(args.micro)
    context["cpu"] = cpu_name()
    python = {"skipped": "not run"}
    if args.python:
        with open(args.python, encoding="utf-8") as file:
            python = json.load(file)
    rows = make_rows(runs, python.get("rows", {}))
    if not rows:
        print("table.py: no benchmark matches the filter", file=sys.stderr)
        return 1
    targets = list(find_targets(rows))

    print(f"CPU: {context['cpu']}, {context['num_cpus']} of them; load average "
          f"{args.load or 'unknown'}")
    print(f"Ours: {context.get('compiler')}, {context.get('flags')}, kernels "
          f"{context.get('kernels')}, CRC-32 of {context.get('crc')}")
    print(f"CRoaring {context.get('croaring')}" +
          ("" if any("frozen64" in row["peers_us"] for row in rows) else
           ", without roaring64_bitmap_portable_deserialize_frozen (needs 5.1)"))
    if "skipped" in python:
        print(f"SKIPPED pyroaring: {python['skipped']}")
    else:
        print(f"pyroaring {python['pyroaring']} with CRoaring {python['croaring']}, Python "
              f"{python['python']}")
    print()
    if any(row["group"] == "decode" for row in rows):
        print(LEGEND.format(repetitions=max(row["repetitions"] for row in rows)))
        print_group(rows, "decode", ["payload", "checks"], DECODE_PEERS, False)
    if any(row["group"] == "query" for row in rows):
        print(QUERY_LEGEND)
        print_group(rows, "query", ["query", "payload", "range"], QUERY_PEERS, True)
    print_slower(rows)
    if targets:
        print("Targets:")
        for target in targets:
            print(f"  {'met   ' if target['met'] else 'MISSED'}  {target['target']}: "
                  f"{target['worst']:.3g}{target['unit']} at worst, {target['case']}")

    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"context": context, "load": args.load,
                       "pyroaring": {k: v for k, v in python.items() if k != "rows"},
                       "rows": rows, "targets": targets}, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
