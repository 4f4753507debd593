"""How the server starts, where it listens, and how it stops."""

import pathlib
import queue
import re
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
import unittest

import grpc

import vectors
from server import BINARY, SLOWNESS, Server, skipped, wait_until
from stubs import connect, failure, health, inline, query, read_request, scan, service

SERVICE = "deletionvector.v1.DeletionVectorService"
DEFAULT_PORT = 50051


def run(*arguments, timeout=10):
    """Runs the server to its end; returns status, standard output and standard error."""
    done = subprocess.run([BINARY, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=timeout * SLOWNESS, check=False)
    return done.returncode, done.stdout, done.stderr


class OpenScan:
    """A Scan stream that is open and has nothing to do."""

    def __init__(self, stub):
        self._requests = queue.SimpleQueue()
        self.call = stub.Scan(iter(self._requests.get, None))
        self._requests.put(scan.ScanRequest(open=scan.OpenVectors(
            vectors=[scan.OpenVector(vector_id=1, vector=inline(vectors.THREE))])))
        assert next(self.call).opened.status.code == 0

    def ask(self, query_id, **kind):
        self._requests.put(scan.ScanRequest(query=scan.Query(query_id=query_id, vector_id=1, **kind)))

    def half_close(self):
        self._requests.put(None)


class StartTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dv-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assert_serves(self, address):
        channel, stub = connect(address)
        with channel:
            self.assertEqual(health(channel), "SERVING")
            summary = stub.Describe(service.DescribeRequest(vector=inline(vectors.THREE)), timeout=10).summary
            self.assertEqual(summary.cardinality, 3)

    def test_help(self):
        status, out, err = run("--help")
        self.assertEqual((status, err), (0, ""))
        for flag in ("--listen", "--address_file", "--max_message_bytes"):
            self.assertIn(flag, out)
        status, out, _ = run("--version")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"\d+\.\d+\.\d+")

    def test_wrong_flags(self):
        for arguments in (["--no-such-flag"], ["--max_message_bytes=many"], ["--max_message_bytes=-1"], ["left over"],
                          ["--listen=127.0.0.1"], ["--listen=127.0.0.1:99999"], ["--listen="], ["--listen=unix:"]):
            with self.subTest(arguments):
                status, _, err = run(*arguments)
                self.assertGreater(status, 0)
                self.assertLess(status, 126, "not by a signal")
                self.assertGreater(len(err), 10)

    def test_listens_on_loopback_by_default(self):
        with socket.socket() as probe:
            # As the server itself does, so that connections of earlier tests that linger are not in the way.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", DEFAULT_PORT))
            except OSError as error:
                skipped("default-port", f"port {DEFAULT_PORT} is taken on this machine: {error}")
                return
        with Server(listen=None) as server:
            self.assertEqual(server.address, f"127.0.0.1:{DEFAULT_PORT}")
            self.assert_serves(server.address)
            # Loopback only: no socket of any other address listens on the port.
            table = pathlib.Path("/proc/net/tcp").read_text() + pathlib.Path("/proc/net/tcp6").read_text()
            listening = re.findall(rf"^\s*\d+: ([0-9A-F]+):{DEFAULT_PORT:04X} \S+ 0A ", table, re.MULTILINE)
            # gRPC listens on the IPv6 spelling of it.
            self.assertEqual([address.removeprefix("0000000000000000FFFF0000") for address in listening], ["0100007F"])

    def test_chooses_a_free_port(self):
        with Server() as server:
            self.assertRegex(server.address, r"^127\.0\.0\.1:[1-9]\d+$")
            self.assert_serves(server.address)

    def test_second_server_on_the_port_is_refused(self):
        with Server() as server:
            begin = time.monotonic()
            status, out, err = run(f"--listen={server.address}")
            self.assertLess(time.monotonic() - begin, 2 * SLOWNESS)
            self.assertGreater(status, 0)
            self.assertIn("in use", (out + err).lower())
            self.assertIn(server.address, out + err)
            self.assert_serves(server.address)

    def test_unix_socket(self):
        path = self.folder / "dv.sock"
        with Server(listen=f"unix:{path}") as server:
            self.assertEqual(server.address, f"unix:{path}")
            self.assertTrue(stat.S_ISSOCK(path.stat().st_mode))
            # For the server's own user alone, unless told otherwise.
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
            self.assert_serves(server.address)
        self.assertFalse(path.exists(), "the socket is taken away at the end")
        with Server("--socket_mode=0660", listen=f"unix:{path}") as server:
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o660)
            self.assert_serves(server.address)

    def test_several_addresses(self):
        path = self.folder / "dv.sock"
        with Server(listen=f"127.0.0.1:0,unix:{path}") as server:
            addresses = server.address.splitlines()
            self.assertEqual(len(addresses), 2)
            for address in addresses:
                self.assert_serves(address)

    def test_stale_socket_is_replaced(self):
        path = self.folder / "dv.sock"
        with Server(listen=f"unix:{path}") as server:
            server.signal(signal.SIGKILL)
            server.wait()
            server.process.returncode = 0  # as wanted
        self.assertTrue(path.exists(), "a killed server leaves its socket behind")
        with Server(listen=f"unix:{path}") as server:
            self.assert_serves(server.address)

    def test_live_socket_is_refused(self):
        path = self.folder / "dv.sock"
        with Server(listen=f"unix:{path}") as server:
            status, out, err = run(f"--listen=unix:{path}")
            self.assertGreater(status, 0)
            self.assertIn("in use", (out + err).lower())
            self.assert_serves(server.address)

    def test_other_files_are_left_alone(self):
        path = self.folder / "precious"
        path.write_text("not a socket")
        status, out, err = run(f"--listen=unix:{path}")
        self.assertGreater(status, 0)
        self.assertIn(str(path), out + err)
        self.assertEqual(path.read_text(), "not a socket")

    def test_socket_in_a_folder_that_is_not_there(self):
        status, _, err = run(f"--listen=unix:{self.folder}/none/dv.sock")
        self.assertGreater(status, 0)
        self.assertGreater(len(err), 10)


