"""Runs the examples of README.md, so that they stay true.

A fenced block that starts with ```sh and is preceded by a line `<!-- tested -->` is run by bash, with the server's
address put in for `127.0.0.1:50051` and the build's programs for those in `build/`. When a fenced block that starts with
```text follows at once, it is what the commands must print.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from server import BINARY, CLIENT, ROOT, SLOWNESS, TOOLS, Server, missing_tool, skipped

BLOCK = re.compile(r"<!-- tested -->\n```sh\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def comparable(text):
    """A text without what grpcurl varies: the spaces in JSON, and with releases of gRPC the case of its keys."""
    text = re.sub(r"\s+", "", text)
    return re.sub(r'"(\w+)":', lambda key: re.sub("[A-Z]", lambda m: "_" + m[0].lower(), key[0]), text)


class ReadmeTest(unittest.TestCase):
    def test_examples(self):
        text = (ROOT / "README.md").read_text()
        blocks = BLOCK.findall(text)
        self.assertEqual(len(blocks), text.count("<!-- tested -->"))
        self.assertGreater(len(blocks), 5)
        have_grpcurl = (TOOLS / "bin" / "grpcurl").exists()
        if not have_grpcurl:
            skipped("grpcurl", missing_tool("grpcurl"))
        with Server() as server, tempfile.TemporaryDirectory(prefix="dv-test-") as folder:
            # The examples may write files, so they run elsewhere; what they name of the source tree is linked there.
            bin_folder = pathlib.Path(folder) / "bin"
            bin_folder.mkdir()
            for name, program in (("dv-server", BINARY), ("dv", CLIENT), ("grpcurl", TOOLS / "bin" / "grpcurl")):
                (bin_folder / name).symlink_to(pathlib.Path(program).resolve())
            for name in ("proto", "tests", "client", "docker"):
                (pathlib.Path(folder) / name).symlink_to(ROOT / name)
            environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "DV_SERVER": server.address}
            for script, expected in blocks:
                if "grpcurl" in script and not have_grpcurl:
                    continue
                script = script.replace("127.0.0.1:50051", server.address)
                script = script.replace("build/server/dv-server", "dv-server").replace("build/client/dv", "dv")
                with self.subTest(script.splitlines()[0]):
                    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=environment,
                                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                          timeout=120 * SLOWNESS, check=False)
                    # An example may show an error, which is on standard error.
                    printed = done.stdout + done.stderr
                    if expected:
                        self.assertEqual(comparable(printed), comparable(expected), script)
                    else:
                        self.assertEqual(done.returncode, 0, f"{script}\n{printed}")

    def test_flags(self):
        text = (ROOT / "README.md").read_text()
        shown = subprocess.run([BINARY, "--help"], capture_output=True, text=True, check=True).stdout
        defaults = dict(re.findall(r"^  --(\w+)=(\S+)$", shown, re.MULTILINE))
        table = dict(re.findall(r"^\| `--(\w+)` \| ([^|]+?) \|", text, re.MULTILINE))
        # Every limit that there is, each with the value that it really has.
        self.assertLessEqual({name for name in defaults if name.startswith("max_")}, set(table))
        for name, value in table.items():
            with self.subTest(name):
                number, _, unit = value.partition(" ")
                if unit in ("", "MiB"):
                    expected = int(number.replace(",", "")) << (20 if unit else 0)
                    self.assertEqual(int(defaults[name]), expected)
                else:
                    self.assertEqual((name, defaults[name]), ("worker_threads", "0"))
        # Flags of the server have underscores, or are one of these; all others are of other programs.
        for name in re.findall(r"`--([a-z]+(?:_[a-z]+)+)\b", text) + ["listen"]:
            self.assertIn(name, defaults)


if __name__ == "__main__":
    unittest.main()
