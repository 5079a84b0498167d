#!/usr/bin/env python3
"""Records what mlir-opt says about the inputs of docs/src/messages.md: python3 docs/messages.py [MLIR_OPT]

Run it in the repository. Each command of the chapter is run with mlir-opt (22, or the one that is given) instead of
`gradus opt`, and the block of text before it is replaced. With --check nothing is written; exit status 1 if something
would be. The other column is checked by cargo test.
"""

import re
import shlex
import subprocess
import sys

CHAPTER = "docs/src/messages.md"
SECTION = re.compile(r"```text\n(.*?)```\n\n```console\n\$ gradus opt ([^\n]*)\n", re.DOTALL)
# Lines that are longer say the same again, or list all dialects.
LONGEST = 240


def said(tool, arguments):
    """What mlir-opt prints."""
    run = subprocess.run([tool, *shlex.split(arguments)], capture_output=True, text=True, check=False)
    name = tool.rsplit("/", 1)[-1]
    lines = (run.stdout + run.stderr).replace(name, "mlir-opt").splitlines()
    short = [line if len(line) <= LONGEST else line[:LONGEST].rsplit(" ", 1)[0] + " ..." for line in lines]
    return "".join(f"{line.rstrip()}\n" for line in short)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    tool = arguments[0] if arguments else "mlir-opt-22"
    with open(CHAPTER, encoding="utf-8") as file:
        old = file.read()

    def recorded(match):
        return f"```text\n{said(tool, match[2])}```\n\n```console\n$ gradus opt {match[2]}\n"

    new = SECTION.sub(recorded, old)
    if "--check" in sys.argv:
        sys.exit(0 if new == old else f"{CHAPTER}: mlir-opt says something else; python3 docs/messages.py records it")
    with open(CHAPTER, "w", encoding="utf-8") as file:
        file.write(new)


if __name__ == "__main__":
    main()
