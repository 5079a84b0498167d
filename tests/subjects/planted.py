#!/usr/bin/env python3
"""Measures how many planted bugs `gradus fuzz` finds.

    tests/subjects/planted.py --copy /tmp/planted --seconds 60 --seeds 1,2,3 [NAME ...]

copies the repository, plants the edits of a file of tests/planted (`--file`) in the copy, each behind the environment variable
GRADUS_PLANTED, builds the copy once, and runs the pass of each bug until a seed finds it. Prints for each bug whether
it was found, the pass and the rewrite that were named, and the number of ops of the reproducer. Exit status 0: all were
found, or with `--file harmless.txt`, none. `--no-build` uses `--gradus` as it is; `--plant-only` stops before the build.
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The files of edits, in tests/planted.
FILES = ["bugs.txt", "blind.txt", "harmless.txt"]
# An expression that selects the wrong one if the bug was asked for when the process started.
CHOICE = (
    "(if {{ static PLANTED: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| "
    'std::env::var("GRADUS_PLANTED").is_ok_and(|bug| bug == "{name}")); *PLANTED }} {{ {after} }} else {{ {before} }})'
)


def edits(name):
    """Yields name, flags, file, expression and new expression of the edits in a file."""
    text = (ROOT / "tests/planted" / name).read_text()
    for part in text.split("\nbug ")[1:]:
        head, path, *lines = part.strip().split("\n")
        name, flags = head.split(": ", 1)
        before, after = ("\n".join(line[2:] for line in lines if line[:1] == sign) for sign in "-+")
        yield name, flags, path, before, after


def span_of(name, path, before):
    """Returns the begin and end of an expression in a file of the repository."""
    text = (ROOT / path).read_text()
    # Outer parentheses only delimit the expression.
    written = before if before in text else before[1:-1]
    if text.count(written) != 1:
        sys.exit(f"{name}: the expression is in {path} {text.count(written)} times")
    return text.index(written), text.index(written) + len(written)


def copy_sources(copy):
    """Copies the repository without what is built."""
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("target", ".git", "corpus"), dirs_exist_ok=True)


def plant(copy, file):
    """Plants the edits of a file in a copy of the repository."""
    for path, spans in planted_spans([file]).items():
        text = (ROOT / path).read_text()
        for (begin, end), choices in sorted(spans.items(), reverse=True):
            text = text[:begin] + chosen_text(text[begin:end], choices) + text[end:]
        (copy / path).write_text(text)


def planted_spans(files=("bugs.txt", "harmless.txt")):
    """Returns for each file the spans of its edits, with the names and new expressions of each: several may change the same."""
    changes = {}
    for name, _, path, before, after in (edit for file in files for edit in edits(file)):
        changes.setdefault(path, {}).setdefault(span_of(name, path, before), []).append((name, after))
    return changes


def chosen_text(before, choices):
    """Returns the expression that is one of those with these names, or the old one."""
    for name, after in choices:
        before = CHOICE.format(name=name, after=after, before=before)
    return before


def flag_words(flags):
    """Splits flags; one that has several options is one word."""
    return [f"--{part.strip()}" for part in flags.split("--") if part.strip()]


def first_failure(command, name, seconds):
    """Runs a campaign until its first failure, for at most some seconds of a core. Returns what it says and the seconds that it took."""
    environment = {**os.environ, "GRADUS_PLANTED": name}
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    said, took = [], 0
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          preexec_fn=limit) as run:
        for line in run.stdout:
            if said and line.startswith("program ") or "programs" in line:
                break
            # A panic of the campaign itself is a failure too.
            is_first = not said and (line.startswith("program ") or "panicked at" in line)
            if is_first:
                took = core_seconds(run.pid)
                # A failure is printed at once; the next one may be long in coming.
                threading.Timer(1, run.terminate).start()
            if said or is_first:
                said.append(line)
        run.terminate()
    return "".join(said), took


def core_seconds(pid):
    """Returns the time that a process has had on a core."""
    user, system = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def search(gradus, name, flags, seconds, seeds):
    """Returns the row of a bug."""
    for seed in seeds:
        command = [gradus, "fuzz", *flag_words(flags), f"--seed={seed}", f"--seconds={10 * seconds}"]
        said, took = first_failure(command, name, seconds)
        if not said:
            continue
        if "what is printed cannot be read" in said:
            return [name, "another bug", f"seed {seed}"]
        named = re.search(r"after pass '([^']*)'|(as it is executed on [^\n]*)", said)
        rewrite = re.search(r"caused by (?:rewrite \d+: |the )(.*)", said)
        error = re.search(r"error: .*", said)
        ops = re.search(r"reduced to (\d+) ops", said)
        what = named[1] or named[2] if named else f"({error[0][:70] if error else said[:70]})"
        cause = rewrite[1] if rewrite else "-"
        return [name, "found", f"seed {seed}", f"{took:.0f} s", what, cause, f"{ops[1] if ops else '?'} ops"]
    return [name, "missed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--copy", type=pathlib.Path, help="folder for the copy with the bugs")
    parser.add_argument("--gradus", help="the command with the bugs")
    parser.add_argument("--seconds", type=int, default=60, help="time of a core per bug and seed")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--plant-only", action="store_true")
    parser.add_argument("--file", default="bugs.txt", choices=FILES, help="the edits to run; of the harmless ones no seed may find any")
    parser.add_argument("NAME", nargs="*")
    args = parser.parse_args()
    if not args.no_build:
        copy_sources(args.copy)
        plant(args.copy, args.file)
        if args.plant_only:
            return
        subprocess.run(["cargo", "build", "--release", "--bin", "gradus"], cwd=args.copy, check=True)
    gradus = args.gradus or str(args.copy / "target/release/gradus")
    missed = 0
    harmless = args.file == "harmless.txt"
    for name, flags, *_ in edits(args.file):
        if args.NAME and name not in args.NAME:
            continue
        row = search(gradus, name, flags, args.seconds, args.seeds.split(","))
        missed += (row[1] == "missed") != harmless
        print(" | ".join(row), flush=True)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
