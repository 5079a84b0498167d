"""Compares cases.txt with LLVM's FileCheck: with_llvm.py FILECHECK [--write].

Every case must have the exit status that the table says. With --write, the table is made to say what LLVM does.
"""

import pathlib
import shlex
import subprocess
import sys
import tempfile

TABLE = pathlib.Path(__file__).with_name("cases.txt")
ESCAPES = {"\\t": "\t", "\\r": "\r", "\\n": "\n", "\\\\": "\\"}
# Flags that only gradus has.
OURS = ["--allow-near-misses"]


def unescape(text):
    out, rest = "", text
    while rest:
        plain = ESCAPES.get(rest[:2])
        out += plain if plain is not None else rest[0]
        rest = rest[2:] if plain is not None else rest[1:]
    return out


def parse(section):
    head, rest = section.split("-- checks\n", 1)
    checks, text = rest.split("-- input\n", 1)
    # The empty line between two cases belongs to neither.
    text = text.removesuffix("\n")
    lines = head.splitlines()
    fields = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    if "escaped" in lines:
        checks, text = unescape(checks), unescape(text)
    return lines[0], fields, checks, text


def status(tool, fields, checks, text):
    flags = [f for f in shlex.split(fields.get("flags", "")) if f not in OURS]
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder, name) for name in ("checks", "input")]
        for file, content in zip(files, (checks, text)):
            file.write_bytes(content.encode())
        command = [tool, files[0], "--input-file", files[1], *flags]
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def main():
    tool, write = sys.argv[1], "--write" in sys.argv
    intro, *sections = TABLE.read_text().split("\n== ")
    wrong, out = [], [intro]
    for section in sections:
        name, fields, checks, text = parse(section + ("" if section.endswith("\n") else "\n"))
        have = status(tool, fields, checks, text)
        said, *ours = fields.get("status", "").split("/")
        if said != str(have):
            wrong.append(f"{name}: FileCheck's exit status is {have}, not {said or 'stated'}")
        line = "status: " + "/".join([str(have), *ours])
        lines = [l for l in section.split("\n") if not l.startswith("status: ")]
        out.append("\n".join([lines[0], line, *lines[1:]]))
    if write:
        TABLE.write_text("\n== ".join(out))
        return
    print("\n".join(wrong) or f"FileCheck agrees with all {len(sections)} cases")
    sys.exit(bool(wrong))


main()
