"""Usage: ci_workflow_test.py CMAKE SOURCE BUILD_TREE SCRATCH

The workflow files of examples/ci: read as YAML, then their commands run in order in a scratch folder, for a right and a
wrong kernel. The host's actions, apt-get, git and the build of fp4proof itself are replaced; the rest is real.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

try:
    import yaml
except ImportError:
    print("NOT RUN: this Python has no PyYAML (python3-yaml)")
    sys.exit(77)

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(vendor LANGUAGES C CXX)
find_package(fp4proof 0.1 REQUIRED COMPONENTS formats)
add_library(vendor MODULE vendor_plugin.c)
target_link_libraries(vendor PRIVATE fp4proof::formats)
"""

# What stands for the programs of the host. cmake is real but for the build of fp4proof, whose result is installed from
# the build tree that this test belongs to.
REPLACED = {
    "apt-get": 'echo "apt-get $*" >> "$CALLS"',
    "git": 'echo "git $*" >> "$CALLS"; for folder; do :; done; ln -s "$SOURCE" "$folder"',
    "cmake": """echo "cmake $*" >> "$CALLS"
case "$1 $2" in
  "-S fp4proof-source") test -f fp4proof-source/CMakeLists.txt ;;
  "--build fp4proof-source/build-ci") ;;
  "--install fp4proof-source/build-ci") shift 2; exec "$CMAKE" --install "$BUILD_TREE" "$@" ;;
  *) exec "$CMAKE" "$@" ;;
esac""",
}

KNOWN_ACTIONS = {"actions/checkout", "actions/cache", "actions/upload-artifact", "github/codeql-action/upload-sarif"}


class Workspace:
    """A scratch folder with a vendor's project, and a shell in it."""

    def __init__(self, folder, cmake, source, build_tree, break_kernel):
        shutil.rmtree(folder, ignore_errors=True)
        self.folder = folder / "project"
        self.folder.mkdir(parents=True)
        self.calls = folder / "calls"
        self.calls.touch()
        self.source = source
        programs = folder / "programs"
        programs.mkdir()
        for name, body in REPLACED.items():
            (programs / name).write_text(f"#!/bin/bash\n{body}\n")
            (programs / name).chmod(0o755)
        kernel = (source / "docs" / "vendor_plugin.c").read_text()
        if break_kernel:
            broken = kernel.replace(" && code % 2 == 1", "")
            assert broken != kernel
            kernel = broken
        (self.folder / "vendor_plugin.c").write_text(kernel)
        (self.folder / "CMakeLists.txt").write_text(PROJECT)
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "CALLS": str(self.calls),
                            "SOURCE": str(source), "BUILD_TREE": str(build_tree), "CMAKE": cmake}

    def shell(self, script, variables):
        """What a host runs for one step. The exit code."""
        process = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=self.folder,
                                 env={**self.environment, **variables}, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
        self.output = process.stdout
        return process.returncode

    def check_calls(self):
        """apt-get installs what the package list names, and every option of fp4proof exists."""
        calls = self.calls.read_text()
        install = re.search(r"^apt-get install (.*)$", calls, re.MULTILINE).group(1)
        listed = [line.split() for line in (self.source / "scripts" / "packages.txt").read_text().splitlines()]
        wanted = {fields[0] for fields in listed if fields and fields[-1] == "build"} - {"python3-venv"}
        assert wanted <= set(install.split()), f"not installed: {wanted - set(install.split())}"
        sources = (self.source / "CMakeLists.txt").read_text()
        options = re.findall(r"-D(FP4PROOF_\w+)=", calls)
        assert options and all(f"({option} " in sources for option in options), options

    def check_reports(self, failed):
        suites = xml.parse(self.folder / "conformance.xml").getroot()
        cases = list(suites.iter("testcase"))
        failures = [case for case in cases if case.find("failure") is not None]
        assert len(cases) > 10 and bool(failures) == failed, (len(cases), len(failures))
        sarif = json.loads((self.folder / "conformance.sarif").read_text())
        assert sarif["version"] == "2.1.0" and bool(sarif["runs"][0]["results"]) == failed
        assert "<html" in (self.folder / "conformance.html").read_text()


def github(path, workspace):
    """Runs a workflow step by step. The names of the steps that failed."""
    workflow = yaml.safe_load(path.read_text())
    assert {"push", "pull_request"} <= set(workflow[True]), "YAML reads the key `on` as true"
    (job,) = workflow["jobs"].values()
    variables = {name: str(value) for name, value in workflow["env"].items()}
    assert job["defaults"]["run"]["shell"] == "bash"
    failed = []
    for step in job["steps"]:
        if failed and step.get("if") != "always()":
            continue
        if "run" in step:
            assert "${{" not in step["run"], f"{step['name']}: an expression in a script"
            if workspace.shell(step["run"], variables) != 0:
                failed.append(step["name"])
            continue
        action, version = step["uses"].split("@")
        assert action in KNOWN_ACTIONS and re.fullmatch(r"v\d+", version), step["uses"]
        given = step.get("with", {})
        if action == "actions/checkout" and "path" in given:
            (workspace.folder / given["path"]).symlink_to(workspace.source)
        if action.startswith("actions/upload") or "sarif" in action:
            assert list(workspace.folder.glob(given.get("path") or given["sarif_file"])), step["name"]
    return failed


def gitlab(path, workspace):
    (job,) = yaml.safe_load(path.read_text()).values()
    variables = {name: str(value) for name, value in job["variables"].items()}
    failed = workspace.shell("\n".join(job["before_script"] + job["script"]), variables) != 0
    assert job["artifacts"]["when"] == "always"
    assert (workspace.folder / job["artifacts"]["reports"]["junit"]).exists(), workspace.output
    return ["script"] if failed else []


def main():
    cmake, *folders = sys.argv[1:]
    source, build_tree, scratch = (pathlib.Path(folder).resolve() for folder in folders)
    for name, host, gate in (("github-actions.yml", github, "Gate the kernel"), ("gitlab-ci.yml", gitlab, "script")):
        for break_kernel in (False, True):
            workspace = Workspace(scratch / name, cmake, source, build_tree, break_kernel)
            failed = host(source / "examples" / "ci" / name, workspace)
            assert failed == ([gate] if break_kernel else []), f"{name}: {failed}\n{workspace.output[-4000:]}"
            workspace.check_calls()
            workspace.check_reports(break_kernel)
            print(f"{name}, {'wrong' if break_kernel else 'right'} kernel: {'gate fails' if failed else 'passes'}")


if __name__ == "__main__":
    main()
