#!/usr/bin/env python3
"""Makes the table of end_to_end.sh from the lines that dv-bench-client prints."""

import argparse
import json
import os
import statistics
import sys

from table import cpu_name, print_table

# Case: title, what is counted, unit, the ratio that is aimed at.
CASES = {
    "describe": ("Describe, large_dense in a frame, 4 in flight", "bytes", "MB/s", 0.85),
    "scan_1": ("Scan, one count at a time, 1 stream", "calls", "1/s", 0.85),
    "scan_8": ("Scan, one count at a time, 8 streams", "calls", "1/s", 0.85),
    "read": ("ReadPositions, 10 M positions", "bytes", "MB/s", 0.80),
}

LEGEND = """\
ours     dv-server
nothing  a server that reads nothing and answers with messages of the same number and sizes that it made when it
         started; allocator and transport are set as in dv-server
ratio    median of the ratios of the pairs, and their range
CPU      of the server, microseconds: of one call of Describe, one round trip of Scan, one MB of ReadPositions
Client and servers share this machine's processors.
"""


def rate(line, counted):
    scale = 1e6 if counted == "bytes" else 1
    return line[counted] / line["seconds"] / scale


def cpu(line, case):
    done = line["bytes"] / 1e6 if case == "read" else line["calls"]
    return line["cpu_us"] / done if done else 0.0


def summarize(lines):
    """Returns one row for each transport and case."""
    rows = []
    keys = dict.fromkeys((line["transport"], line["case"]) for line in lines)
    for transport, case in keys:
        title, counted, unit, aim = CASES[case]
        mine = [line for line in lines if (line["transport"], line["case"]) == (transport, case)]
        by_server = {server: sorted((line for line in mine if line["server"] == server),
                                    key=lambda line: line["pair"]) for server in ("ours", "null")}
        rates = {server: [rate(line, counted) for line in of] for server, of in by_server.items()}
        ratios = [ours / null for ours, null in zip(rates["ours"], rates["null"])]
        rows.append({
            "transport": transport, "case": case, "title": title, "unit": unit,
            "ours": statistics.median(rates["ours"]), "null": statistics.median(rates["null"]),
            "ratio": statistics.median(ratios), "ratio_min": min(ratios), "ratio_max": max(ratios),
            "ours_cpu_us": statistics.median(cpu(line, case) for line in by_server["ours"]),
            "null_cpu_us": statistics.median(cpu(line, case) for line in by_server["null"]),
            "pairs": len(ratios), "aim": aim,
        })
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lines", help="output of dv-bench-client")
    parser.add_argument("--load", default="unknown", help="load average to mention")
    parser.add_argument("--replies", default="", help="sizes of the answers, to mention")
    parser.add_argument("--json", help="file to write the figures to")
    args = parser.parse_args()

    with open(args.lines, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    if not lines:
        print("end_to_end.py: nothing was measured", file=sys.stderr)
        return 1
    rows = summarize(lines)

    print(f"CPU: {cpu_name()}, {os.cpu_count()} of them; load average {args.load}")
    print(f"Answers: {args.replies}\n")
    print(LEGEND)
    head = ["transport", "case", "ours", "nothing", "", "ratio", "range", "CPU ours", "CPU nothing",
            "aim"]
    cells = []
    for row in rows:
        cells.append([
            row["transport"], row["title"], f"{row['ours']:,.0f}", f"{row['null']:,.0f}",
            row["unit"], f"{row['ratio']:.3f}", f"{row['ratio_min']:.2f}-{row['ratio_max']:.2f}",
            f"{row['ours_cpu_us']:,.1f}", f"{row['null_cpu_us']:,.1f}",
            f"{row['aim']:.2f} {'met' if row['ratio'] >= row['aim'] else 'MISSED'}",
        ])
    print_table(head, cells, 2)
    print(f"\nMedians of {max(row['pairs'] for row in rows)} pairs.")

    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"cpu": cpu_name(), "load": args.load, "answers": args.replies,
                       "rows": rows, "measurements": lines}, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
