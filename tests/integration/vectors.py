"""Builds deletion vectors byte by byte, and decodes them, with nothing but Python's standard library.

This is an independent reading of the formats: it shares no code with the server, and is the judge of its answers.
"""

import base64
import struct
import zlib

MAGIC = bytes.fromhex("d1d33964")
BLOCK = 1 << 16


# --- Building -------------------------------------------------------------------------------------------------------


def array(key, values):
    """A container that lists its values."""
    return key, "array", len(values), b"".join(struct.pack("<H", v) for v in values)


def bitset(key, values):
    """A container with a bit for each of 65,536 values."""
    bits = bytearray(8192)
    for value in values:
        bits[value >> 3] |= 1 << (value & 7)
    return key, "bitset", len(values), bytes(bits)


def runs(key, pairs):
    """A container of runs, each a first value and a number of values."""
    data = struct.pack("<H", len(pairs)) + b"".join(struct.pack("<HH", s, n - 1) for s, n in pairs)
    return key, "run", sum(n for _, n in pairs), data


def roaring32(containers):
    """A 32-bit bitmap in the portable format."""
    has_runs = any(kind == "run" for _, kind, _, _ in containers)
    if has_runs:
        head = struct.pack("<I", 12347 | (len(containers) - 1) << 16)
        flags = bytearray((len(containers) + 7) // 8)
        for i, (_, kind, _, _) in enumerate(containers):
            flags[i >> 3] |= (kind == "run") << (i & 7)
        head += bytes(flags)
    else:
        head = struct.pack("<II", 12346, len(containers))
    for key, _, cardinality, _ in containers:
        head += struct.pack("<HH", key, cardinality - 1)
    if not has_runs or len(containers) >= 4:
        offset = len(head) + 4 * len(containers)
        for _, _, _, data in containers:
            head += struct.pack("<I", offset)
            offset += len(data)
    return head + b"".join(data for _, _, _, data in containers)


def roaring64(buckets):
    """A 64-bit bitmap from (32-bit key, 32-bit bitmap) pairs."""
    return struct.pack("<Q", len(buckets)) + b"".join(struct.pack("<I", key) + bitmap for key, bitmap in buckets)


def frame(vector):
    """The frame of an Iceberg blob around a 64-bit bitmap."""
    body = MAGIC + vector
    return struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))


def pack(positions):
    """A 64-bit bitmap of the positions, each block in the smallest kind of container."""
    blocks = {}
    for position in sorted(set(positions)):
        blocks.setdefault(position >> 16, []).append(position & 0xFFFF)
    buckets = {}
    for block, values in blocks.items():
        pairs = []
        for value in values:
            if pairs and value == pairs[-1][0] + pairs[-1][1]:
                pairs[-1][1] += 1
            else:
                pairs.append([value, 1])
        key = block & 0xFFFF
        choices = [bitset(key, values), runs(key, pairs)]
        if len(values) <= 4096:
            choices = [array(key, values), choices[1]]
        buckets.setdefault(block >> 16, []).append(min(choices, key=lambda c: len(c[3])))
    return roaring64([(key, roaring32(containers)) for key, containers in buckets.items()])


def random_vector(random):
    """A blob with containers of all kinds under some keys, an empty bucket among them at times."""
    keys = sorted(random.sample([0, 1, 2, 7, 1000, 0x7FFFFFFE, 0x7FFFFFFF], random.randint(1, 3)))
    buckets = []
    for key in keys:
        containers = []
        for block in sorted(random.sample(range(12), random.randint(0, 6))):
            kind = random.choice(["array", "bitset", "runs", "full"])
            if kind == "array":
                containers.append(array(block, sorted(random.sample(range(BLOCK), random.randint(1, 4096)))))
            elif kind == "bitset":
                containers.append(bitset(block, sorted(random.sample(range(BLOCK), random.randint(4097, 20000)))))
            elif kind == "full":
                containers.append(runs(block, [(0, BLOCK)]))
            else:
                edges = sorted(random.sample(range(BLOCK), 2 * random.randint(1, 300)))
                pairs = [(a, b - a) for a, b in zip(edges[::2], edges[1::2])]
                containers.append(runs(block, pairs))
        buckets.append((key, roaring32(containers)))
    return frame(roaring64(buckets))


