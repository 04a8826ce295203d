"""Usage: faulty_process.py VENDOR_PROCESS FAULT

The program of the manual with one fault in how it answers.
"""

import importlib.util
import json
import os
import signal
import struct
import sys
import time


def load(path):
    specification = importlib.util.spec_from_file_location("vendor_process", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


vendor = load(sys.argv[1])
fault = sys.argv[2]
asked = 0


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def spoil(lines):
    """The answer to a question with cases, as text."""
    global asked
    asked += 1
    text = "\n".join(lines) + "\n"
    if fault == "truncated":
        say("\n".join(lines[:3]) + "\n")
        sys.exit(0)
    if fault == "half_a_line":
        say(text[:len(text) // 2])
        sys.exit(0)
    if fault == "hang":
        say("\n".join(lines[:2]) + "\n")
        time.sleep(1000)
    if fault == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if fault == "early_exit":
        sys.exit(0)
    if fault == "exit_after_answer":
        say(text)
        sys.exit(0)
    if fault == "endless_line":
        while True:
            say("00 " * 20000)
    if fault == "endless_lines":
        say(lines[0] + "\n")
        while True:
            say(lines[1] + "\n")
    if fault == "close_output":
        os.close(1)
        time.sleep(1000)
    changed = {
        "missing_line": [lines[0], *lines[2:]],
        "extra_line": [*lines[:2], *lines[1:]],
        "wrong_count": [lines[0] + "1", *lines[1:]],
        "wrong_end": [*lines[:-1], "#end count=0"],
        "no_mark": [lines[0].replace("/1", "/2"), *lines[1:]],
        "not_hexadecimal": [lines[0], "xy" + lines[1][2:], *lines[2:]],
        "too_wide": [lines[0], "1" + lines[1], *lines[2:]],
        "word_missing": [lines[0], lines[1][3:], *lines[2:]],
        "word_too_many": [lines[0], "00 " + lines[1], *lines[2:]],
        "no_separator": [lines[0], lines[1].replace("|", ""), *lines[2:]],
        "empty_line": [lines[0], "", *lines[2:]],
        "after_end": [*lines, "done"],
        "chatter": ["loading the model", *lines],
        "promise_broken": ["#fp4proof/1 unsupported"],
        "error": ["#fp4proof/1 error out of memory"],
        "order_counts": [lines[0], "00" + lines[1][2:], *lines[2:]],
        "two_runs_differ": [lines[0], ("00" if asked % 2 else "11") + lines[1][2:], *lines[2:]],
        "wrong": [line if line.startswith("#") else "00" + line[2:] for line in lines],
    }
    if fault == "remembers" and asked > 2:  # each question comes twice
        lines = changed["wrong"]
    return "\n".join(changed.get(fault, lines)) + "\n"


def serve_text():
    """The program of the manual, spoiled."""
    if fault == "writes_before_reading":
        say("x" * (1 << 20))
    if fault == "no_describe":
        vendor.answer = (lambda whole: lambda fields, cases: ["#fp4proof/1 unsupported"]
                         if fields["op"] == "describe" else whole(fields, cases))(vendor.answer)
    if fault == "never_reads":
        time.sleep(1000)
    for line in sys.stdin:
        if fault == "stops_reading" and "op=describe" not in line and "count=0" not in line:
            time.sleep(1000)
        fields = dict(field.split("=", 1) for field in line.split()[1:])
        cases = []
        for index in range(int(fields["count"])):
            cases.append(sys.stdin.readline())
            if fault == "stderr" and index == 0:
                sys.stderr.write("a remark\n")
        sys.stdin.readline()
        lines = vendor.answer(fields, cases)
        text = spoil(lines) if cases and len(lines) > 1 else "\n".join(lines) + "\n"
        if fault == "carriage_returns":
            text = text.replace("\n", "\r\n")
        if fault == "dribbles":
            for first in range(0, len(text), 997):
                say(text[first:first + 997])
        else:
            say(text)
    if fault == "after_the_last_question":
        say("good bye\n")
    if fault == "ignores_the_end":
        time.sleep(1000)
    if fault == "bad_end":
        sys.exit(5)
    if fault == "survivor" and os.fork() == 0:
        os.setsid()
        os.close(1)
        time.sleep(1000)


def words(data):
    return " ".join(f"{word:08x}" for word in struct.unpack(f"<{len(data) // 4}I", data))


def frame(header, body=b""):
    text = json.dumps({"format": "fp4proof/1", "bytes": len(body), **header}).encode()
    sys.stdout.buffer.write(struct.pack("<I", len(text)) + text + body)
    sys.stdout.buffer.flush()


def serve_binary():
    """The same program over frames."""
    while length := sys.stdin.buffer.read(4):
        header = json.loads(sys.stdin.buffer.read(struct.unpack("<I", length)[0]))
        body = sys.stdin.buffer.read(header["bytes"])
        if header["op"] == "describe":
            frame({"status": "ok", "name": "framed", "version": "2", "description": "frames"})
            continue
        if (header["op"], header["profile"]) != ("quantize", "mxfp4/ocp") or len(header["inputs"]) != 1:
            frame({"status": "unsupported"})
            continue
        count = header["count"]
        size = len(body) // max(count, 1)
        cases = [words(body[i * size:(i + 1) * size]) for i in range(count)]
        lines = vendor.answer({key: str(value) for key, value in header.items()}, cases)[1:-1]
        parts = [[bytes.fromhex(part) for part in line.split("|")] for line in lines]
        answer = b"".join(part[0] for part in parts) + b"".join(part[1] for part in parts)
        if count and fault == "binary_exit":
            frame({"status": "ok", "count": count}, answer)
            sys.exit(0)
        if count and fault == "binary_short":
            answer = answer[:-1]
        if count and fault == "binary_wrong_count":
            count += 1
        if count and fault == "binary_huge_header":
            sys.stdout.buffer.write(b"\xff\xff\xff\x7f")
        if count and fault == "binary_no_json":
            sys.stdout.buffer.write(struct.pack("<I", 3) + b"no!")
        if count and fault == "binary_key_twice":
            text = f'{{"format": "fp4proof/1", "status": "ok", "count": {count + 1}, "bytes": {len(answer)}, ' \
                   f'"count": {count}}}'.encode()
            sys.stdout.buffer.write(struct.pack("<I", len(text)) + text + answer)
            sys.stdout.buffer.flush()
            continue
        if count and fault == "binary_error":
            frame({"status": "error", "error": "out of memory"})
            continue
        if count and fault == "binary_stops":
            text = json.dumps({"format": "fp4proof/1", "status": "ok", "count": count, "bytes": len(answer)}).encode()
            sys.stdout.buffer.write(struct.pack("<I", len(text)) + text + answer[:10])
            sys.stdout.buffer.flush()
            sys.exit(0)
        frame({"status": "ok", "count": count}, answer)
        if count and fault == "binary_after_end":
            sys.stdout.buffer.write(b"more")
            sys.stdout.buffer.flush()


if fault.startswith("binary"):
    serve_binary()
else:
    serve_text()
