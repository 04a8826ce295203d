"""Running the command under test, and the test programs' common frame."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

BINARY = ""


class Outcome:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout.decode()
        self.err = process.stderr.decode()


class CommandTest(unittest.TestCase):
    """A test case with an empty folder of its own, `self.folder`, which is the working folder of the command."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, *arguments, **settings):
        process = subprocess.run(
            [BINARY, *map(str, arguments)],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=settings.pop("stdout", subprocess.PIPE),
            stderr=subprocess.PIPE,
            timeout=300,
            **settings,
        )
        if process.stdout is None:
            process.stdout = b""
        return Outcome(process)

    def expect(self, code, *arguments, **settings):
        """Runs the command and checks its exit code. An error is one line that says where it comes from."""
        outcome = self.run_command(*arguments, **settings)
        self.assertEqual(outcome.code, code, f"{arguments}\n{outcome.out}{outcome.err}")
        return outcome

    def expect_error(self, code, words, *arguments, **settings):
        """Runs the command; its error must hold every one of `words`."""
        outcome = self.expect(code, *arguments, **settings)
        self.assertIn("fp4proof: error: ", outcome.err, arguments)
        for word in words:
            self.assertIn(word, outcome.err, arguments)
        return outcome

    def names(self):
        """What stands in the folder, hidden files included."""
        return sorted(path.name for path in self.folder.iterdir())


def main(module="__main__"):
    """unittest.main() for `PROGRAM FP4PROOF [unittest arguments]`; zero tests are a failure."""
    global BINARY
    sys.modules["command"].BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
    result = unittest.main(module=module, exit=False).result
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
