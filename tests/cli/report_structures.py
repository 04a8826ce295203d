"""What a report must look like in each format, as far as the readers of the format demand it.

Raises AssertionError, or whatever the parser raises, for a text that its readers would refuse.
"""

import html.parser
import json
import xml.etree.ElementTree

# The properties that SARIF 2.1.0 (OASIS) requires, and those that code scanning of GitHub requires on top.
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
SARIF = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["version", "runs", "$schema"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/run"}},
    },
    "$defs": {
        "run": {
            "type": "object",
            "required": ["tool", "results"],
            "properties": {
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "properties": {
                        "driver": {
                            "type": "object",
                            "required": ["name", "rules"],
                            "properties": {
                                "name": {"type": "string", "minLength": 1},
                                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}},
                            },
                        }
                    },
                },
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "invocations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["executionSuccessful"],
                        "properties": {
                            "executionSuccessful": {"type": "boolean"},
                            "exitCode": {"type": "integer"},
                            "arguments": {"type": "array", "items": {"type": "string"}},
                            "toolExecutionNotifications": {
                                "type": "array",
                                "items": {"type": "object", "required": ["message"], "properties": {"message": TEXT}},
                            },
                        },
                    },
                },
                "artifacts": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "location": {"$ref": "#/$defs/artifactLocation"},
                            "hashes": {"type": "object", "additionalProperties": {"type": "string"}},
                            "roles": {"type": "array", "items": {"enum": ["analysisTarget"]}},
                        },
                    },
                },
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
        },
        "rule": {
            "type": "object",
            "required": ["id", "shortDescription", "fullDescription", "help"],
            "properties": {
                "id": {"type": "string", "minLength": 1, "maxLength": 255},
                "shortDescription": TEXT,
                "fullDescription": TEXT,
                "help": TEXT,
                "defaultConfiguration": {
                    "type": "object",
                    "properties": {"level": {"enum": ["none", "note", "warning", "error"]}},
                },
                "properties": {
                    "type": "object",
                    "properties": {"tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}},
                },
            },
        },
        "result": {
            "type": "object",
            "required": ["message", "ruleId", "ruleIndex", "level", "locations", "partialFingerprints"],
            "properties": {
                "message": TEXT,
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": {"enum": ["none", "note", "warning", "error"]},
                "locations": {"type": "array", "minItems": 1, "maxItems": 10, "items": {"$ref": "#/$defs/location"}},
                "partialFingerprints": {
                    "type": "object",
                    "required": ["primaryLocationLineHash"],
                    "additionalProperties": {"type": "string", "minLength": 1},
                },
                "properties": {"type": "object"},
            },
        },
        "location": {
            "type": "object",
            "required": ["physicalLocation"],
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "required": ["artifactLocation", "region"],
                    "properties": {
                        "artifactLocation": {"$ref": "#/$defs/artifactLocation"},
                        "region": {
                            "type": "object",
                            "required": ["startLine"],
                            "properties": {"startLine": {"type": "integer", "minimum": 1}},
                        },
                    },
                },
                "logicalLocations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["fullyQualifiedName", "name", "kind"],
                        "additionalProperties": {"type": "string"},
                    },
                },
            },
        },
        "artifactLocation": {
            "type": "object",
            "required": ["uri"],
            "properties": {
                "uri": {"type": "string", "pattern": r"^(file:///)?([A-Za-z0-9._~/+@-]|%[0-9A-F]{2})+$"},
                "index": {"type": "integer", "minimum": -1},
            },
        },
    },
}


def sarif_run(text, jsonschema):
    """The one run of a SARIF file, whose structure is checked."""
    log = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(SARIF)
    for error in jsonschema.Draft202012Validator(SARIF).iter_errors(log):
        raise AssertionError(f"{list(error.path)}: {error.message[-300:]}")
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"], result["ruleId"]
    assert len({rule["id"] for rule in rules}) == len(rules), "two rules of one id"
    fingerprints = {result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]}
    assert len(fingerprints) == len(run["results"]), "two results of one fingerprint"
    return run


def junit_cases(text):
    """(class name, name) -> outcome of every test case; the structure is what the usual schemas of JUnit XML demand."""
    root = xml.etree.ElementTree.fromstring(text)
    assert root.tag == "testsuites" and text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    outcomes = {}
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in root:
        assert suite.tag == "testsuite" and suite.attrib["name"], suite.tag
        counts = dict.fromkeys(totals, 0)
        for child in suite:
            if child.tag == "properties":
                assert child is suite[0]
                for entry in child:
                    assert entry.tag == "property" and set(entry.attrib) == {"name", "value"} and not len(entry)
                continue
            assert child.tag == "testcase" and set(child.attrib) == {"classname", "name"}, child.tag
            assert len(child) <= 1, "one outcome at most"
            outcome = "passed"
            for entry in child:
                assert entry.tag in ("failure", "error", "skipped", "system-out") and not len(entry), entry.tag
                outcome = "passed" if entry.tag == "system-out" else entry.tag
                if entry.tag != "system-out":
                    assert entry.attrib["message"], "an outcome without a message"
                if entry.tag in ("failure", "error"):
                    assert entry.attrib["type"], "a failure without a type"
            key = (child.attrib["classname"], child.attrib["name"])
            assert key not in outcomes, key
            outcomes[key] = outcome
            counts["tests"] += 1
            if outcome != "passed":
                counts["skipped" if outcome == "skipped" else outcome + "s"] += 1
        for name, number in counts.items():
            assert int(suite.attrib[name]) == number, (suite.attrib["name"], name)
            totals[name] += number
    for name, number in totals.items():
        assert int(root.attrib[name]) == number, name
    return outcomes


class _Page(html.parser.HTMLParser):
    LOADING = {"src", "srcset", "data", "action", "background", "poster", "xlink:href", "formaction"}
    EMPTY = {"meta", "br"}
    FORBIDDEN = {"script", "link", "img", "iframe", "object", "embed", "form", "base", "video", "audio", "input"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.ids = set()
        self.targets = set()
        self.words = []

    def handle_starttag(self, tag, attrs):
        assert tag not in self.FORBIDDEN, tag
        for name, value in attrs:
            assert name not in self.LOADING and not name.startswith("on"), (tag, name)
            if name == "href":
                assert tag == "a" and value.startswith("#"), (tag, value)
                self.targets.add(value[1:])
            if name == "id":
                assert value not in self.ids, value
                self.ids.add(value)
            assert "url(" not in (value or ""), value
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.EMPTY:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:])
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            assert "url(" not in data and "@import" not in data
        else:
            self.words.append(data)


def page_text(text):
    """What a reader sees of a page, whose tags are balanced, and which loads and runs nothing."""
    assert text.startswith("<!DOCTYPE html>\n")
    assert len(text.encode()) < 2_000_000, len(text)
    page = _Page()
    page.feed(text)
    page.close()
    assert not page.open, page.open
    assert page.targets <= page.ids, page.targets - page.ids
    return " ".join(" ".join(page.words).split())
