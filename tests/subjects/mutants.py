#!/usr/bin/env python3
"""Measures how many machine-made mutants of passes `gradus fuzz` finds.

    tests/subjects/mutants.py --copy /tmp/mutants --per-pass 30 --seconds 60 [PASS ...]

copies the repository and rewrites the sources of passes in the copy: comparisons, conditions, first for last, any for all, numbers
off by one. Each change is selected by the environment variable GRADUS_PLANTED, so the copy is built once (mutant schemata:
Untch, Offutt and Harrold, 1993); changes that do not compile are dropped. Then each mutant runs until the first alarm. Mutants that
change no meaning are marked by hand in tests/planted/equivalent.txt. Prints a row per mutant and a count per pass. `--no-build` uses
the copy as it is. `--bugs` also plants the bugs of tests/planted in the copy.
"""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys

from planted import ROOT, chosen_text, copy_sources, planted_spans, search

# Flags of a pass, and the files that are mutated.
PASSES = {
    "canonicalize": ("--canonicalize", [f"dialects/src/{file}.rs" for file in (
        "affine/if_op", "affine/index_patterns", "affine/min_max", "arith/cast", "arith/compare", "arith/float", "arith/fold",
        "arith/int", "cf/cond", "cf/switch", "memref/cast", "memref/dim", "memref/subview", "scf/for_loop", "scf/if_op",
        "scf/index_switch", "scf/parallel", "tensor/cast", "tensor/insert_slice", "tensor/reassociate", "tensor/slice",
        "vector/element_patterns", "vector/reshape_patterns", "vector/slice_patterns")]),
    "ranges": ("--saturate=target=scalar rules=divide-shift", ["dialects/src/arith/range.rs"]),
    "cse": ("--cse", ["passes/src/cse.rs"]),
    "sccp": ("--sccp", ["passes/src/sccp.rs"]),
    "mem2reg": ("--mem2reg", ["passes/src/mem2reg.rs"]),
    "unroll": ("--affine-loop-unroll=unroll-factor=2", ["dialects/src/loops.rs", "dialects/src/affine/counted.rs"]),
    "inline": ("--inline", ["passes/src/inline.rs"]),
    "graph-to-addr": ("--convert-graph-to-addr", ["lowering/src/graph_to_addr.rs", "lowering/src/graph_to_addr/conv.rs",
                                                  "lowering/src/graph_to_addr/pool.rs"]),
    "layouts": ("--propagate-layouts", ["networks/src/passes/propagate_layouts/mod.rs", "networks/src/passes/propagate_layouts/elementwise.rs",
                                        "networks/src/passes/propagate_layouts/movement.rs", "networks/src/passes/propagate_layouts/reshape.rs"]),
    "epilogues": ("--fuse-epilogues", ["networks/src/passes/fuse_epilogues.rs"]),
    "qdq": ("--convert-qdq-to-integer", ["lowering/src/qdq_to_integer.rs", "lowering/src/qdq_to_integer/elementwise.rs",
                                         "lowering/src/qdq_to_integer/movement.rs", "lowering/src/qdq_to_integer/product.rs"]),
}

TOKEN = re.compile(
    r'//[^\n]*|r#*"(?:.|\n)*?"#*|b?"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|\'\w+|[A-Za-z_]\w*!?(?!=)|[A-Za-z_]\w*|\d[\w]*(?:\.\d\w*)?'
    r"|<<=|>>=|\.\.=|::|->|=>|==|!=|<=|>=|&&|\|\||[-+*/%^&|]=|\.\.|\S")
COMPARISONS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">"}
METHODS = {"first": "last", "last": "first", "any": "all", "all": "any", "min": "max", "max": "min", "is_some": "is_none",
           "is_none": "is_some", "is_some_and": "is_none_or", "is_none_or": "is_some_and", "first_op": "last_op", "last_op": "first_op"}
