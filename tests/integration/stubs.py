"""Generates the client stubs from proto/deletionvector/v1 and loads them; and small helpers around calls.

The two other packages that calls touch are not generated: `google.rpc` comes with grpcio-status, and the two messages
of `grpc.health.v1` that are needed are written out below, so that nothing shadows the installed `grpc` package.
"""

import atexit
import pathlib
import sys
import tempfile

import grpc
import grpc_tools
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from grpc_tools import protoc

from server import ROOT

_folder = tempfile.TemporaryDirectory(prefix="dv-stubs-")
atexit.register(_folder.cleanup)
_sources = sorted((ROOT / "proto" / "deletionvector" / "v1").glob("*.proto"))
_status = protoc.main(
    [
        "protoc",
        f"--proto_path={ROOT / 'proto'}",
        f"--proto_path={pathlib.Path(grpc_tools.__file__).parent / '_proto'}",
        f"--python_out={_folder.name}",
        f"--grpc_python_out={_folder.name}",
        *(str(source) for source in _sources),
    ]
)
assert _status == 0, "the stubs could not be generated"
sys.path.insert(0, _folder.name)

# pylint: disable=wrong-import-position,unused-import
from deletionvector.v1 import combine_pb2 as combine  # noqa: E402
from deletionvector.v1 import deletion_vector_service_pb2 as service  # noqa: E402
from deletionvector.v1 import deletion_vector_service_pb2_grpc as service_grpc  # noqa: E402
from deletionvector.v1 import list_pb2 as listing  # noqa: E402
from deletionvector.v1 import query_pb2 as query  # noqa: E402
from deletionvector.v1 import reason_pb2 as reason  # noqa: E402
from deletionvector.v1 import scan_pb2 as scan  # noqa: E402
from deletionvector.v1 import vector_pb2 as vector  # noqa: E402

DOMAIN = "deletionvector.v1"
MAX_MESSAGE = 1 << 20


def connect(address, *options):
    """A channel of its own, with stock limits, and the stub on it."""
    channel = grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1), *options])
    return channel, service_grpc.DeletionVectorServiceStub(channel)


def inline(data, **fields):
    return vector.DeletionVector(inline=data, **fields)


def read_request(data, encoding="POSITIONS", start=None, end=None, **fields):
    """A ReadPositionsRequest for the bytes of a vector."""
    ask = query.ReadQuery(encoding=query.Encoding.Value(f"ENCODING_{encoding}"))
    if start is not None or end is not None:
        ask.range.start = start or 0
        if end is not None:
            ask.range.end = end
    if "limit" in fields:
        ask.limit = fields.pop("limit")
    if "polarity" in fields:
        ask.mask_polarity = query.MaskPolarity.Value(f"MASK_POLARITY_{fields.pop('polarity')}")
    return service.ReadPositionsRequest(vector=inline(data, **fields), query=ask)


class Failure:
    """How a call failed: code and message, and reason and metadata of the ErrorInfo in its details."""

    def __init__(self, error):
        self.code = error.code().name
        self.message = error.details()
        self.reason = ""
        self.domain = ""
        self.metadata = {}
        status = rpc_status.from_call(error)
        self.detail_count = len(status.details) if status else 0
        self.status_code = status.code if status else None
        self.size = status.ByteSize() if status else 0
        for detail in status.details if status else []:
            info = error_details_pb2.ErrorInfo()
            if detail.Unpack(info):
                self.reason, self.domain, self.metadata = info.reason, info.domain, dict(info.metadata)

    def __repr__(self):
        return f"{self.code} {self.reason} {self.metadata}: {self.message}"


def failure(call):
    """The failure of a call, which must fail. `call` returns a message or a stream."""
    try:
        answer = call()
        if not hasattr(answer, "DESCRIPTOR"):
            answer = list(answer)
    except grpc.RpcError as error:
        return Failure(error)
    raise AssertionError(f"the call did not fail: {str(answer)[:500]}")


def health(channel, name=""):
    """What grpc.health.v1.Health/Check says of a service: SERVING, NOT_SERVING or the name of an error's code."""
    # A HealthCheckRequest has the name in field 1, a HealthCheckResponse the status in field 1.
    name = name.encode()
    check = channel.unary_unary("/grpc.health.v1.Health/Check")
    try:
        answer = check(b"\x0a" + bytes([len(name)]) + name if name else b"", timeout=10)
    except grpc.RpcError as error:
        return error.code().name
    return {b"": "UNKNOWN", b"\x08\x01": "SERVING", b"\x08\x02": "NOT_SERVING"}[answer]
