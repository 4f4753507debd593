#!/usr/bin/env python3
"""Writes an Iceberg deletion vector to standard output, to try the service with.

usage: make_dv.py BLOCKS [STEP]

Deletes every STEPth row (default 3, from 1 to 15) of the first BLOCKS blocks of 65,536 rows. A block takes 8 KiB.
"""

import sys

import vectors


def main(arguments):
    try:
        blocks, step = int(arguments[0]), int(arguments[1] if len(arguments) > 1 else 3)
        if len(arguments) > 2 or not 1 <= blocks <= 65536 or not 1 <= step <= 15:
            raise ValueError
    except (IndexError, ValueError):
        sys.exit(__doc__)
    rows = range(blocks * vectors.BLOCK)
    containers = [
        vectors.bitset(i, range(-(i * vectors.BLOCK) % step, vectors.BLOCK, step)) for i in range(blocks)
    ]
    assert sum(cardinality for _, _, cardinality, _ in containers) == len(rows[::step])
    sys.stdout.buffer.write(vectors.frame(vectors.roaring64([(0, vectors.roaring32(containers))])))


if __name__ == "__main__":
    main(sys.argv[1:])
