"""Every unary call and ReadPositions, through stubs that another language's tools made from the contract."""

import bisect
import random
import unittest

import grpc

import vectors
from answers import collect, mask
from server import Server
from stubs import (DOMAIN, MAX_MESSAGE, connect, failure, health, inline, listing, query, read_request, reason, scan,
                   service, vector)

READS = ("POSITIONS", "RUNS", "ROARING")
TIMEOUT = 60
LAST = (1 << 64) - 1
REASONS = {name[len("REASON_"):] for name in reason.Reason.keys()}


class CallsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())
        cls.channel, cls.stub = connect(cls.server.address)

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()

    def describe(self, data, **fields):
        request = service.DescribeRequest(vector=inline(data, **fields))
        return self.stub.Describe(request, timeout=TIMEOUT).summary

    def read(self, data, encoding="POSITIONS", start=None, end=None, **fields):
        responses = self.stub.ReadPositions(read_request(data, encoding, start, end, **fields), timeout=TIMEOUT)
        return collect(responses, start or 0, end)

    def check(self, data, positions):
        request = service.CheckPositionsRequest(vector=inline(data), positions=positions)
        return self.stub.CheckPositions(request, timeout=TIMEOUT).answer

    def count(self, data, ranges, **fields):
        request = service.CountPositionsRequest(vector=inline(data, **fields))
        for start, end in ranges:
            request.ranges.add(start=start, end=end)
        return list(self.stub.CountPositions(request, timeout=TIMEOUT).answer.counts)

    def every_call(self, source):
        """Each call that reads one vector, on that vector."""
        named = vector.DeletionVector
        source = source if isinstance(source, named) else inline(source)
        yield "Describe", lambda: self.stub.Describe(service.DescribeRequest(vector=source), timeout=TIMEOUT)
        for encoding in READS:
            ask = query.ReadQuery(encoding=query.Encoding.Value(f"ENCODING_{encoding}"))
            request = service.ReadPositionsRequest(vector=source, query=ask)
            yield f"ReadPositions {encoding}", lambda r=request: self.stub.ReadPositions(r, timeout=TIMEOUT)
        ask = query.ReadQuery(encoding=query.ENCODING_MASK, mask_polarity=query.MASK_POLARITY_DELETED)
        ask.range.end = 10
        request = service.ReadPositionsRequest(vector=source, query=ask)
        yield "ReadPositions MASK", lambda r=request: self.stub.ReadPositions(r, timeout=TIMEOUT)
        check = service.CheckPositionsRequest(vector=source, positions=[1])
        yield "CheckPositions", lambda: self.stub.CheckPositions(check, timeout=TIMEOUT)
        count = service.CountPositionsRequest(vector=source, ranges=[query.PositionRange()])
        yield "CountPositions", lambda: self.stub.CountPositions(count, timeout=TIMEOUT)

    def assert_fails(self, call, code, *reasons):
        """The call fails with the code, one of the reasons, and all that every failure must have."""
        found = failure(call)
        self.assertEqual(found.code, code, found)
        self.assertIn(found.reason, reasons, found)
        self.assertIn(found.reason, REASONS)
        self.assertEqual(found.domain, DOMAIN)
        self.assertGreater(len(found.message), 15, found)
        self.assertEqual(found.status_code, grpc.StatusCode[code].value[0])
        self.assertLessEqual(len(found.message) + found.size, 4096)
        return found

    # --- What a sound vector says ---------------------------------------------------------------------------------

    def test_describes_known_vectors(self):
        for name, (blob, positions) in vectors.VALID.items():
            with self.subTest(name):
                summary = self.describe(blob)
                self.assertEqual(summary.cardinality, len(positions))
                self.assertEqual(summary.HasField("first_position"), bool(positions))
                self.assertEqual(summary.HasField("last_position"), bool(positions))
                if positions:
                    self.assertEqual(summary.first_position, positions[0])
                    self.assertEqual(summary.last_position, positions[-1])
                self.assertEqual(summary.format, vector.FORMAT_ICEBERG)
                self.assertEqual(summary.layout, vector.LAYOUT_FRAME64)
                self.assertEqual(summary.encoded_size, len(blob))
                self.assertEqual(summary.bytes_copied, 0)
                self.assertTrue(summary.checksum_checked)
                self.assertFalse(summary.identity_checked)

    def test_counts_containers_and_keys(self):
        containers = [vectors.array(0, [1]), vectors.bitset(1, range(5000)), vectors.runs(9, [(0, 3), (7, 2)])]
        blob = vectors.frame(
            vectors.roaring64([(0, vectors.roaring32([])), (5, vectors.roaring32(containers))])
        )
        summary = self.describe(blob)
        self.assertEqual(summary.cardinality, 5006)
        self.assertEqual((summary.key_count, summary.empty_key_count), (2, 1))
        counts = summary.containers
        self.assertEqual((counts.array, counts.bitset, counts.run), (1, 1, 1))

    def test_reads_known_vectors_in_every_encoding(self):
        for name, (blob, positions) in vectors.VALID.items():
            for encoding in READS:
                with self.subTest(name, encoding=encoding):
                    self.assertEqual(self.read(blob, encoding).positions, positions)

    def test_query_may_be_absent(self):
        request = service.ReadPositionsRequest(vector=inline(vectors.THREE))
        answer = collect(self.stub.ReadPositions(request, timeout=TIMEOUT))
        self.assertEqual(answer.positions, [1, 3, 5])
        self.assertFalse(answer.end.limit_reached)

    def test_masks_stop_at_the_exclusive_end(self):
        cases = [
            (0, 5, "DELETED", "0a"), (0, 6, "DELETED", "2a"), (2, 5, "DELETED", "02"), (5, 6, "DELETED", "01"),
            (6, 6, "DELETED", ""), (0, 5, "LIVE", "15"), (6, 6, "LIVE", ""), (1, 10, "LIVE", "ea01"),
        ]
        for start, end, polarity, expected in cases:
            with self.subTest(start=start, end=end, polarity=polarity):
                answer = self.read(vectors.THREE, "MASK", start, end, polarity=polarity)
                self.assertEqual(answer.bits.hex(), expected)
        answer = self.read(vectors.VALID["two keys"][0], "MASK", (1 << 32) - 1, (1 << 32) + 2, polarity="DELETED")
        self.assertEqual(answer.bits.hex(), "02")

    def test_empty_range_is_an_empty_answer(self):
        for encoding in READS:
            answer = self.read(vectors.THREE, encoding, 3, 3)
            self.assertEqual((answer.positions, answer.total), ([], 0))
        self.assertEqual(self.count(vectors.THREE, [(3, 3)]), [0])

    def test_last_possible_position(self):
        data = vectors.roaring64([(0xFFFFFFFF, vectors.roaring32([vectors.array(0xFFFF, [0, 0xFFFF])]))])
        bare = {"format": vector.FORMAT_ROARING64}
        summary = self.describe(data, **bare)
        self.assertEqual((summary.last_position, summary.layout), (LAST, vector.LAYOUT_ROARING64))
        self.assertFalse(summary.checksum_checked)
        for encoding in READS:
            self.assertEqual(self.read(data, encoding, **bare).positions, [LAST - 0xFFFF, LAST])
            self.assertEqual(self.read(data, encoding, end=LAST, **bare).positions, [LAST - 0xFFFF])
        self.assertEqual(self.count(data, [(0, None), (0, LAST), (LAST, None)], **bare), [2, 1, 1])

    def test_random_vectors_against_an_independent_decoder(self):
        for seed in range(8):
            chance = random.Random(seed)
            blob = vectors.random_vector(chance)
            positions = vectors.decode_frame(blob)
            summary = self.describe(blob)
            self.assertEqual(summary.cardinality, len(positions))
            for encoding in READS:
                self.assertEqual(self.read(blob, encoding).positions, positions, (seed, encoding))
            edges = positions or [0]
            for _ in range(6):
                start = max(0, chance.choice(edges) + chance.randint(-70000, 70000))
                end = start + chance.choice([0, 1, 7, 65536, 200000, 1 << 33])
                low, high = (bisect.bisect_left(positions, edge) for edge in (start, end))
                encoding = chance.choice(READS)
                with self.subTest(seed=seed, start=start, end=end, encoding=encoding):
                    self.assertEqual(self.read(blob, encoding, start, end).positions, positions[low:high])
                    self.assertEqual(self.count(blob, [(start, end), (start, None)]),
                                     [high - low, len(positions) - low])
                    limit = chance.randint(0, high - low + 1)
                    cut = self.read(blob, encoding, start, end, limit=limit)
                    self.assertEqual(cut.positions, positions[low:high][:limit])
                    self.assertEqual(cut.end.limit_reached, limit < high - low)
                    end = min(end, start + 300001)
                    for polarity in ("DELETED", "LIVE"):
                        found = self.read(blob, "MASK", start, end, polarity=polarity)
                        self.assertEqual(found.bits, mask(positions, start, end, polarity == "LIVE"))
            asked = [chance.choice(edges) + chance.randint(0, 2) for _ in range(2000)]
            answer = self.check(blob, asked)
            deleted = set(positions)
            expected = mask((i for i, p in enumerate(asked) if p in deleted), 0, len(asked))
            self.assertEqual(answer.deleted, expected)
            self.assertEqual(answer.deleted_count, sum(p in deleted for p in asked))

    def test_check_keeps_the_order_of_the_request(self):
        answer = self.check(vectors.THREE, [5, 0, 5, 1, 2, LAST, 3, 3, 3])
        self.assertEqual((answer.deleted.hex(), answer.deleted_count, answer.position_count), ("cd01", 6, 9))
        answer = self.check(vectors.THREE, [])
        self.assertEqual((answer.deleted, answer.deleted_count, answer.position_count), (b"", 0, 0))

    def test_count_keeps_the_order_of_the_request(self):
        ranges = [(4, 9), (0, None), (3, 4), (0, 6), (0, 5), (9, 9)]
        self.assertEqual(self.count(vectors.THREE, ranges), [1, 3, 1, 3, 2, 0])
        self.assertEqual(self.count(vectors.THREE, []), [])

    def test_histogram(self):
        request = service.DescribeRequest(vector=inline(vectors.THREE, row_count=7))
        request.histogram.bucket_count = 3
        found = self.stub.Describe(request, timeout=TIMEOUT).histogram
        self.assertEqual((found.row_count, list(found.counts), found.beyond_count), (7, [1, 1, 1], 0))
        request = service.DescribeRequest(vector=inline(vectors.THREE))
        request.histogram.row_count = 4
        request.histogram.bucket_count = 2
        found = self.stub.Describe(request, timeout=TIMEOUT).histogram
        self.assertEqual((found.row_count, list(found.counts), found.beyond_count), (4, [1, 1], 1))
        request.histogram.bucket_count = 4096
        self.assertEqual(len(self.stub.Describe(request, timeout=TIMEOUT).histogram.counts), 4096)

    def test_expectations_that_hold(self):
        self.assertEqual(self.describe(vectors.THREE, expected_cardinality=3, row_count=6).cardinality, 3)
        self.assertEqual(self.describe(vectors.VALID["empty"][0], expected_cardinality=0, row_count=0).cardinality, 0)

    # --- Long answers ---------------------------------------------------------------------------------------------

    def test_goes_on_where_a_broken_call_stopped(self):
        blocks = 40
        blob = vectors.full_runs(blocks)
        for encoding in ("POSITIONS", "MASK"):
            with self.subTest(encoding=encoding):
                fields = {"polarity": "DELETED"} if encoding == "MASK" else {}
                end = blocks * 65536
                rows, start, calls = 0, 0, 0
                while start < end:
                    # Take one part, then hang up, as a worker does that is moved elsewhere.
                    call = self.stub.ReadPositions(read_request(blob, encoding, start, end, **fields), timeout=TIMEOUT)
                    part = next(call).part
                    call.cancel()
                    self.assertEqual(part.start, start)
                    rows += part.position_count
                    start = part.next_start
                    calls += 1
                self.assertEqual(rows, end)
                self.assertGreater(calls, 1 if encoding == "MASK" else 10)

    def test_pages_by_limit(self):
        blob = vectors.VALID["run"][0]
        found, start = [], 0
        while True:
            answer = self.read(blob, "POSITIONS", start, limit=33)
            found += answer.positions
            if not answer.end.limit_reached:
                break
            start = answer.end.next_start
        self.assertEqual(found, list(range(100)))

    def test_limit_of_nothing(self):
        answer = self.read(vectors.THREE, limit=0)
        self.assertEqual(answer.positions, [])
        self.assertTrue(answer.end.limit_reached)

    def test_large_vector_inline(self):
        # More than the 4 MiB that stock servers take.
        blob = vectors.frame(vectors.roaring64(
            [(0, vectors.roaring32([vectors.bitset(i, range(i, 65536, 2)) for i in range(650)]))]
        ))
        self.assertGreater(len(blob), 5 << 20)
        self.assertEqual(self.describe(blob).cardinality, sum((65536 - i + 1) // 2 for i in range(650)))

    # --- What is refused ------------------------------------------------------------------------------------------

    def test_broken_vectors_are_refused_by_every_call(self):
        for name, (blob, code, why) in vectors.BROKEN.items():
            for call_name, call in self.every_call(blob):
                with self.subTest(name, call=call_name):
                    self.assert_fails(call, code, why)

    def test_metadata_repeats_the_values(self):
        found = self.assert_fails(lambda: self.stub.Describe(service.DescribeRequest(
            vector=inline(vectors.THREE, expected_cardinality=4))), "FAILED_PRECONDITION", "CARDINALITY_MISMATCH")
        self.assertEqual((found.metadata["found"], found.metadata["expected"]), ("3", "4"))
        self.assertIn("3", found.message)
        self.assertIn("4", found.message)
        blob, _, _ = vectors.BROKEN["cut short"]
        found = failure(lambda: self.stub.Describe(service.DescribeRequest(vector=inline(blob))))
        self.assertEqual(found.metadata["needed"], "46")
        blob, _, _ = vectors.BROKEN["offset of 0"]
        found = failure(lambda: self.stub.Describe(service.DescribeRequest(vector=inline(blob))))
        self.assertIn(int(found.metadata["offset"]), (32, 36))  # the entry, or the container that it is about

    def test_expectations_that_do_not_hold(self):
        for call in (lambda s: self.stub.Describe(service.DescribeRequest(vector=s)),
                     lambda s: self.stub.ReadPositions(service.ReadPositionsRequest(vector=s))):
            self.assert_fails(lambda c=call: c(inline(vectors.THREE, expected_cardinality=4)),
                              "FAILED_PRECONDITION", "CARDINALITY_MISMATCH")
            self.assert_fails(lambda c=call: c(inline(vectors.THREE, row_count=5)),
                              "FAILED_PRECONDITION", "POSITION_PAST_ROW_COUNT")

    def test_ranges_that_make_no_sense(self):
        request = service.CountPositionsRequest(vector=inline(vectors.THREE))
        request.ranges.add(start=0)
        request.ranges.add(start=7, end=6)
        self.assert_fails(lambda: self.stub.CountPositions(request), "INVALID_ARGUMENT", "RANGE_INVALID")
        self.assert_fails(lambda: self.stub.ReadPositions(read_request(vectors.THREE, "RUNS", 7, 6)),
                          "INVALID_ARGUMENT", "RANGE_INVALID")

    def test_masks_that_make_no_sense(self):
        read = self.stub.ReadPositions
        self.assert_fails(lambda: read(read_request(vectors.THREE, "MASK", 0, polarity="LIVE")),
                          "INVALID_ARGUMENT", "MASK_NEEDS_END")
        self.assert_fails(lambda: read(read_request(vectors.THREE, "MASK", 0, 6)),
                          "INVALID_ARGUMENT", "FIELD_REQUIRED")
        self.assert_fails(lambda: read(read_request(vectors.THREE, "MASK", 0, 6, polarity="LIVE", limit=1)),
                          "INVALID_ARGUMENT", "FIELDS_CONTRADICTORY", "FIELD_INVALID")
        self.assert_fails(lambda: read(read_request(vectors.THREE, "RUNS", 0, 6, polarity="LIVE")),
                          "INVALID_ARGUMENT", "FIELDS_CONTRADICTORY", "FIELD_INVALID")

    def test_vector_that_is_not_there(self):
        for name, call in self.every_call(vector.DeletionVector()):
            with self.subTest(name):
                self.assert_fails(call, "INVALID_ARGUMENT", "FIELD_REQUIRED")
        self.assert_fails(lambda: self.stub.Describe(service.DescribeRequest()), "INVALID_ARGUMENT", "FIELD_REQUIRED")

    def test_chunks_belong_in_streams(self):
        source = vector.DeletionVector(chunked=vector.ChunkedUpload(total_size=46))
        for name, call in self.every_call(source):
            with self.subTest(name):
                self.assert_fails(call, "INVALID_ARGUMENT", "FIELD_INVALID")

    def test_unknown_enum_values(self):
        request = service.DescribeRequest(vector=inline(vectors.THREE, format=99))
        self.assert_fails(lambda: self.stub.Describe(request), "INVALID_ARGUMENT", "FIELD_INVALID")
        request = service.ReadPositionsRequest(vector=inline(vectors.THREE), query=query.ReadQuery(encoding=99))
        self.assert_fails(lambda: self.stub.ReadPositions(request), "INVALID_ARGUMENT", "FIELD_INVALID")

    def test_request_that_is_not_protobuf(self):
        for name in ("Describe", "CheckPositions", "CountPositions"):
            call = self.channel.unary_unary(f"/deletionvector.v1.DeletionVectorService/{name}")
            with self.subTest(name):
                self.assert_fails(lambda c=call: c(b"\x0a\xff\xff\xff\xff\x0f"), "INVALID_ARGUMENT", "REQUEST_MALFORMED")
        call = self.channel.unary_stream("/deletionvector.v1.DeletionVectorService/ReadPositions")
        self.assert_fails(lambda: call(b"\x07"), "INVALID_ARGUMENT", "REQUEST_MALFORMED")

    def test_unary_calls_take_100000_items(self):
        positions = [i * 2 for i in range(100000)]
        self.assertEqual(self.check(vectors.THREE, positions).deleted_count, 0)
        request = service.CheckPositionsRequest(vector=inline(vectors.THREE), positions=positions + [1])
        found = self.assert_fails(lambda: self.stub.CheckPositions(request), "RESOURCE_EXHAUSTED", "TOO_MANY_ITEMS")
        self.assertIn("Scan", found.message)
        request = service.CountPositionsRequest(vector=inline(vectors.THREE),
                                                ranges=[query.PositionRange()] * 100000)
        answer = self.stub.CountPositions(request, timeout=TIMEOUT)
        self.assertEqual(list(answer.answer.counts), [3] * 100000)
        self.assertLessEqual(answer.ByteSize(), MAX_MESSAGE)
        request.ranges.add()
        self.assert_fails(lambda: self.stub.CountPositions(request), "RESOURCE_EXHAUSTED", "TOO_MANY_ITEMS")

    def test_histograms_that_make_no_sense(self):
        def ask(**fields):
            return lambda: self.stub.Describe(service.DescribeRequest(
                vector=inline(vectors.THREE), histogram=query.HistogramQuery(**fields)))

        self.assert_fails(ask(bucket_count=4), "INVALID_ARGUMENT", "FIELD_REQUIRED")
        self.assert_fails(ask(row_count=10), "INVALID_ARGUMENT", "FIELD_INVALID", "FIELD_REQUIRED")
        self.assert_fails(ask(row_count=10, bucket_count=4097), "RESOURCE_EXHAUSTED", "TOO_MANY_ITEMS")

    def test_bare_roaring_is_never_guessed(self):
        bare = vectors.pack([1, 3, 5])
        self.assert_fails(lambda: self.stub.Describe(service.DescribeRequest(vector=inline(bare))),
                          "FAILED_PRECONDITION", "LAYOUT_UNKNOWN")
        self.assertEqual(self.describe(bare, format=vector.FORMAT_ROARING64).cardinality, 3)
        self.assert_fails(
            lambda: self.stub.Describe(service.DescribeRequest(vector=inline(bare, format=vector.FORMAT_ICEBERG))),
            "FAILED_PRECONDITION", "LAYOUT_UNKNOWN", "LAYOUT_MISMATCH", "FRAME_LENGTH_MISMATCH")

    def test_what_is_not_implemented_says_so(self):
        sources = {
            "object": vector.DeletionVector(object=vector.ObjectReference(location="s3://bucket/a.puffin")),
            "delta": vector.DeletionVector(delta=vector.DeltaDescriptor(
                storage_type="u", path_or_inline_dv="vBn[lx{q8@P<9BNH/isA", offset=1, size_in_bytes=36, cardinality=2,
                table_root="s3://bucket/table")),
            "puffin": inline(vectors.THREE, format=vector.FORMAT_PUFFIN),
            "paimon": inline(vectors.THREE, format=vector.FORMAT_PAIMON),
            "lance": inline(vectors.THREE, format=vector.FORMAT_LANCE),
            "roaring32": inline(vectors.THREE, format=vector.FORMAT_ROARING32),
        }
        for name, source in sources.items():
            for call_name, call in self.every_call(source):
                with self.subTest(name, call=call_name):
                    self.assert_fails(call, "UNIMPLEMENTED", "NOT_IMPLEMENTED")
        request = service.ListVectorsRequest(file=listing.VectorFile(inline=b"PFA1"))
        self.assert_fails(lambda: self.stub.ListVectors(request), "UNIMPLEMENTED", "NOT_IMPLEMENTED")
        self.assert_fails(lambda: self.stub.Combine(iter([service.CombineRequest()])),
                          "UNIMPLEMENTED", "NOT_IMPLEMENTED")

    def test_native_layout_is_named(self):
        native = bytes.fromhex("d0d33964") + b"\x01\0\0\0" + b"\x12\0\0\0" + vectors.roaring32([vectors.array(0, [1])])
        found = self.assert_fails(lambda: self.stub.Describe(service.DescribeRequest(vector=inline(native))),
                                  "UNIMPLEMENTED", "NOT_IMPLEMENTED")
        self.assertIn("native", found.message.lower())

    # --- Beside our own service -----------------------------------------------------------------------------------

    def test_health(self):
        self.assertEqual(health(self.channel), "SERVING")
        self.assertEqual(health(self.channel, "deletionvector.v1.DeletionVectorService"), "SERVING")
        self.assertEqual(health(self.channel, "no.such.Service"), "NOT_FOUND")

    def test_a_deadline_that_is_over(self):
        found = failure(lambda: self.stub.ReadPositions(read_request(vectors.full_runs(65536)), timeout=0.3))
        self.assertEqual(found.code, "DEADLINE_EXCEEDED")

    def test_item_status_has_the_fields_of_a_status(self):
        self.assertEqual([field.name for field in scan.ItemStatus.DESCRIPTOR.fields],
                         ["code", "message", "reason", "metadata", "retry_delay"])


if __name__ == "__main__":
    unittest.main()
