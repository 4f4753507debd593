"""Starts and watches the real server."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("DV_SERVER", str(ROOT / "build" / "server" / "dv-server"))
CLIENT = os.environ.get("DV_CLIENT", str(ROOT / "build" / "client" / "dv"))
TOOLS = pathlib.Path(os.environ.get("DV_TOOLS_DIR", ROOT / ".tools"))

# Under sanitizers times and sizes say nothing about the server itself.
SANITIZED = bool(os.environ.get("DV_SANITIZE"))
# How much longer everything may take there.
SLOWNESS = 8 if SANITIZED else 1


def skipped(name, reason):
    """Says that something was not tested, in the form that tests/run.sh collects."""
    print(f"\nSKIPPED {name}: {reason}", flush=True)


def missing_tool(name):
    """Why a tool is not there."""
    note = TOOLS / "missing" / name
    if note.exists():
        return note.read_text().strip()
    return f"not installed in {TOOLS}; run tests/tools/install.sh"


def wait_until(condition, seconds=10.0):
    """Waits until the condition holds, and says whether it does."""
    end = time.monotonic() + seconds * SLOWNESS
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


class Server:
    """A running server. Use it in a `with` statement, which stops it and checks that it stops well."""

    def __init__(self, *arguments, listen="127.0.0.1:0"):
        self._folder = tempfile.TemporaryDirectory(prefix="dv-test-")
        folder = pathlib.Path(self._folder.name)
        self._log = folder / "log"
        address = folder / "address"
        command = [BINARY]
        if listen is not None:
            command.append(f"--listen={listen}")
        command += [f"--address_file={address}", *arguments]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.pid = self.process.pid
        # The address is written once the server takes calls.
        wait_until(lambda: self.process.poll() is not None or (address.exists() and address.read_text().strip()))
        if self.process.poll() is not None or not address.exists():
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"{command} did not start:\n{self.log()}")
        self.address = address.read_text().strip()

    def log(self):
        """What the server has said so far."""
        return self._log.read_text(errors="replace")

    def alive(self):
        return self.process.poll() is None

    def resident_bytes(self):
        """Memory that the process holds now."""
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("no VmRSS")

    def cpu_seconds(self):
        """Processor time that the process has used."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=10.0):
        """Waits for the end of the process and returns its exit status."""
        return self.process.wait(timeout=seconds * SLOWNESS)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        try:
            if self.alive():
                self.signal(signal.SIGTERM)
                try:
                    self.wait(30)
                except subprocess.TimeoutExpired:
                    self.process.kill()
                    self.process.wait()
                    raise AssertionError(f"the server did not stop:\n{self.log()}") from error
                if kind is None and self.process.returncode != 0:
                    raise AssertionError(f"exit status {self.process.returncode}:\n{self.log()}")
            if kind is not None:
                print(f"--- the server's log:\n{self.log()[-4000:]}", flush=True)
        finally:
            self._folder.cleanup()
