"""Puts streamed answers together again, and holds every message against the promises of the contract."""

import vectors
from stubs import MAX_MESSAGE, query

TOP = 1 << 64


class Answer:
    """All parts of the answer to one ReadQuery. `add` takes them one by one, `finish` the end."""

    def __init__(self, start=0, end=None):
        self.start = start
        self.stop = TOP if end is None else end
        self.at = start  # the row that the next part must start at
        self.positions = []
        self.runs = []
        self.bits = bytearray()
        self.parts = 0
        self.total = 0
        self.has_mask = False
        self._rows = 0  # of the part at hand
        self._last_mask_rows = 0

    def add(self, part):
        assert part.ByteSize() <= MAX_MESSAGE, part.ByteSize()
        assert part.start == self.at, (part.start, self.at)
        self.at += part.row_count
        assert self.at <= self.stop
        self._rows = part.row_count
        if self.at == TOP:
            assert not part.HasField("next_start")
        else:
            assert part.next_start == self.at, (part.next_start, self.at)
        kind = part.WhichOneof("content")
        found = getattr(self, f"_add_{kind}")(part)
        assert part.position_count == found, (part.position_count, found)
        self.total += found
        self.parts += 1

    def _take(self, positions):
        if not positions:
            # Nothing for longer than a part may cover.
            assert self._rows == 1 << 63, "a part of nothing"
            return 0
        assert positions[-1] == self.at - 1, "the part goes on after its last position"
        self.positions.extend(positions)
        return len(positions)

    def _add_positions(self, part):
        return self._take(list(part.positions.values))

    def _add_roaring(self, part):
        return self._take(vectors.decode64(part.roaring))

    def _add_runs(self, part):
        pairs = list(zip(part.runs.starts, part.runs.lengths, strict=True))
        if not pairs:
            assert self._rows == 1 << 63, "a part of nothing"
        else:
            assert sum(pairs[-1]) == self.at, "the part goes on after its last run"
        for start, length in pairs:
            assert length > 0
            assert not self.runs or start > sum(self.runs[-1]), "two runs that are one"
            self.runs.append((start, length))
        return sum(length for _, length in pairs)

    def _add_mask(self, part):
        assert self._last_mask_rows % 65536 == 0, "only the last part may end anywhere"
        self._last_mask_rows = part.row_count
        bits = part.mask.bits
        assert len(bits) == (part.row_count + 7) // 8
        padding = len(bits) * 8 - part.row_count
        assert not padding or bits[-1] >> (8 - padding) == 0, "padding bits are set"
        self.bits += bits
        self.has_mask = True
        ones = int.from_bytes(bits, "little").bit_count()
        live = part.mask.polarity == query.MASK_POLARITY_LIVE
        return part.row_count - ones if live else ones

    def finish(self, end):
        assert end.position_count == self.total, (end.position_count, self.total)
        assert end.part_count == self.parts, (end.part_count, self.parts)
        if self.has_mask:
            assert self.at == self.stop, "a mask covers its range"
        if end.limit_reached:
            assert end.next_start == self.at, (end.next_start, self.at)
        else:
            assert not end.HasField("next_start")
        self.positions.extend(p for start, length in self.runs for p in range(start, start + length))
        self.end = end
        return self


def collect(responses, start=0, end=None):
    """The whole answer of a ReadPositions call that goes well."""
    answer = Answer(start, end)
    finished = False
    for response in responses:
        assert not finished, "a message after the end"
        assert response.ByteSize() <= MAX_MESSAGE, response.ByteSize()
        if response.WhichOneof("response") == "part":
            answer.add(response.part)
        else:
            answer.finish(response.end)
            finished = True
    assert finished, "no end"
    return answer


def mask(positions, start, end, live=False):
    """The mask that answers a query for [start, end), from the positions of the vector."""
    rows = end - start
    bits = bytearray((rows + 7) // 8)
    for position in positions:
        if start <= position < end:
            bits[position - start >> 3] |= 1 << (position - start & 7)
    if not live:
        return bytes(bits)
    flipped = int.from_bytes(bits, "little") ^ ((1 << rows) - 1)
    return flipped.to_bytes(len(bits), "little")
