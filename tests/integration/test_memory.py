"""What the server holds in memory, measured on the process: bytes and little more for vectors that are open, and the same
for an answer of any length."""

import queue
import unittest

import vectors
from server import SANITIZED, Server, skipped
from stubs import connect, query, read_request, scan, vector

MIB = 1 << 20


def bitsets(count):
    """A blob of bitsets, 8 KiB each."""
    bits = bytes.fromhex("55") * 8192
    return vectors.frame(
        vectors.roaring64([(key, vectors.roaring32([(0, "bitset", 32768, bits)])) for key in range(count)])
    )


class Worker:
    """A Scan that is written to and read from in turn."""

    def __init__(self, stub):
        self._requests = queue.Queue()
        self.responses = stub.Scan(iter(self._requests.get, None))

    def open(self, vector_id, data):
        opened = scan.OpenVector(vector_id=vector_id, vector=vector.DeletionVector(inline=data))
        self._requests.put(scan.ScanRequest(open=scan.OpenVectors(vectors=[opened])))
        answer = next(self.responses).opened
        assert answer.status.code == 0, answer
        return answer.summary

    def close(self):
        self._requests.put(None)
        for _ in self.responses:
            pass


@unittest.skipIf(SANITIZED, "sizes say nothing under sanitizers")
class Memory(unittest.TestCase):
    def grow(self, server, stub, count, blob, containers):
        """Opens a vector `count` times in one stream, and holds the growth of the process against the bound."""
        # A first one warms up what is kept between calls.
        warm = Worker(stub)
        warm.open(1, blob)
        warm.close()
        before = server.resident_bytes()
        worker = Worker(stub)
        for i in range(count):
            summary = worker.open(i, blob)
        grown = server.resident_bytes() - before
        worker.close()
        payload = count * len(blob)
        bound = payload * 1.01 + count * containers * 64
        print(f"{count} vectors of {len(blob)} bytes: grew by {grown / payload:.4f} of their bytes", flush=True)
        # Buffers of the transport and of the allocator do not grow with what is open.
        self.assertLess(grown, bound + 6 * MIB, f"{grown} bytes for {payload}")
        return summary

    def test_large_vectors(self):
        with Server("--max_open_bytes=1073741824") as server:
            channel, stub = connect(server.address, ("grpc.max_send_message_length", -1))
            with channel:
                self.grow(server, stub, 120, bitsets(400), 400)

    def test_vectors_that_are_just_not_copied(self):
        with Server("--max_open_bytes=1073741824") as server:
            channel, stub = connect(server.address)
            with channel:
                self.grow(server, stub, 8000, bitsets(3), 3)

    def test_small_vectors(self):
        """Here what the server notes of each vector, its id and its summary, begins to show."""
        with Server("--max_open_vectors=100000") as server:
            channel, stub = connect(server.address)
            with channel:
                blob = vectors.frame(vectors.pack(range(0, 6000, 3)))
                self.grow(server, stub, 5000, blob, 1)

    def test_empty_bitmaps_cost_nothing(self):
        with Server() as server:
            channel, stub = connect(server.address)
            with channel:
                empty = vectors.roaring32([])
                blob = vectors.frame(vectors.roaring64([(key, empty) for key in range(250_000)]))
                summary = self.grow(server, stub, 20, blob, 0)
                self.assertEqual(summary.empty_key_count, 250_000)

    def test_a_long_answer_is_constant(self):
        """All 2^32 positions of one key, as one run and as positions, in the memory of a few parts."""
        with Server() as server:
            channel, stub = connect(server.address)
            with channel:
                blob = vectors.full_runs(65536)
                list(stub.ReadPositions(read_request(blob, "POSITIONS", limit=100_000)))
                before = server.resident_bytes()
                answers = list(stub.ReadPositions(read_request(blob, "RUNS")))
                self.assertEqual(list(answers[0].part.runs.lengths), [1 << 32])
                call = stub.ReadPositions(read_request(blob, "POSITIONS"))
                total = 0
                largest = 0
                # A tenth is enough to see a trend; the rest is cancelled.
                for response in call:
                    total += response.part.position_count
                    if total >= 430_000_000:
                        break
                    if total % (32768 * 500) == 0:
                        largest = max(largest, server.resident_bytes() - before)
                call.cancel()
                print(f"{total} positions: grew by {largest / MIB:.1f} MiB", flush=True)
                self.assertLess(largest, 16 * MIB)


if SANITIZED:
    skipped("memory", "sizes say nothing under sanitizers")

if __name__ == "__main__":
    unittest.main()