def full_runs(blocks, first_block=0):
    """A blob with `blocks` full blocks of 65,536 positions, all of them runs."""
    containers = [runs(first_block + i, [(0, BLOCK)]) for i in range(blocks)]
    return frame(roaring64([(0, roaring32(containers))]))


# --- Decoding -------------------------------------------------------------------------------------------------------


class Reader:
    """Bytes that are read from the front."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, form):
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values[0] if len(values) == 1 else values


def decode32(reader):
    """The values of the 32-bit bitmap that starts where the reader is."""
    cookie = reader.take("<I")
    if cookie & 0xFFFF == 12347:
        count = (cookie >> 16) + 1
        flags = int.from_bytes(bytes(reader.take("<B") for _ in range((count + 7) // 8)), "little")
    else:
        assert cookie == 12346, cookie
        count, flags = reader.take("<I"), 0
    heads = [reader.take("<HH") for _ in range(count)]
    if cookie == 12346 or count >= 4:
        reader.at += 4 * count
    values = []
    for i, (key, less_one) in enumerate(heads):
        base, cardinality, before = key << 16, less_one + 1, len(values)
        if flags >> i & 1:
            for _ in range(reader.take("<H")):
                start, length = reader.take("<HH")
                values.extend(range(base + start, base + start + length + 1))
        elif cardinality <= 4096:
            values.extend(base + reader.take("<H") for _ in range(cardinality))
        else:
            for at in range(8192):
                byte = reader.take("<B")
                values.extend(base + at * 8 + bit for bit in range(8) if byte >> bit & 1)
        assert len(values) - before == cardinality
    return values


def decode64(data):
    """The positions of a 64-bit bitmap, ascending."""
    reader = Reader(data)
    positions = []
    for _ in range(reader.take("<Q")):
        high = reader.take("<I") << 32
        positions.extend(high | value for value in decode32(reader))
    assert reader.at == len(data), "bytes left over"
    assert all(a < b for a, b in zip(positions, positions[1:])), "not ascending"
    return positions


def decode_frame(blob):
    """The positions of an Iceberg blob, ascending."""
    assert struct.unpack_from(">I", blob)[0] == len(blob) - 8 and blob[4:8] == MAGIC
    assert struct.unpack_from(">I", blob, len(blob) - 4)[0] == zlib.crc32(blob[4:-4])
    return decode64(blob[8:-4])


# --- Known vectors --------------------------------------------------------------------------------------------------

# Valid blobs and their positions.
VALID = {
    "empty": ("AAAADNHTOWQAAAAAAAAAAL8YSAw=", []),
    "three": ("AAAAJtHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAgAQAAAAAQADAAUAWp5dOQ==", [1, 3, 5]),
    "high key": ("AAAAItHTOWQBAAAAAAAAAP7//386MAAAAQAAAAAAAAAQAAAAAAAtSUY6", [9223372028264841216]),
    "two keys": (
        "AAAAONHTOWQCAAAAAAAAAAAAAAA6MAAAAQAAAAAAAAAQAAAAAAABAAAAOjAAAAEAAAAAAAAAEAAAAAAAR7oHhA==",
        [0, 1 << 32],
    ),
    "run": ("AAAAH9HTOWQBAAAAAAAAAAAAAAA7MAAAAQAAYwABAAAAYwCIPNUp", list(range(100))),
    "full run": ("AAAAH9HTOWQBAAAAAAAAAAAAAAA7MAAAAQAA//8BAAAA//+S0xQ8", list(range(BLOCK))),
    "empty bucket": ("AAAAGNHTOWQBAAAAAAAAAAAAAAA6MAAAAAAAAGj5bLU=", []),
}

# Broken blobs: bytes, canonical code, reason.
BROKEN = {
    "key twice": (
        "AAAAONHTOWQCAAAAAAAAAAAAAAA6MAAAAQAAAAAAAAAQAAAAAQAAAAAAOjAAAAEAAAAAAAAAEAAAAAIA44Fk4Q==",
        "INVALID_ARGUMENT",
        "KEYS_NOT_ASCENDING",
    ),
    "keys descending": (
        "AAAAONHTOWQCAAAAAAAAAAEAAAA6MAAAAQAAAAAAAAAQAAAAAQAAAAAAOjAAAAEAAAAAAAAAEAAAAAIAyalcgw==",
        "INVALID_ARGUMENT",
        "KEYS_NOT_ASCENDING",
    ),
    "key of 2^31": (
        "AAAAItHTOWQBAAAAAAAAAAAAAIA6MAAAAQAAAAAAAAAQAAAAAABtt2zl",
        "INVALID_ARGUMENT",
        "KEY_OUT_OF_RANGE",
    ),
    "huge count": ("AAAADNHTOWT///9/AAAAAJQj2Ag=", "INVALID_ARGUMENT", "BITMAP_COUNT_TOO_LARGE"),
    "trailing bytes": (
        "AAAAJtHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAAAQAAAAAQAAAAAA2WeYDQ==",
        "INVALID_ARGUMENT",
        "TRAILING_BYTES",
    ),
    "offset of 0": (
        "AAAAItHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAAAAAAAABwC7MSDp",
        "INVALID_ARGUMENT",
        "OFFSETS_INCONSISTENT",
    ),
    "array descending": (
        "AAAAJNHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAQAQAAAABQADAOdWAP4=",
        "INVALID_ARGUMENT",
        "ARRAY_NOT_ASCENDING",
    ),
    "run past its container": (
        "AAAAH9HTOWQBAAAAAAAAAAAAAAA7MAAAAQAABAABAP//BAAYM7P3",
        "INVALID_ARGUMENT",
        "RUN_OUT_OF_RANGE",
    ),
    "wrong CRC": (
        "AAAAJtHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAgAQAAAAAQADAAUAWp5dOA==",
        "INVALID_ARGUMENT",
        "CRC_MISMATCH",
    ),
    "length one too big": (
        "AAAAJ9HTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAgAQAAAAAQADAAUAWp5dOQ==",
        "FAILED_PRECONDITION",
        "FRAME_LENGTH_MISMATCH",
    ),
    "cut short": (
        "AAAAJtHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAgAQAAAAAQADAAUAWg==",
        "FAILED_PRECONDITION",
        "FRAME_LENGTH_MISMATCH",
    ),
    "offsets swapped": (
        "AAAALNHTOWQBAAAAAAAAAAAAAAA6MAAAAgAAAAAAAAABAAAAGgAAABgAAAAHAAkARhP5Eg==",
        "INVALID_ARGUMENT",
        "OFFSETS_INCONSISTENT",
    ),
    "run with wrong cardinality": (
        "AAAAH9HTOWQBAAAAAAAAAAAAAAA7MAAAAQAABAABAAAAYwBSEnyL",
        "INVALID_ARGUMENT",
        "RUN_CARDINALITY_MISMATCH",
    ),
}
VALID = {name: (base64.b64decode(text), positions) for name, (text, positions) in VALID.items()}
BROKEN = {name: (base64.b64decode(text), code, reason) for name, (text, code, reason) in BROKEN.items()}

_key, _kind, _, _bits = bitset(0, list(range(5000)))
BROKEN["bitset with wrong cardinality"] = (
    frame(roaring64([(0, roaring32([(_key, _kind, 6000, _bits)]))])),
    "INVALID_ARGUMENT",
    "BITSET_CARDINALITY_MISMATCH",
)
BROKEN["not a vector"] = (b"PAR1" * 20, "FAILED_PRECONDITION", "LAYOUT_UNKNOWN")

THREE = VALID["three"][0]
