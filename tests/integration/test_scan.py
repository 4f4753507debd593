"""The stream of a scan worker, through stubs that another language's tools made from the contract."""

import queue
import random
import threading
import unittest

import grpc

import vectors
from answers import Answer, mask
from server import Server
from stubs import MAX_MESSAGE, connect, failure, inline, query, reason, scan, service, vector

TIMEOUT = 60
CODES = {code.value[0]: code.name for code in grpc.StatusCode}
REASONS = {name[len("REASON_"):] for name in reason.Reason.keys()}


def read_query(encoding="POSITIONS", start=None, end=None, limit=None, polarity=None):
    ask = query.ReadQuery(encoding=query.Encoding.Value(f"ENCODING_{encoding}"), limit=limit)
    if start is not None or end is not None:
        ask.range.start = start or 0
        if end is not None:
            ask.range.end = end
    if polarity:
        ask.mask_polarity = query.MaskPolarity.Value(f"MASK_POLARITY_{polarity}")
    return ask


class Worker:
    """One Scan stream: sends requests, collects the answers by id, and checks what every stream must keep."""

    def __init__(self, stub):
        self._requests = queue.SimpleQueue()
        self._answers = queue.SimpleQueue()
        self.call = stub.Scan(iter(self._requests.get, None), timeout=TIMEOUT)
        self.opened = {}
        self.done = {}
        self.answers = {}  # parts by query id
        self.order = []  # ids of queries in the order in which their last messages came
        self.error = None
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self):
        try:
            for response in self.call:
                self._answers.put(response)
        except grpc.RpcError as error:
            self.error = error
        self._answers.put(None)

    def send(self, **fields):
        self._requests.put(scan.ScanRequest(**fields))

    def open(self, vector_id, data, **fields):
        self.open_many([(vector_id, inline(data, **fields))])

    def open_many(self, pairs):
        self.send(open=scan.OpenVectors(
            vectors=[scan.OpenVector(vector_id=i, vector=source) for i, source in pairs]))

    def open_chunked(self, vector_id, size, **fields):
        source = vector.DeletionVector(chunked=vector.ChunkedUpload(total_size=size), **fields)
        self.open_many([(vector_id, source)])

    def chunk(self, vector_id, offset, data):
        self.send(chunk=scan.VectorChunk(vector_id=vector_id, offset=offset, data=data))

    def ask(self, query_id, vector_id, **kind):
        self.send(query=scan.Query(query_id=query_id, vector_id=vector_id, **kind))

    def close_vector(self, vector_id):
        self.send(close_vector=scan.CloseVector(vector_id=vector_id))

    def _take(self):
        """Takes the next response; returns whether there was one."""
        response = self._answers.get(timeout=TIMEOUT)
        if response is None:
            return False
        assert response.ByteSize() <= MAX_MESSAGE, response.ByteSize()
        kind = response.WhichOneof("response")
        if kind == "opened":
            self.opened.setdefault(response.opened.vector_id, []).append(response.opened)
        elif kind == "part":
            assert response.part.query_id not in self.done, "a part after the end"
            self.answers.setdefault(response.part.query_id, []).append(response.part)
        else:
            assert response.done.query_id not in self.done, "two ends of one query"
            self.done[response.done.query_id] = response.done
            self.order.append(response.done.query_id)
        return True

    def until_opened(self, vector_id, times=1):
        while len(self.opened.get(vector_id, [])) < times:
            assert self._take(), f"the stream ended: {self.error}"
        return self.opened[vector_id][-1]

    def until_done(self, query_id):
        while query_id not in self.done:
            assert self._take(), f"the stream ended: {self.error}"
        return self.done[query_id]

    def forget(self, query_id):
        """Makes the id of an answered query ready for another one."""
        del self.done[query_id]
        self.answers.pop(query_id, None)

    def finish(self):
        """Half-closes, takes all that is left, and expects the stream to end with OK."""
        self._requests.put(None)
        while self._take():
            pass
        assert self.error is None, self.error
        return self

    def fail(self):
        """Takes all that is left, and returns how the stream failed."""
        while self._take():
            pass
        assert self.error is not None, "the stream did not fail"
        self._requests.put(None)

        def raise_it():
            raise self.error

        return failure(raise_it)

    def positions(self, query_id, start=0, end=None):
        """The answer to a ReadQuery that went well."""
        assert self.done[query_id].status.code == 0, self.done[query_id].status
        answer = Answer(start, end)
        for part in self.answers.get(query_id, []):
            answer.add(part.read)
        return answer.finish(self.done[query_id].read_end)


class ScanTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())
        cls.channel, cls.stub = connect(cls.server.address)

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()

    def assert_status(self, status, code, why):
        self.assertEqual((CODES[status.code], status.reason), (code, why), status)
        self.assertIn(status.reason, REASONS)
        self.assertGreater(len(status.message), 15)

    def assert_ok(self, status):
        self.assertEqual((status.code, status.message, status.reason), (0, "", ""))

    def test_many_vectors_and_queries_without_waiting(self):
        worker = Worker(self.stub)
        names = sorted(vectors.VALID)
        worker.open_many([(i, inline(vectors.VALID[name][0])) for i, name in enumerate(names)])
        for i, _ in enumerate(names):
            worker.ask(100 + i, i, read=read_query())
            worker.ask(200 + i, i, count=query.CountQuery(ranges=[query.PositionRange()]))
            worker.ask(300 + i, i, check=query.CheckQuery(positions=[5, 1, 0]))
            worker.ask(400 + i, i, histogram=query.HistogramQuery(row_count=10, bucket_count=2))
        worker.finish()
        for i, name in enumerate(names):
            positions = vectors.VALID[name][1]
            with self.subTest(name):
                self.assertEqual(len(worker.opened[i]), 1)
                self.assert_ok(worker.opened[i][0].status)
                self.assertEqual(worker.opened[i][0].summary.cardinality, len(positions))
                self.assertEqual(worker.positions(100 + i).positions, positions)
                self.assertEqual(list(worker.answers[200 + i][0].count.counts), [len(positions)])
                found = worker.answers[300 + i][0].check
                self.assertEqual(found.deleted[0], sum((p in positions) << n for n, p in enumerate([5, 1, 0])))
                found = worker.answers[400 + i][0].histogram
                self.assertEqual(list(found.counts), [sum(p < 5 for p in positions), sum(5 <= p < 10 for p in positions)])
                self.assertEqual(found.beyond_count, sum(p >= 10 for p in positions))
        self.assertEqual(len(worker.done), 4 * len(names))

    def test_chunks_of_several_vectors_by_turns(self):
        chance = random.Random(7)
        blobs = {i: vectors.random_vector(random.Random(100 + i)) for i in range(5)}
        blobs[5] = vectors.THREE
        worker = Worker(self.stub)
        for i, blob in blobs.items():
            worker.open_chunked(i, len(blob))
            worker.ask(i, i, read=read_query("RUNS"))  # waits for the vector
        sent = dict.fromkeys(blobs, 0)
        while sent:
            i = chance.choice(sorted(sent))
            size = min(chance.choice([0, 1, 2, 3, 9, 4096, 10000, 70000]), len(blobs[i]) - sent[i])
            worker.chunk(i, sent[i], blobs[i][sent[i]:sent[i] + size])
            sent[i] += size
            if sent[i] == len(blobs[i]):
                del sent[i]
        worker.finish()
        for i, blob in blobs.items():
            positions = vectors.decode_frame(blob)
            self.assert_ok(worker.opened[i][0].status)
            self.assertEqual(worker.opened[i][0].summary.cardinality, len(positions))
            # Small chunks may be copied, and then it is told.
            self.assertLessEqual(worker.opened[i][0].summary.bytes_copied, len(blob))
            self.assertEqual(worker.positions(i).positions, positions)

    def test_one_byte_chunks(self):
        worker = Worker(self.stub)
        worker.open_chunked(1, len(vectors.THREE))
        for offset, byte in enumerate(vectors.THREE):
            worker.chunk(1, offset, bytes([byte]))
        worker.ask(1, 1, read=read_query("MASK", 0, 6, polarity="LIVE"))
        worker.finish()
        self.assertEqual(worker.positions(1, 0, 6).bits, mask([1, 3, 5], 0, 6, live=True))

    def test_every_encoding_limit_and_range(self):
        blob = vectors.random_vector(random.Random(3))
        positions = vectors.decode_frame(blob)
        middle = positions[len(positions) // 2]
        worker = Worker(self.stub)
        worker.open(9, blob)
        for i, encoding in enumerate(("POSITIONS", "RUNS", "ROARING")):
            worker.ask(i, 9, read=read_query(encoding, middle, limit=1000))
        worker.ask(3, 9, read=read_query("MASK", middle, middle + 100000, polarity="DELETED"))
        worker.finish()
        expected = positions[len(positions) // 2:][:1000]
        for i in range(3):
            answer = worker.positions(i, middle)
            self.assertEqual(answer.positions, expected)
            self.assertTrue(answer.end.limit_reached)
        self.assertEqual(worker.positions(3, middle, middle + 100000).bits,
                         mask(positions, middle, middle + 100000))

    def test_queries_may_have_more_items_than_unary_calls(self):
        worker = Worker(self.stub)
        worker.open(1, vectors.THREE)
        asked = [i % 7 for i in range(250000)]
        worker.ask(1, 1, check=query.CheckQuery(positions=asked))
        worker.ask(2, 1, count=query.CountQuery(ranges=[query.PositionRange(start=i % 7) for i in range(250000)]))
        worker.finish()
        bits, index = bytearray(), 0
        for part in worker.answers[1]:
            self.assertEqual(part.check.first_index, index)
            # Parts join at whole bytes only if all but the last are about a multiple of 8 positions.
            self.assertTrue(index % 8 == 0)
            index += part.check.position_count
            bits += part.check.deleted
        self.assertEqual(bits, mask((i for i, p in enumerate(asked) if p in (1, 3, 5)), 0, len(asked)))
        self.assertEqual(sum(part.check.deleted_count for part in worker.answers[1]),
                         sum(p in (1, 3, 5) for p in asked))
        counts = []
        for part in worker.answers[2]:
            self.assertEqual(part.count.first_index, len(counts))
            counts += part.count.counts
        self.assertEqual(counts, [[3, 3, 2, 2, 1, 1, 0][i % 7] for i in range(250000)])

    def test_one_failure_leaves_the_others_alone(self):
        worker = Worker(self.stub)
        broken = list(vectors.BROKEN.values())
        worker.open_many([(0, inline(vectors.THREE))] + [(i + 1, inline(b[0])) for i, b in enumerate(broken)])
        for i in range(len(broken) + 1):
            worker.ask(i, i, read=read_query())
        worker.ask(99, 0, count=query.CountQuery(ranges=[query.PositionRange(start=5, end=4)]))
        worker.ask(98, 77, read=read_query())
        worker.ask(97, 0, read=read_query("MASK"))
        worker.ask(96, 0)
        worker.finish()
        self.assertEqual(worker.positions(0).positions, [1, 3, 5])
        for i, (_, code, why) in enumerate(broken):
            opened = worker.opened[i + 1][0]
            self.assert_status(opened.status, code, why)
            self.assertFalse(opened.HasField("summary"))
            # A query on a vector that failed fails as the vector did, and answers nothing.
            self.assert_status(worker.done[i + 1].status, code, why)
            self.assertNotIn(i + 1, worker.answers)
        self.assert_status(worker.done[99].status, "INVALID_ARGUMENT", "RANGE_INVALID")
        self.assert_status(worker.done[98].status, "NOT_FOUND", "VECTOR_NOT_OPEN")
        self.assertEqual(CODES[worker.done[97].status.code], "INVALID_ARGUMENT")
        self.assert_status(worker.done[96].status, "INVALID_ARGUMENT", "FIELD_REQUIRED")

    def test_what_is_not_implemented_fails_as_an_item(self):
        worker = Worker(self.stub)
        worker.open_many([
            (1, vector.DeletionVector(object=vector.ObjectReference(location="s3://bucket/a.puffin"))),
            (2, inline(vectors.THREE, format=vector.FORMAT_PAIMON)),
            (3, inline(vectors.THREE)),
        ])
        worker.finish()
        self.assert_status(worker.opened[1][0].status, "UNIMPLEMENTED", "NOT_IMPLEMENTED")
        self.assert_status(worker.opened[2][0].status, "UNIMPLEMENTED", "NOT_IMPLEMENTED")
        self.assert_ok(worker.opened[3][0].status)

    def test_ids(self):
        worker = Worker(self.stub)
        worker.open(1, vectors.THREE)
        self.assert_ok(worker.until_opened(1).status)
        # The vector that has the id is not affected by another open under it.
        worker.open(1, vectors.VALID["run"][0])
        self.assert_status(worker.until_opened(1, times=2).status, "ALREADY_EXISTS", "VECTOR_ID_IN_USE")
        worker.ask(1, 1, read=read_query())
        worker.until_done(1)
        self.assertEqual(worker.positions(1).positions, [1, 3, 5])
        # A query's id is free once it is done, a vector's once it is closed.
        worker.forget(1)
        worker.close_vector(1)
        worker.close_vector(1234567)
        worker.open(1, vectors.VALID["two keys"][0])
        worker.ask(1, 1, read=read_query())
        worker.until_done(1)
        self.assertEqual(worker.positions(1).positions, [0, 1 << 32])
        # Vectors and queries have ids of their own; the whole of 64 bits is theirs.
        last = (1 << 64) - 1
        worker.open(last, vectors.THREE)
        worker.ask(last, last, read=read_query())
        worker.ask(0, last, read=read_query())
        worker.finish()
        self.assertEqual(worker.positions(last).positions, worker.positions(0).positions)

    def test_query_id_in_use(self):
        worker = Worker(self.stub)
        worker.open_chunked(1, len(vectors.THREE))
        worker.open(2, vectors.THREE)
        worker.ask(5, 1, read=read_query())  # waits
        worker.ask(5, 2, read=read_query())
        status = worker.until_done(5).status
        self.assert_status(status, "ALREADY_EXISTS", "QUERY_ID_IN_USE")
        worker.forget(5)
        # The one that waits is still there.
        worker.chunk(1, 0, vectors.THREE)
        worker.until_done(5)
        self.assertEqual(worker.positions(5).positions, [1, 3, 5])
        worker.finish()

    def test_cancel_a_query(self):
        worker = Worker(self.stub)
        worker.open_chunked(1, len(vectors.THREE))
        worker.open(2, vectors.full_runs(65536))
        worker.ask(1, 1, read=read_query())  # waits
        worker.ask(2, 2, read=read_query())  # 34 GB of answer
        worker.send(cancel_query=scan.CancelQuery(query_id=1))
        worker.send(cancel_query=scan.CancelQuery(query_id=2))
        worker.send(cancel_query=scan.CancelQuery(query_id=3))
        self.assert_status(worker.until_done(1).status, "CANCELLED", "QUERY_CANCELLED")
        self.assert_status(worker.until_done(2).status, "CANCELLED", "QUERY_CANCELLED")
        worker.ask(3, 2, count=query.CountQuery(ranges=[query.PositionRange()]))
        worker.until_done(3)
        self.assertEqual(list(worker.answers[3][0].count.counts), [1 << 32])
        worker.chunk(1, 0, vectors.THREE)
        worker.finish()

    def test_chunks_that_are_wrong(self):
        worker = Worker(self.stub)
        size = len(vectors.THREE)
        for i in range(1, 5):
            worker.open_chunked(i, size)
            worker.ask(i, i, read=read_query())
        worker.chunk(1, 1, vectors.THREE[1:])  # does not start where it has to
        worker.chunk(2, 0, vectors.THREE + b"\0")  # more than was said
        worker.chunk(3, 0, vectors.THREE[:10])
        worker.close_vector(3)  # before it is there
        worker.chunk(3, 10, vectors.THREE[10:])  # dropped
        worker.chunk(99, 0, b"never opened")  # dropped
        worker.chunk(1, 1, vectors.THREE)  # dropped, as the vector has failed
        worker.chunk(4, 0, vectors.THREE[:size - 1])  # never complete
        worker.finish()
        self.assert_status(worker.opened[1][0].status, "INVALID_ARGUMENT", "CHUNK_OUT_OF_ORDER")
        self.assert_status(worker.opened[2][0].status, "INVALID_ARGUMENT", "CHUNK_PAST_TOTAL_SIZE")
        self.assert_status(worker.opened[3][0].status, "CANCELLED", "UPLOAD_INCOMPLETE")
        self.assert_status(worker.opened[4][0].status, "CANCELLED", "UPLOAD_INCOMPLETE")
        for i in range(1, 5):
            self.assertEqual(len(worker.opened[i]), 1)
            self.assertEqual(worker.done[i].status.reason, worker.opened[i][0].status.reason)

    def test_upload_of_no_size(self):
        worker = Worker(self.stub)
        worker.open_chunked(1, 0)
        worker.finish()
        self.assert_status(worker.opened[1][0].status, "INVALID_ARGUMENT", "FIELD_INVALID")

    def test_upload_of_a_petabyte_is_refused_at_the_open(self):
        worker = Worker(self.stub)
        worker.open_chunked(1, 1 << 50)
        status = worker.until_opened(1).status
        self.assertEqual(CODES[status.code], "RESOURCE_EXHAUSTED")
        self.assertIn(status.reason, ("VECTOR_TOO_LARGE", "TOO_MANY_OPEN_BYTES"))
        worker.finish()

    def test_queries_before_a_close_are_answered(self):
        worker = Worker(self.stub)
        worker.open(1, vectors.full_runs(20))
        worker.ask(1, 1, read=read_query())
        worker.close_vector(1)
        worker.ask(2, 1, read=read_query())
        worker.finish()
        self.assertEqual(worker.positions(1).total, 20 * 65536)
        self.assert_status(worker.done[2].status, "NOT_FOUND", "VECTOR_NOT_OPEN")

    def test_empty_stream_and_empty_open(self):
        Worker(self.stub).finish()
        worker = Worker(self.stub)
        worker.open_many([])
        worker.finish()
        self.assertEqual((worker.opened, worker.done), ({}, {}))

    def test_messages_that_end_the_stream(self):
        worker = Worker(self.stub)
        worker.send()
        found = worker.fail()
        self.assertEqual(found.code, "INVALID_ARGUMENT", found)
        self.assertIn(found.reason, ("FIELD_REQUIRED", "REQUEST_MALFORMED"))
        raw = self.channel.stream_stream("/deletionvector.v1.DeletionVectorService/Scan")
        found = failure(lambda: raw(iter([b"\x0a\xff\xff\xff\xff\x0f"]), timeout=TIMEOUT))
        self.assertEqual((found.code, found.reason), ("INVALID_ARGUMENT", "REQUEST_MALFORMED"))

    def test_random_work(self):
        for seed in range(3):
            chance = random.Random(seed)
            worker = Worker(self.stub)
            known = []
            for i in range(4):
                blob = vectors.random_vector(chance)
                known.append(vectors.decode_frame(blob))
                worker.open(i, blob)
            asked = {}
            for i in range(60):
                target = chance.randrange(4)
                start = max(0, chance.choice(known[target] or [0]) - chance.randint(0, 100000))
                end = start + chance.randint(0, 300000)
                encoding = chance.choice(["POSITIONS", "RUNS", "ROARING"])
                asked[i] = (target, start, end)
                worker.ask(i, target, read=read_query(encoding, start, end))
            worker.finish()
            for i, (target, start, end) in asked.items():
                expected = [p for p in known[target] if start <= p < end]
                self.assertEqual(worker.positions(i, start, end).positions, expected, (seed, i))


class LimitsTest(unittest.TestCase):
    """Each limit of a stream says which flag it is."""

    def start(self, *flags):
        server = self.enterContext(Server(*flags))
        channel, stub = connect(server.address)
        self.addCleanup(channel.close)
        return stub

    def assert_limit(self, status, why, flag):
        self.assertEqual((CODES[status.code], status.reason), ("RESOURCE_EXHAUSTED", why), status)
        self.assertEqual(status.metadata["limit"], flag)
        self.assertIn(flag, status.message)

    def test_bytes_of_a_vector(self):
        stub = self.start("--max_vector_bytes=63")
        worker = Worker(stub)
        worker.open(1, vectors.VALID["two keys"][0])
        worker.open_chunked(2, 64)
        worker.open(3, vectors.THREE)
        worker.finish()
        for i in (1, 2):
            self.assert_limit(worker.opened[i][0].status, "VECTOR_TOO_LARGE", "--max_vector_bytes")
        self.assertEqual(worker.opened[3][0].status.code, 0)
        found = failure(lambda: stub.Describe(service.DescribeRequest(vector=inline(vectors.VALID["two keys"][0]))))
        self.assertEqual((found.code, found.reason), ("RESOURCE_EXHAUSTED", "VECTOR_TOO_LARGE"))
        self.assertEqual(found.metadata["limit"], "--max_vector_bytes")

    def test_open_vectors(self):
        worker = Worker(self.start("--max_open_vectors=2"))
        for i in range(3):
            worker.open(i, vectors.THREE)
        self.assert_limit(worker.until_opened(2).status, "TOO_MANY_VECTORS", "--max_open_vectors")
        worker.close_vector(0)
        worker.open(2, vectors.THREE)
        self.assertEqual(worker.until_opened(2, times=2).status.code, 0)
        worker.finish()

    def test_open_bytes(self):
        worker = Worker(self.start("--max_open_bytes=100"))
        worker.open(1, vectors.THREE)
        worker.open_chunked(2, 55)
        worker.open_chunked(3, 54)
        self.assert_limit(worker.until_opened(2).status, "TOO_MANY_OPEN_BYTES", "--max_open_bytes")
        worker.close_vector(1)
        worker.close_vector(2)
        worker.open(4, vectors.THREE)
        self.assertEqual(worker.until_opened(4).status.code, 0)
        worker.finish()

    def test_fields_of_a_message(self):
        stub = self.start("--max_message_fields=1000")
        ranges = [query.PositionRange(start=1)] * 2000
        request = service.CountPositionsRequest(vector=inline(vectors.THREE), ranges=ranges)
        found = failure(lambda: stub.CountPositions(request))
        self.assertEqual((found.code, found.metadata.get("limit")), ("RESOURCE_EXHAUSTED", "--max_message_fields"))

    def test_pending_queries_slow_the_caller_down_and_fail_nothing(self):
        worker = Worker(self.start("--max_pending_queries=2", "--max_pending_bytes=1000"))
        worker.open(1, vectors.full_runs(10))
        for i in range(200):
            worker.ask(i, 1, read=read_query("RUNS"))
        worker.finish()
        for i in range(200):
            self.assertEqual(worker.positions(i).total, 10 * 65536)


if __name__ == "__main__":
    unittest.main()