class StopTest(unittest.TestCase):
    def test_stops_on_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number.name), Server() as server:
                begin = time.monotonic()
                server.signal(number)
                self.assertEqual(server.wait(), 0, server.log())
                self.assertLess(time.monotonic() - begin, 5 * SLOWNESS, "nothing was left to wait for")

    def test_stops_with_an_open_stream(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number.name), Server("--shutdown_grace=2s") as server:
                channel, stub = connect(server.address)
                with channel:
                    stream = OpenScan(stub)
                    begin = time.monotonic()
                    server.signal(number)
                    found = failure(lambda s=stream: s.call)
                    self.assertIn(found.code, ("UNAVAILABLE", "CANCELLED"), found)
                    self.assertEqual(server.wait(20), 0, server.log())
                    self.assertLess(time.monotonic() - begin, 10 * SLOWNESS)

    def test_says_that_it_stops_and_takes_no_new_calls(self):
        with Server("--shutdown_grace=20s") as server:
            channel, stub = connect(server.address)
            with channel:
                # gRPC's health service tells watchers of a change; Watch answers with what it has first.
                watch = channel.unary_stream("/grpc.health.v1.Health/Watch")(b"")
                self.assertEqual(next(watch), b"\x08\x01")
                states = []

                def follow():
                    try:
                        states.extend(watch)
                    except grpc.RpcError:
                        pass

                threading.Thread(target=follow, daemon=True).start()
                stream = OpenScan(stub)
                server.signal(signal.SIGTERM)
                self.assertTrue(wait_until(lambda: states), "no word of the change")
                self.assertEqual(states[0], b"\x08\x02")

                def refused():
                    fresh_channel, fresh = connect(server.address)
                    with fresh_channel:
                        try:
                            fresh.Describe(service.DescribeRequest(vector=inline(vectors.THREE)), timeout=5)
                        except grpc.RpcError as error:
                            return error.code() == grpc.StatusCode.UNAVAILABLE
                    return False

                self.assertTrue(wait_until(refused), "new calls are still taken")
                # Work that is under way gets its answer.
                stream.ask(1, count=query.CountQuery(ranges=[query.PositionRange()]))
                stream.half_close()
                try:
                    counts = [r.part.count.counts[0] for r in stream.call if r.HasField("part")]
                    self.assertEqual(counts, [3])
                except grpc.RpcError as error:
                    # A server may also end streams at once, as long as it says that it is stopping.
                    self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE)
                watch.cancel()
                self.assertEqual(server.wait(25), 0, server.log())

    def test_second_signal_ends_it_at_once(self):
        with Server("--shutdown_grace=60s") as server:
            channel, stub = connect(server.address)
            with channel:
                # An answer of 34 GB that nobody reads keeps the server from stopping by itself.
                call = stub.ReadPositions(read_request(vectors.full_runs(65536)))
                next(call)
                server.signal(signal.SIGTERM)
                time.sleep(0.5)
                self.assertTrue(server.alive(), server.log())
                begin = time.monotonic()
                server.signal(signal.SIGTERM)
                self.assertNotEqual(server.wait(), None)
                self.assertLess(time.monotonic() - begin, 2 * SLOWNESS)
                server.process.returncode = 0  # whatever it was: the end was not a peaceful one
                call.cancel()


