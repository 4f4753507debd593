"""What hostile input and unkind clients must not be able to do to the server, or to the calls of others."""

import collections
import random
import threading
import time
import unittest

import grpc

import vectors
from answers import collect
from server import SANITIZED, SLOWNESS, Server, skipped, wait_until
from stubs import connect, failure, health, inline, query, read_request, scan, service

MIB = 1 << 20
# 65,536 full run containers: under a megabyte for 2^32 deleted positions.
DENSE = vectors.full_runs(65536)


class HostileTest(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(Server())
        self.channel, self.stub = connect(self.server.address)
        self.addCleanup(self.channel.close)

    # --- Broken bytes ---------------------------------------------------------------------------------------------

    def test_a_thousand_mutations_while_another_stream_runs(self):
        other_channel, other = connect(self.server.address)
        self.addCleanup(other_channel.close)
        stop = threading.Event()
        rounds, trouble = [], []

        def run_other():
            blob = vectors.full_runs(30)

            def requests():
                yield scan.ScanRequest(open=scan.OpenVectors(
                    vectors=[scan.OpenVector(vector_id=1, vector=inline(blob))]))
                for i in range(1, 1 << 30):
                    yield scan.ScanRequest(query=scan.Query(query_id=i, vector_id=1, read=query.ReadQuery()))
                    if stop.wait(0.01):
                        return

            found = collections.Counter()
            try:
                for response in other.Scan(requests()):
                    if response.HasField("part"):
                        found[response.part.query_id] += response.part.read.position_count
                    elif response.HasField("done"):
                        done = response.done
                        assert done.status.code == 0 and found[done.query_id] == 30 * 65536, (done, found)
                        rounds.append(done.query_id)
            except Exception as error:  # told below, in the test's own thread
                trouble.append(error)

        thread = threading.Thread(target=run_other)
        thread.start()

        chance = random.Random(20240517)
        originals = [blob for blob, _ in vectors.VALID.values()] + [vectors.random_vector(chance) for _ in range(5)]
        outcomes = {"refused": 0, "taken": 0}
        try:
            for _ in range(1000):
                blob = bytearray(chance.choice(originals))
                for _ in range(chance.randint(1, 4)):
                    what = chance.randrange(4)
                    at = chance.randrange(len(blob) + 1) if chance.random() < 0.5 else chance.randrange(
                        min(len(blob) + 1, 60))
                    if what == 0 and at < len(blob):
                        blob[at] ^= 1 << chance.randrange(8)
                    elif what == 1:
                        blob[at:at] = chance.randbytes(chance.randint(1, 9))
                    elif what == 2:
                        del blob[at:at + chance.randint(1, 9)]
                    else:
                        del blob[at:]
                if chance.random() < 0.7 and len(blob) >= 12:
                    # With a right length and CRC the damage gets past the frame, to the bitmap itself.
                    blob = bytearray(vectors.frame(bytes(blob[8:-4])))
                request = service.CountPositionsRequest(vector=inline(bytes(blob)), ranges=[query.PositionRange()])
                try:
                    counted = self.stub.CountPositions(request, timeout=60).answer.counts[0]
                    # What is taken after all must hold what it says.
                    answer = collect(self.stub.ReadPositions(read_request(bytes(blob)), timeout=60))
                    self.assertEqual(answer.total, counted)
                    self.assertEqual(answer.positions, vectors.decode_frame(bytes(blob)))
                    outcomes["taken"] += 1
                except grpc.RpcError as error:
                    self.assertIn(error.code().name, ("INVALID_ARGUMENT", "FAILED_PRECONDITION", "UNIMPLEMENTED"),
                                  error.details())
                    outcomes["refused"] += 1
        finally:
            stop.set()
            thread.join(60)
        self.assertEqual(trouble, [])
        self.assertGreater(len(rounds), 3)
        self.assertGreater(outcomes["refused"], 700)
        self.assertTrue(self.server.alive())
        self.assertEqual(self.server.process.pid, self.server.pid)

    # --- Few bytes, many positions --------------------------------------------------------------------------------

    def test_dense_vector_is_answered_without_being_expanded(self):
        describe = service.DescribeRequest(vector=inline(DENSE))
        self.stub.Describe(describe, timeout=60)
        before = self.server.resident_bytes()
        begin = time.monotonic()
        self.assertEqual(self.stub.Describe(describe, timeout=60).summary.cardinality, 1 << 32)
        request = service.CountPositionsRequest(vector=inline(DENSE), ranges=[query.PositionRange()])
        request.ranges.add(start=5, end=(1 << 32) + 5)
        self.assertEqual(list(self.stub.CountPositions(request, timeout=60).answer.counts), [1 << 32, (1 << 32) - 5])
        request = service.CheckPositionsRequest(vector=inline(DENSE), positions=[0, 1 << 32, (1 << 32) - 1])
        self.assertEqual(self.stub.CheckPositions(request, timeout=60).answer.deleted, b"\x05")
        answer = collect(self.stub.ReadPositions(read_request(DENSE, limit=100000), timeout=60))
        self.assertEqual(answer.positions, list(range(100000)))
        runs = collect(self.stub.ReadPositions(read_request(DENSE, "RUNS", 7, 9), timeout=60), 7, 9)
        self.assertEqual(runs.positions, [7, 8])
        took = time.monotonic() - begin
        growth = self.server.resident_bytes() - before
        self.assertLess(took, 5 * SLOWNESS, "five answers are a matter of milliseconds, unless the vector is expanded")
        if SANITIZED:
            skipped("memory", "sanitizers keep freed memory, so growth says nothing")
        else:
            self.assertLess(growth, 16 * MIB)

    def test_sparse_keys_cost_nothing(self):
        blob, positions = vectors.VALID["high key"]
        before = self.server.resident_bytes()
        for _ in range(20):
            answer = collect(self.stub.ReadPositions(read_request(blob), timeout=60))
            self.assertEqual(answer.positions, positions)
        if not SANITIZED:
            self.assertLess(self.server.resident_bytes() - before, 4 * MIB)

    def test_headers_that_claim_a_lot_cost_nothing(self):
        self.stub.Describe(service.DescribeRequest(vector=inline(vectors.THREE)), timeout=60)
        before = self.server.resident_bytes()
        for count in (2**31 - 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1):
            blob = vectors.frame(count.to_bytes(8, "little") + bytes(24))
            found = failure(lambda b=blob: self.stub.Describe(service.DescribeRequest(vector=inline(b)), timeout=60))
            self.assertEqual((found.code, found.reason), ("INVALID_ARGUMENT", "BITMAP_COUNT_TOO_LARGE"))
        for containers in (65537, 2**31, 2**32 - 1):
            bitmap = (12346).to_bytes(4, "little") + containers.to_bytes(4, "little") + bytes(64)
            blob = vectors.frame(vectors.roaring64([(0, bitmap)]))
            found = failure(lambda b=blob: self.stub.Describe(service.DescribeRequest(vector=inline(b)), timeout=60))
            self.assertEqual((found.code, found.reason), ("INVALID_ARGUMENT", "CONTAINER_COUNT_TOO_LARGE"))
        if not SANITIZED:
            self.assertLess(self.server.resident_bytes() - before, 4 * MIB)

    # --- Slow readers and callers that leave ----------------------------------------------------------------------

    def test_slow_reader_costs_a_bounded_amount_of_memory(self):
        blob = vectors.full_runs(1526)  # 100 million positions: an answer of 800 MB
        warm = self.stub.ReadPositions(read_request(blob), timeout=60)
        next(warm)
        warm.cancel()
        time.sleep(0.5)
        before = self.server.resident_bytes()
        call = self.stub.ReadPositions(read_request(blob))
        next(call)
        growth = 0
        for _ in range(20):
            time.sleep(0.25)
            growth = max(growth, self.server.resident_bytes() - before)
        begin = time.monotonic()
        call.cancel()
        self.assertRaises(grpc.RpcError, lambda: list(call))
        self.assertLess(time.monotonic() - begin, 1 * SLOWNESS)
        if SANITIZED:
            skipped("memory", "sanitizers keep freed memory, so growth says nothing")
        else:
            self.assertLess(growth, 16 * MIB)

    def test_slow_reader_of_a_scan(self):
        before = self.server.resident_bytes()

        def requests():
            yield scan.ScanRequest(open=scan.OpenVectors(vectors=[scan.OpenVector(vector_id=1, vector=inline(DENSE))]))
            # More queries than a server should let wait: it has to stop reading, not to collect them.
            for i in range(20000):
                yield scan.ScanRequest(query=scan.Query(query_id=i, vector_id=1, read=query.ReadQuery()))

        call = self.stub.Scan(requests())
        next(call)
        time.sleep(3)
        growth = self.server.resident_bytes() - before
        call.cancel()
        if not SANITIZED:
            self.assertLess(growth, 32 * MIB)
        self.assertTrue(self.server.alive())

    def quiet(self):
        """Whether the server uses next to no processor time."""
        before = self.server.cpu_seconds()
        time.sleep(0.5)
        return self.server.cpu_seconds() - before <= 0.05

    def test_work_stops_when_the_caller_leaves(self):
        blob = DENSE

        def cancel():
            call = self.stub.ReadPositions(read_request(blob))
            next(call)
            call.cancel()

        def deadline():
            call = self.stub.ReadPositions(read_request(blob), timeout=0.3)
            self.assertEqual(failure(lambda: call).code, "DEADLINE_EXCEEDED")

        def hang_up():
            channel, stub = connect(self.server.address)
            next(stub.ReadPositions(read_request(blob)))
            channel.close()

        def cancel_scan():
            done = threading.Event()

            def requests():
                yield scan.ScanRequest(open=scan.OpenVectors(
                    vectors=[scan.OpenVector(vector_id=1, vector=inline(blob))]))
                yield scan.ScanRequest(query=scan.Query(query_id=1, vector_id=1, read=query.ReadQuery()))
                done.wait(60)

            call = self.stub.Scan(requests())
            next(call)
            next(call)
            call.cancel()
            done.set()

        for leave in (cancel, deadline, hang_up, cancel_scan):
            with self.subTest(leave.__name__):
                leave()
                time.sleep(0.2)
                self.assertTrue(wait_until(self.quiet, 2), "the server goes on working for nobody")
                self.assertTrue(self.server.alive())

    def test_two_hundred_readers_that_do_not_read_leave_room_for_others(self):
        calls = []
        for _ in range(20):
            channel, stub = connect(self.server.address)
            self.addCleanup(channel.close)
            # Enough of an answer to fill every buffer on the way.
            request = read_request(vectors.full_runs(1500), "MASK", 0, 1500 * 65536, polarity="DELETED")
            calls += [stub.ReadPositions(request) for _ in range(10)]
        for call in calls:
            next(call)
        took = []
        for _ in range(100):
            begin = time.monotonic()
            self.assertEqual(health(self.channel), "SERVING")
            took.append(time.monotonic() - begin)
            summary = self.stub.Describe(service.DescribeRequest(vector=inline(vectors.THREE)), timeout=10).summary
            self.assertEqual(summary.cardinality, 3)
        # Where readers that wait take the threads of others, health checks take as long as the readers do.
        self.assertLess(sorted(took)[50], 0.1 * SLOWNESS, "health checks are quick")
        self.assertLess(max(took), 2 * SLOWNESS)
        for call in calls:
            call.cancel()
        self.assertTrue(self.server.alive())


if __name__ == "__main__":
    unittest.main()
