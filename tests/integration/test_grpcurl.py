"""The real grpcurl, by reflection only: lists, describes and calls everything, and gets exactly the JSON that it should."""

import base64
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import vectors
from server import SLOWNESS, TOOLS, Server, missing_tool, skipped

SERVICE = "deletionvector.v1.DeletionVectorService"
HEALTH = "grpc.health.v1.Health"
METHODS = ("Describe", "ReadPositions", "CheckPositions", "CountPositions", "Scan", "ListVectors", "Combine")
THREE = base64.b64encode(vectors.THREE).decode()
# The status codes that grpcurl's exit status and messages are about.
CODES = {"INVALID_ARGUMENT": "InvalidArgument", "FAILED_PRECONDITION": "FailedPrecondition",
         "UNIMPLEMENTED": "Unimplemented", "RESOURCE_EXHAUSTED": "ResourceExhausted"}


def grpcurl(*arguments, data=None, name="grpcurl"):
    """Runs grpcurl; returns status, standard output and standard error."""
    done = subprocess.run([TOOLS / "bin" / name, "-plaintext", *arguments], input=data, capture_output=True, text=True,
                          timeout=120 * SLOWNESS, check=False)
    return done.returncode, done.stdout, done.stderr


def snake_case(document):
    """The document with its keys in snake case."""
    if isinstance(document, list):
        return [snake_case(item) for item in document]
    if not isinstance(document, dict):
        return document
    return {re.sub("[A-Z]", lambda m: "_" + m[0].lower(), key): snake_case(value) for key, value in document.items()}


def documents(text):
    """The JSON documents that follow each other in a text, keys in snake case.

    How grpcurl spells them depends on the reflection service: that of gRPC 1.51 leaves the JSON names out, and then they
    are spelt as in the contract; later ones do not, and then they are in camel case.
    """
    found, decoder = [], json.JSONDecoder()
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        found.append(snake_case(document))
        text = text[end:]
    return found


class GrpcurlTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())

    def call(self, method, *requests, service=SERVICE):
        """Calls a method with requests given as an argument; returns the JSON documents of the answer."""
        text = "\n".join(json.dumps(request) for request in requests)
        status, out, err = grpcurl("-d", text, self.server.address, f"{service}/{method}")
        self.assertEqual((status, err), (0, ""))
        return documents(out)

    def call_one(self, method, request, **options):
        answers = self.call(method, request, **options)
        self.assertEqual(len(answers), 1, answers)
        return answers[0]

    def read(self, blob, **ask):
        return self.call("ReadPositions", {"vector": {"inline": base64.b64encode(blob).decode()}, "query": ask})

    def assert_fails(self, method, request, code, why):
        status, out, err = grpcurl("-d", json.dumps(request), self.server.address, f"{SERVICE}/{method}")
        self.assertNotEqual(status, 0)
        self.assertIn(f"Code: {CODES[code]}", err)
        # By reflection grpcurl reads the details too.
        self.assertIn(f'"reason": "{why}"', err.replace('":"', '": "'))
        self.assertIn("google.rpc.ErrorInfo", err)
        self.assertIn('"deletionvector.v1"', err)
        return out, err

    # --- Reflection -----------------------------------------------------------------------------------------------

    def check_reflection(self, name):
        status, out, err = grpcurl(self.server.address, "list", name=name)
        self.assertEqual((status, err), (0, ""))
        services = out.split()
        self.assertIn(SERVICE, services)
        self.assertIn(HEALTH, services)
        self.assertIn("grpc.reflection.v1alpha.ServerReflection", services)

        status, out, err = grpcurl(self.server.address, "list", SERVICE, name=name)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(sorted(out.split()), sorted(f"{SERVICE}.{method}" for method in METHODS))

        # Whatever is listed can be described.
        for service in services:
            status, out, err = grpcurl(self.server.address, "describe", service, name=name)
            self.assertEqual((status, err), (0, ""), service)
            self.assertIn(f"{service} is a service:", out)
        for symbol in ("DescribeRequest", "DeletionVector", "ScanRequest", "AnswerPart", "Reason", "ItemStatus"):
            status, out, err = grpcurl(self.server.address, "describe", f"deletionvector.v1.{symbol}", name=name)
            self.assertEqual((status, err), (0, ""), symbol)
        for symbol in ("google.rpc.ErrorInfo", "google.rpc.RetryInfo", "google.rpc.Status",
                       "grpc.health.v1.HealthCheckRequest"):
            status, out, err = grpcurl(self.server.address, "describe", symbol, name=name)
            self.assertEqual((status, err), (0, ""), symbol)

        status, out, err = grpcurl("-d", json.dumps({"vector": {"inline": THREE}}), self.server.address,
                                   f"{SERVICE}/Describe", name=name)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(json.loads(out)["summary"]["cardinality"], "3")

    def test_reflection(self):
        self.check_reflection("grpcurl")

    def test_reflection_of_the_old_version_only(self):
        if not (TOOLS / "bin" / "grpcurl-1.8.7").exists():
            skipped("grpcurl-1.8.7", missing_tool("grpcurl-1.8.7"))
            self.skipTest("no grpcurl 1.8.7")
        self.check_reflection("grpcurl-1.8.7")

    def test_health(self):
        for name in ("", SERVICE):
            self.assertEqual(self.call_one("Check", {"service": name}, service=HEALTH), {"status": "SERVING"})
        status, _, err = grpcurl("-d", '{"service":"no.such.Service"}', self.server.address, f"{HEALTH}/Check")
        self.assertNotEqual(status, 0)
        self.assertIn("Code: NotFound", err)

    def test_unix_socket(self):
        with tempfile.TemporaryDirectory(prefix="dv-test-") as folder:
            path = pathlib.Path(folder) / "dv.sock"
            with Server(listen=f"unix:{path}"):
                # Its flag -unix is of no use in release 1.9.3.
                status, out, err = grpcurl(f"unix://{path}", "list")
                self.assertEqual((status, err), (0, ""))
                self.assertIn(SERVICE, out.split())

    # --- Calls ----------------------------------------------------------------------------------------------------

    def test_describe(self):
        self.assertEqual(self.call_one("Describe", {"vector": {"inline": THREE}}), {
            "summary": {
                "cardinality": "3", "first_position": "1", "last_position": "5", "format": "FORMAT_ICEBERG",
                "layout": "LAYOUT_FRAME64", "encoded_size": "46", "key_count": "1", "containers": {"array": "1"},
                "checksum_checked": True,
            },
        })
        request = {"vector": {"inline": THREE, "row_count": "8"}, "histogram": {"bucket_count": 2}}
        self.assertEqual(self.call_one("Describe", request)["histogram"], {"row_count": "8", "counts": ["2", "1"]})

    def test_read_positions(self):
        end = {"end": {"position_count": "3", "part_count": "1"}}
        about = {"row_count": "6", "next_start": "6", "position_count": "3"}
        expected = [{"part": {**about, "positions": {"values": ["1", "3", "5"]}}}, end]
        self.assertEqual(self.call("ReadPositions", {"vector": {"inline": THREE}}), expected)
        self.assertEqual(self.read(vectors.THREE, encoding="ENCODING_POSITIONS"), expected)
        runs = {"starts": ["1", "3", "5"], "lengths": ["1", "1", "1"]}
        self.assertEqual(self.read(vectors.THREE, encoding="ENCODING_RUNS"), [{"part": {**about, "runs": runs}}, end])
        found = self.read(vectors.THREE, encoding="ENCODING_ROARING")
        bitmap = base64.b64decode(found[0]["part"].pop("roaring"))
        self.assertEqual(found, [{"part": about}, end])
        self.assertEqual(vectors.decode64(bitmap), [1, 3, 5])

    def test_read_positions_as_masks(self):
        for polarity, bits, end in (("DELETED", b"\x2a", 6), ("LIVE", b"\x15", 5)):
            name = f"MASK_POLARITY_{polarity}"
            found = self.read(vectors.THREE, encoding="ENCODING_MASK", mask_polarity=name, range={"end": str(end)})
            count = str(sum(p < end for p in (1, 3, 5)))
            self.assertEqual(found, [
                {"part": {"row_count": str(end), "next_start": str(end), "position_count": count,
                          "mask": {"bits": base64.b64encode(bits).decode(), "polarity": name}}},
                {"end": {"position_count": count, "part_count": "1"}},
            ])

    def test_read_positions_of_a_range_with_a_limit(self):
        self.assertEqual(self.read(vectors.THREE, range={"start": "2"}, limit="1"), [
            {"part": {"start": "2", "row_count": "2", "next_start": "4", "position_count": "1",
                      "positions": {"values": ["3"]}}},
            {"end": {"position_count": "1", "limit_reached": True, "next_start": "4", "part_count": "1"}},
        ])
        self.assertEqual(self.read(vectors.VALID["empty"][0]), [{"end": {}}])

    def test_check_and_count(self):
        request = {"vector": {"inline": THREE}, "positions": ["5", "0", "5", "2"]}
        self.assertEqual(self.call_one("CheckPositions", request), {
            "answer": {"deleted": "BQ==", "deleted_count": "2", "position_count": "4"}})
        request = {"vector": {"inline": THREE}, "ranges": [{"start": "4"}, {"end": "4"}, {}, {"start": "9", "end": "9"}]}
        self.assertEqual(self.call_one("CountPositions", request), {"answer": {"counts": ["1", "2", "3", "0"]}})

    def test_scan_with_several_messages_on_standard_input(self):
        two = base64.b64encode(vectors.VALID["two keys"][0]).decode()
        broken = base64.b64encode(vectors.BROKEN["wrong CRC"][0]).decode()
        requests = [
            {"open": {"vectors": [{"vector_id": "1", "vector": {"inline": THREE}},
                                  {"vector_id": "2", "vector": {"chunked": {"total_size": "64"}}},
                                  {"vector_id": "3", "vector": {"inline": broken}}]}},
            {"query": {"query_id": "10", "vector_id": "1", "read": {"encoding": "ENCODING_RUNS"}}},
            {"query": {"query_id": "20", "vector_id": "2", "count": {"ranges": [{}, {"start": "1"}]}}},
            {"query": {"query_id": "30", "vector_id": "3", "check": {"positions": ["1"]}}},
            {"chunk": {"vector_id": "2", "data": two[:40]}},
            {"query": {"query_id": "11", "vector_id": "1", "check": {"positions": ["1", "2"]}}},
            {"chunk": {"vector_id": "2", "offset": "30", "data": two[40:]}},
            {"close_vector": {"vector_id": "1"}},
        ]
        text = "\n".join(json.dumps(request) for request in requests)
        status, out, err = grpcurl("-d", "@", self.server.address, f"{SERVICE}/Scan", data=text)
        self.assertEqual((status, err), (0, ""))
        answers = documents(out)
        opened = {a["opened"]["vector_id"]: a["opened"] for a in answers if "opened" in a}
        self.assertEqual(opened["1"]["summary"]["cardinality"], "3")
        self.assertEqual(opened["2"]["summary"]["last_position"], "4294967296")
        self.assertEqual((opened["3"]["status"]["code"], opened["3"]["status"]["reason"]), (3, "CRC_MISMATCH"))
        parts = {a["part"]["query_id"]: a["part"] for a in answers if "part" in a}
        self.assertEqual(parts["10"]["read"]["runs"], {"starts": ["1", "3", "5"], "lengths": ["1", "1", "1"]})
        self.assertEqual(parts["20"]["count"], {"counts": ["2", "1"]})
        self.assertEqual(parts["11"]["check"], {"deleted": "AQ==", "deleted_count": "1", "position_count": "2"})
        done = {a["done"]["query_id"]: a["done"] for a in answers if "done" in a}
        self.assertEqual(sorted(done), ["10", "11", "20", "30"])
        self.assertEqual(done["10"].get("read_end"), {"position_count": "3", "part_count": "1"})
        self.assertEqual(done["30"]["status"]["reason"], "CRC_MISMATCH")
        self.assertEqual(len(answers), 3 + 3 + 4)

    def test_large_vector_on_standard_input(self):
        # As one argument it would be too long for the system.
        blob = vectors.frame(vectors.roaring64(
            [(0, vectors.roaring32([vectors.bitset(i, range(0, 65536, 3)) for i in range(380)]))]
        ))
        self.assertGreater(len(blob), 3_000_000)
        text = json.dumps({"vector": {"inline": base64.b64encode(blob).decode()}})
        status, out, err = grpcurl("-d", "@", self.server.address, f"{SERVICE}/Describe", data=text)
        self.assertEqual((status, err), (0, ""))
        summary = documents(out)[0]["summary"]
        self.assertEqual(summary["cardinality"], str(380 * 21846))
        self.assertEqual(summary["encoded_size"], str(len(blob)))
        self.assertNotIn("bytes_copied", summary)

    def test_five_million_positions_with_stock_limits(self):
        blob = vectors.full_runs(77)
        for encoding in ("POSITIONS", "ROARING", "RUNS"):
            answers = self.read(blob, encoding=f"ENCODING_{encoding}")
            self.assertEqual(answers[-1]["end"]["position_count"], str(77 * 65536))
            counts = [int(answer["part"]["position_count"]) for answer in answers[:-1]]
            self.assertEqual(sum(counts), 77 * 65536)
            if encoding == "POSITIONS":
                values = (int(v) for answer in answers[:-1] for v in answer["part"]["positions"]["values"])
                self.assertTrue(all(found == wanted for found, wanted in zip(values, range(77 * 65536), strict=True)))

    def test_failures_show_their_reason(self):
        for name, (blob, code, why) in vectors.BROKEN.items():
            with self.subTest(name):
                text = base64.b64encode(blob).decode()
                out, _ = self.assert_fails("ReadPositions", {"vector": {"inline": text}}, code, why)
                self.assertEqual(out, "", "nothing of a broken vector is answered")
        request = {"vector": {"inline": THREE, "expected_cardinality": "4"}}
        _, err = self.assert_fails("Describe", request, "FAILED_PRECONDITION", "CARDINALITY_MISMATCH")
        self.assertIn('"found": "3"', err.replace('":"', '": "'))
        self.assert_fails("Describe", {}, "INVALID_ARGUMENT", "FIELD_REQUIRED")

    def test_what_is_not_implemented(self):
        file = {"file": {"inline": "UEZBMQ=="}}
        self.assert_fails("ListVectors", file, "UNIMPLEMENTED", "NOT_IMPLEMENTED")
        self.assert_fails("Combine", {"start": {"operation": "SET_OPERATION_UNION"}}, "UNIMPLEMENTED", "NOT_IMPLEMENTED")
        vector = {"vector": {"object": {"location": "s3://bucket/a.puffin"}}}
        self.assert_fails("Describe", vector, "UNIMPLEMENTED", "NOT_IMPLEMENTED")


if __name__ == "__main__":
    unittest.main()
