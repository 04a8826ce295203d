#!/usr/bin/env python3
"""Signals: an interrupted command leaves nothing behind and ends as the signal asks.

Usage: interruption_test.py FP4PROOF
"""

import signal
import subprocess
import time

import command
import safetensors_file as st


class Interruption(command.CommandTest):
    def interrupt(self, number, hidden, *arguments, **settings):
        """Starts the command, waits until a hidden name of that beginning stands in the folder, and interrupts it."""
        process = subprocess.Popen(
            [command.BINARY, *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **settings,
        )
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        while not any(name.startswith(hidden) for name in self.names()):
            self.assertIsNone(process.poll(), "it ended before it could be interrupted")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.001)
        time.sleep(0.1)
        process.send_signal(number)
        return process.wait(timeout=60)

    def write_large(self):
        """A tensor of 8 GiB without a byte on the disk: far more than can be quantized before the signal."""
        header = {"x": {"dtype": "F32", "shape": [1 << 31], "data_offsets": [0, 4 << 31]}}
        st.write_raw(self.folder / "in", header, b"")
        size = (self.folder / "in").stat().st_size
        with open(self.folder / "in", "r+b") as file:
            file.truncate(size + (4 << 31))

    def test_temporary_files(self):
        self.write_large()
        (self.folder / "out").write_bytes(b"old")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            code = self.interrupt(number, ".fp4proof-", "quantize", "in", "out", "--profile", "mxfp4/ocp")
            self.assertEqual(code, -number)
            self.assertEqual(self.names(), ["in", "out"])
            self.assertEqual((self.folder / "out").read_bytes(), b"old")

    def test_folders(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            code = self.interrupt(number, ".set.", "generate", "--set", "full", "--out", "set")
            self.assertEqual(code, -number)
            self.assertEqual(self.names(), [])

    def test_an_ignored_signal_stays_ignored(self):
        self.write_large()

        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        process = subprocess.Popen(
            [command.BINARY, "quantize", "in", "out", "--profile", "mxfp4/ocp"],
            cwd=self.folder,
            stderr=subprocess.DEVNULL,
            preexec_fn=ignore,
            restore_signals=False,
        )
        self.addCleanup(process.kill)
        while not any(name.startswith(".fp4proof-") for name in self.names()):
            self.assertIsNone(process.poll())
            time.sleep(0.001)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), -signal.SIGTERM)
        self.assertEqual(self.names(), ["in"])


if __name__ == "__main__":
    command.main()