class TransportTest(unittest.TestCase):
    def test_compressed_requests_are_refused(self):
        with Server() as server:
            channel, stub = connect(server.address)
            with channel:
                before = server.resident_bytes()
                for algorithm in (grpc.Compression.Gzip, grpc.Compression.Deflate):
                    request = service.DescribeRequest(vector=inline(bytes(32 << 20)))
                    found = failure(lambda r=request, a=algorithm: stub.Describe(r, compression=a, timeout=60))
                    self.assertEqual(found.code, "UNIMPLEMENTED", found)
                if SLOWNESS == 1:
                    self.assertLess(server.resident_bytes() - before, 16 << 20, "it was inflated")
                # The connection and the server are as they were.
                self.assertEqual(health(channel), "SERVING")

    def test_message_past_the_limit(self):
        with Server("--max_message_bytes=100000") as server:
            channel, stub = connect(server.address)
            with channel:
                request = service.DescribeRequest(vector=inline(vectors.full_runs(20000)))
                found = failure(lambda: stub.Describe(request, timeout=60))
                self.assertEqual(found.code, "RESOURCE_EXHAUSTED", found)
                self.assertIn("100000", found.message)

    def test_frequent_pings_are_welcome(self):
        with Server() as server:
            options = [("grpc.keepalive_time_ms", 11000), ("grpc.keepalive_timeout_ms", 5000),
                       ("grpc.keepalive_permit_without_calls", 1), ("grpc.http2.max_pings_without_data", 0)]
            idle_channel, idle = connect(server.address, *options)
            busy_channel, busy = connect(server.address, *options)
            with idle_channel, busy_channel:
                self.assertEqual(health(idle_channel), "SERVING")
                # On one connection nothing happens, on the other a stream is open and does nothing.
                states = []
                idle_channel.subscribe(states.append)
                stream = OpenScan(busy)
                time.sleep(50)
                # With gRPC's defaults the third such ping brings a GOAWAY with too_many_pings, which ends the stream.
                stream.ask(1, count=query.CountQuery(ranges=[query.PositionRange()]))
                self.assertEqual(next(stream.call).part.count.counts[0], 3)
                stream.half_close()
                self.assertNotIn(grpc.ChannelConnectivity.TRANSIENT_FAILURE, states)
                self.assertNotIn(grpc.ChannelConnectivity.IDLE, states[1:])
                self.assertEqual(health(idle_channel), "SERVING")
                idle.Describe(service.DescribeRequest(vector=inline(vectors.THREE)), timeout=10)


if __name__ == "__main__":
    unittest.main()