# Closures that select: without their condition, everything is selected.
SELECTIONS = {"filter", "is_some_and", "is_none_or", "take_while", "retain", "position", "find"}
OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
# Tokens that end an operand of `&&` and `||` on both sides.
ENDS = {"&&", "||", ",", ";", "{", "}", "(", ")", "[", "]", "=", "=>", "->", "return", "if", "while", "match", "in", "else", "let", "|",
        "..", "..=", ":", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^="}


class Source:
    """The tokens of a file, without comments."""

    def __init__(self, text):
        self.text = text
        end = text.find("#[cfg(test)]")
        code = text if end < 0 else text[:end]
        self.tokens = [m for m in TOKEN.finditer(code) if not m[0].startswith("//")]
        self.names = [m[0] for m in self.tokens]
        self.partner, open_at = {}, []
        for i, name in enumerate(self.names):
            if name in OPENING:
                open_at.append(i)
            elif name in CLOSING and open_at:
                self.partner[i] = open_at.pop()
                self.partner[self.partner[i]] = i

    def spaced(self, i):
        """Whether a token stands between spaces, as binary operators do."""
        before, after = self.tokens[i].start(), self.tokens[i].end()
        return self.text[before - 1 : before].isspace() and self.text[after : after + 1].isspace()

    def operand(self, i, step, ends):
        """Returns the first or last token of the operand beside token i."""
        at = i + step
        while 0 <= at < len(self.names):
            name = self.names[at]
            if (name in OPENING if step > 0 else name in CLOSING) and name not in ("{", "}"):
                at = self.partner.get(at, at) + step
            elif name in ends:
                break
            else:
                at += step
        return at - step

    def chain(self, dot):
        """Returns the first token of the receiver of a method."""
        at = dot - 1
        while at >= 0:
            name = self.names[at]
            if name in (")", "]"):
                at = self.partner.get(at, at) - 1
            elif re.match(r"\w", name) and name not in ENDS or name in (".", "?", "::"):
                at -= 1
            else:
                break
        return at + 1

    def span(self, first, last):
        return self.tokens[first].start(), self.tokens[last].end()


def candidates(text):
    """Yields the begin and end of an expression, what is changed, and the changed expression."""
    src = Source(text)
    names = src.names
    for i, name in enumerate(names):
        if name in COMPARISONS and src.spaced(i):
            begin, end = src.span(src.operand(i, -1, ENDS), src.operand(i, 1, ENDS))
            at = src.tokens[i]
            yield begin, end, f"{name} {COMPARISONS[name]}", text[begin : at.start()] + COMPARISONS[name] + text[at.end() : end]
        elif name in ("&&", "||") and src.spaced(i):
            for step in (-1, 1):
                first, last = sorted((src.operand(i, step, ENDS), i + step))
                begin, end = src.span(first, last)
                yield begin, end, "dropped condition", "true" if name == "&&" else "false"
        elif name == "if" and names[i + 1] != "let" and names[i - 1] != "if":
            last = src.operand(i, 1, ENDS - {"&&", "||"})
            if "let" not in names[i:last]:
                begin, end = src.span(i + 1, last)
                for value in ("false", "true"):
                    yield begin, end, f"condition {value}", value
        elif name == "." and names[i + 1] in METHODS and names[i + 2] == "(":
            close = src.partner.get(i + 2, i + 2)
            begin, end = src.span(src.chain(i), close)
            word = src.tokens[i + 1]
            yield begin, end, f"{word[0]} {METHODS[word[0]]}", text[begin : word.start()] + METHODS[word[0]] + text[word.end() : end]
        elif name in SELECTIONS and names[i + 1] == "(" and names[i + 2] == "|":
            bar = names.index("|", i + 3)
            begin, end = src.span(bar + 1, src.partner.get(i + 1, bar + 2) - 1)
            yield begin, end, f"{name} all", "true"
        elif name in ("0", "1", "2") and names[i - 1] not in (".", "=>", "|") and not names[i - 2].startswith('"'):
            begin, end = src.span(i, i)
            yield begin, end, f"{name} {int(name) + 1}", str(int(name) + 1)


def mutants(per_pass, kept_free):
    """Returns the mutants outside of some spans, by name: flags, file, begin, end, change and new text."""
    chosen = {}
    for short, (flags, files) in PASSES.items():
        found = []
        for path in files:
            if not (ROOT / path).exists():
                continue
            text = (ROOT / path).read_text()
            spans = kept_free.get(path, [])
            for begin, end, change, after in candidates(text):
                if path.startswith("dialects/") and not is_rewrite(text, begin):
                    continue
                if begin < end and all(end <= a or b <= begin for a, b in spans):
                    found.append((path, begin, end, change, after))
        random.Random(short).shuffle(found)
        for number, (path, begin, end, change, after) in enumerate(found[: 2 * per_pass]):
            chosen[f"{short}-{number:02}"] = [flags, path, begin, end, change, after]
    return chosen


def is_rewrite(text, begin):
    """Whether a place is in code of a pattern or fold. Meanings, which the program before and after share, and verifiers are not:
    tests/meaning and golden files check these."""
    headers = re.findall(r"\bfn \w+[^{;]*", text[:begin])
    return bool(headers) and not re.search(r"Trap|Datum|Scalar|MemRef|Result<\(\), String>|Parser|Printer|Vec<Type>", headers[-1])


def mark_of(path, begin, end, change):
    """Returns what marks a mutant in tests/planted/equivalent.txt: the file, the change, the expression, and its line."""
    text = (ROOT / path).read_text()
    expression = " ".join(text[begin:end].split())
    if expression.isdigit():
        # A line may have the same number several times.
        before = re.search(r"\S*\Z", text[:begin])[0]
        expression = before + expression + re.match(r"\S*", text[end:])[0]
    return f"{path}: {change}: {expression}: {line_of(path, begin)[1]}"


def line_of(path, begin):
    """Returns the number and text of a line of a file."""
    text = (ROOT / path).read_text()
    number = text.count("\n", 0, begin) + 1
    return number, text.split("\n")[number - 1].strip()


def write(copy, chosen, planted):
    """Writes the files with all changes. Returns the spans of the changes in each file."""
    spans = {}
    # Files without a change too: their last change may not have compiled.
    for path in {file for _, files in PASSES.values() for file in files} | set(planted):
        text = (ROOT / path).read_text()
        kept = dict(planted.get(path, {}))
        # Where mutants overlap, the first one that was chosen stays.
        for name in sorted(chosen, key=lambda name: name[-2:]):
            _, file, begin, end, _, after = chosen[name]
            if file == path and all(end <= a or b <= begin for a, b in kept):
                kept[begin, end] = [(name, after)]
            elif file == path:
                del chosen[name]
        parts, at, length, spans[path] = [], 0, 0, []
        for (begin, end), choices in sorted(kept.items()):
            made = chosen_text(text[begin:end], choices)
            parts += [text[at:begin], made]
            start = length + begin - at
            spans[path] += [(start, start + len(made), name) for name, _ in choices]
            at, length = end, start + len(made)
        written = "".join(parts) + text[at:]
        (copy / path).write_text(written)
    return spans


def build(copy, chosen, planted):
    """Builds the copy; drops the changes that do not compile."""
    command = ["cargo", "check", "--release", "--bin", "gradus", "--message-format=json"]
    for _ in range(20):
        spans = write(copy, chosen, planted)
        done = subprocess.run(command, cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if done.returncode == 0:
            subprocess.run(["cargo", "build", "--release", "--bin", "gradus"], cwd=copy, check=True)
            return
        bad = set()
        for line in done.stdout.splitlines():
            message = json.loads(line).get("message") or {}
            for span in message.get("spans", []) if message.get("level") == "error" else []:
                for path, changes in spans.items():
                    if path.endswith(span["file_name"]) or span["file_name"].endswith(path):
                        size = len((copy / path).read_bytes()[: span["byte_start"]].decode(errors="ignore"))
                        bad |= {name for a, b, name in changes if a <= size <= b}
        bad &= set(chosen)
        print(f"{len(bad)} changes do not compile", file=sys.stderr, flush=True)
        if not bad:
            sys.exit(done.stdout[-4000:])
        for name in bad:
            del chosen[name]
    sys.exit("the copy does not compile")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--copy", type=pathlib.Path, required=True, help="folder for the copy with the mutants")
    parser.add_argument("--per-pass", type=int, default=30)
    parser.add_argument("--seconds", type=int, default=60, help="time of a core per mutant and seed")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--bugs", action="store_true", help="also plant tests/planted/bugs.txt and harmless.txt")
    parser.add_argument("PASS", nargs="*")
    args = parser.parse_args()
    listing = args.copy / "mutants.json"
    if not args.no_build:
        copy_sources(args.copy)
        planted = planted_spans() if args.bugs else {}
        chosen = mutants(args.per_pass, planted)
        build(args.copy, chosen, planted)
        listing.write_text(json.dumps(chosen))
    chosen = json.loads(listing.read_text())
    marked = (ROOT / "tests/planted/equivalent.txt").read_text()
    gradus = str(args.copy / "target/release/gradus")
    for short in args.PASS or PASSES:
        names = [name for name in chosen if name.startswith(short + "-")][: args.per_pass]
        found = equivalent = 0
        for name in names:
            flags, path, begin, end, change, _ = chosen[name]
            number, line = line_of(path, begin)
            mark = mark_of(path, begin, end, change)
            if f"{mark}\n" in marked:
                equivalent += 1
                continue
            row = search(gradus, name, flags, args.seconds, args.seeds.split(","))
            found += row[1] != "missed"
            print(" | ".join([*row, f"{path}:{number}", mark]), flush=True)
        print(f"{short}: {found} of {len(names) - equivalent} found, {equivalent} equivalent", flush=True)


if __name__ == "__main__":
    main()
