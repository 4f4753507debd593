#!/usr/bin/env python3
"""Measures the two decoders of PyIceberg's proposal with pyroaring, on the payloads of dv-bench.

Both give a list with one bitmap for each key from 0 to the last, gaps filled with one empty bitmap
that is shared. Both find the length of a bitmap by serializing it again. The one cuts the bytes
that are left at each step, so that it copies them each time; the other has a memoryview and an
offset. Neither checks a CRC or the content of containers.
"""

import argparse
import json
import pathlib
import platform
import statistics
import sys
import time

import pyroaring

EMPTY = pyroaring.FrozenBitMap()


def decode_slicing(payload):
    """Cuts what was read off the bytes at each step."""
    count = int.from_bytes(payload[:8], "little")
    payload = payload[8:]
    bitmaps = []
    for _ in range(count):
        key = int.from_bytes(payload[:4], "little")
        if key < len(bitmaps):
            raise ValueError(f"key {key} does not ascend")
        payload = payload[4:]
        bitmaps.extend([EMPTY] * (key - len(bitmaps)))
        bitmap = pyroaring.BitMap.deserialize(payload)
        payload = payload[len(bitmap.serialize()):]
        bitmaps.append(bitmap)
    return bitmaps


def decode_memoryview(payload):
    """Moves an offset over a view of the bytes."""
    view = memoryview(payload)
    count = int.from_bytes(view[:8], "little")
    offset = 8
    bitmaps = []
    for _ in range(count):
        key = int.from_bytes(view[offset:offset + 4], "little")
        if key < len(bitmaps):
            raise ValueError(f"key {key} does not ascend")
        offset += 4
        bitmaps.extend([EMPTY] * (key - len(bitmaps)))
        bitmap = pyroaring.BitMap.deserialize(view[offset:])
        offset += len(bitmap.serialize())
        bitmaps.append(bitmap)
    return bitmaps


DECODERS = {"slicing": decode_slicing, "memoryview": decode_memoryview}


def calls_for(decode, payload, seconds):
    """Returns how many calls take about `seconds`, at least 1."""
    start = time.process_time()
    calls = 0
    while time.process_time() - start < seconds:
        decode(payload)
        calls += 1
    return max(1, calls)


def measure(decode, payload, calls):
    """Returns microseconds of CPU time a call."""
    start = time.process_time_ns()
    for _ in range(calls):
        decode(payload)
    return (time.process_time_ns() - start) / calls / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="folder that dv-bench-payloads wrote to")
    parser.add_argument("--payload", action="append", help="only these; may be repeated")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.1, help="of one repetition")
    parser.add_argument("--json", type=argparse.FileType("w"), help="file for the figures")
    args = parser.parse_args()

    names = (args.folder / "names").read_text().split()
    if args.payload:
        names = [name for name in names if name in args.payload]
    work = []
    for name in names:
        payload = (args.folder / f"{name}.bin").read_bytes()
        if decode_slicing(payload) != decode_memoryview(payload):
            raise SystemExit(f"memoryview.py: the two decoders differ on {name}")
        for key, decode in DECODERS.items():
            work.append((name, key, decode, payload, calls_for(decode, payload, args.seconds), []))
    for _ in range(args.repetitions):
        for _, _, decode, payload, calls, figures in work:
            figures.append(measure(decode, payload, calls))

    rows = {}
    for name, key, _, _, _, figures in work:
        rows.setdefault(name, {})[key] = {"min": min(figures), "median": statistics.median(figures)}
    print(f"{'payload':18} {'slicing us':>12} {'memoryview us':>14}   minimum of {args.repetitions}")
    for name, row in rows.items():
        print(f"{name:18} {row['slicing']['min']:12.2f} {row['memoryview']['min']:14.2f}")
    if args.json:
        json.dump({"pyroaring": pyroaring.__version__, "croaring": pyroaring.__croaring_version__,
                   "python": platform.python_version(), "rows": rows}, args.json, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
