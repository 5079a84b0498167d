#!/usr/bin/env python3
"""Writes arith.txt: the integer ops of arith on all operands of i4 and i8, by definitions of their own.

The definitions follow LLVM's Language Reference and the folds of mlir-opt 22. Each line is

    STATEMENT ; RESULT TYPE ; results for i4, comma-separated, %a outermost ; FNV-1a hash of the results for i8

where T stands for the operand type, P for poison and U for undefined behavior. Integers are signed; true is -1.
"""
import math

POISON, UB = "P", "U"


def signed(x, w):
    x &= (1 << w) - 1
    return x - (1 << w) if x >> (w - 1) else x


def unsigned(x, w):
    return x & ((1 << w) - 1)


def fits_signed(x, w):
    return -(1 << (w - 1)) <= x < 1 << (w - 1)


def promised(flags, exact_signed, exact_unsigned):
    """A result of `+`, `-`, `*` with overflow flags, from the exact signed and unsigned results."""

    def result(a, b, w):
        s, u = exact_signed(a, b), exact_unsigned(unsigned(a, w), unsigned(b, w))
        if "nsw" in flags and not fits_signed(s, w):
            return POISON
        if "nuw" in flags and not 0 <= u < 1 << w:
            return POISON
        return signed(s, w)

    return result


def shli(flags):
    def result(a, b, w):
        n = unsigned(b, w)
        if n >= w:
            return POISON
        # Multiplication by a power of two, which is never negative, even where 1 << n is the sign bit.
        if "nsw" in flags and not fits_signed(a * 2**n, w):
            return POISON
        if "nuw" in flags and unsigned(a, w) * 2**n >= 2**w:
            return POISON
        return signed(a * 2**n, w)

    return result


def shift_right(arithmetic, exact):
    def result(a, b, w):
        n = unsigned(b, w)
        if n >= w:
            return POISON
        if exact and unsigned(a, w) % 2**n:
            return POISON
        value = a if arithmetic else unsigned(a, w)
        return signed(value // 2**n, w)

    return result


def divide(rounding, sign, exact=False):
    """`rounding` maps an exact quotient, as a numerator and denominator, to an integer."""

    def result(a, b, w):
        x, y = (a, b) if sign else (unsigned(a, w), unsigned(b, w))
        if y == 0 or (sign and x == -(1 << (w - 1)) and y == -1):
            return UB
        if exact and x % y:
            return POISON
        return signed(rounding(x, y), w)

    return result


def toward_zero(x, y):
    q = abs(x) // abs(y)
    return q if (x < 0) == (y < 0) else -q


def floor(x, y):
    return math.floor(x / y)


def ceil(x, y):
    return math.ceil(x / y)


def remainder(x, y):
    return x - y * toward_zero(x, y)


def compare(order, sign):
    return lambda a, b, w: -int(order(a, b) if sign else order(unsigned(a, w), unsigned(b, w)))


def narrow(flags):
    """Truncation to i3."""

    def result(a, b, w):
        if "nsw" in flags and not fits_signed(a, 3):
            return POISON
        if "nuw" in flags and unsigned(a, w) >= 8:
            return POISON
        return signed(a, 3)

    return result


def lines():
    plain = "%r = arith.{} %a, %b{} : T"
    for flags in ["", "nsw", "nuw", "nsw, nuw"]:
        text = f" overflow<{flags}>" if flags else ""
        yield plain.format("addi", text), "T", promised(flags, lambda a, b: a + b, lambda a, b: a + b)
        yield plain.format("subi", text), "T", promised(flags, lambda a, b: a - b, lambda a, b: a - b)
        yield plain.format("muli", text), "T", promised(flags, lambda a, b: a * b, lambda a, b: a * b)
        yield plain.format("shli", text), "T", shli(flags)
        yield f"%r = arith.trunci %a{text} : T to i3", "i3", narrow(flags)
    for exact in [False, True]:
        text = " exact" if exact else ""
        yield plain.format("shrsi", text), "T", shift_right(True, exact)
        yield plain.format("shrui", text), "T", shift_right(False, exact)
        yield plain.format("divsi", text), "T", divide(toward_zero, True, exact)
        yield plain.format("divui", text), "T", divide(toward_zero, False, exact)
    yield plain.format("ceildivsi", ""), "T", divide(ceil, True)
    yield plain.format("ceildivui", ""), "T", divide(ceil, False)
    yield plain.format("floordivsi", ""), "T", divide(floor, True)
    yield plain.format("remsi", ""), "T", divide(remainder, True)
    yield plain.format("remui", ""), "T", divide(remainder, False)
    bits = {
        "andi": lambda x, y: int(x == "1" == y),
        "ori": lambda x, y: int("1" in (x, y)),
        "xori": lambda x, y: int(x != y),
    }
    for name, bit in bits.items():
        def by_digits(a, b, w, bit=bit):
            x, y = f"{unsigned(a, w):0{w}b}", f"{unsigned(b, w):0{w}b}"
            return signed(int("".join(str(bit(p, q)) for p, q in zip(x, y)), 2), w)

        yield plain.format(name, ""), "T", by_digits
    yield plain.format("maxsi", ""), "T", lambda a, b, w: max(a, b)
    yield plain.format("minsi", ""), "T", lambda a, b, w: min(a, b)
    yield plain.format("maxui", ""), "T", lambda a, b, w: max(a, b, key=lambda x: unsigned(x, w))
    yield plain.format("minui", ""), "T", lambda a, b, w: min(a, b, key=lambda x: unsigned(x, w))
    orders = {
        "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b,
        "gt": lambda a, b: a > b,
        "ge": lambda a, b: a >= b,
    }
    yield "%r = arith.cmpi eq, %a, %b : T", "i1", compare(lambda a, b: a == b, True)
    yield "%r = arith.cmpi ne, %a, %b : T", "i1", compare(lambda a, b: a != b, True)
    for name, order in orders.items():
        yield f"%r = arith.cmpi s{name}, %a, %b : T", "i1", compare(order, True)
        yield f"%r = arith.cmpi u{name}, %a, %b : T", "i1", compare(order, False)
    carry = "arith.addui_extended %a, %b : T, i1"
    yield f"%r, %c = {carry}", "T", lambda a, b, w: signed(a + b, w)
    yield f"%c, %r = {carry}", "i1", lambda a, b, w: -int(unsigned(a, w) + unsigned(b, w) >= 1 << w)
    for name, value in [("mulsi", lambda x, w: x), ("mului", unsigned)]:
        product = lambda a, b, w, value=value: value(a, w) * value(b, w)
        yield f"%r, %c = arith.{name}_extended %a, %b : T", "T", lambda a, b, w, p=product: signed(p(a, b, w), w)
        yield f"%c, %r = arith.{name}_extended %a, %b : T", "T", lambda a, b, w, p=product: signed(p(a, b, w) // 2**w, w)
    yield "%r = arith.extsi %a : T to i16", "i16", lambda a, b, w: a
    yield "%r = arith.extui %a : T to i16", "i16", lambda a, b, w: unsigned(a, w)
    yield "%r = arith.index_cast %a : T to index", "index", lambda a, b, w: a
    yield "%r = arith.index_castui %a : T to index", "index", lambda a, b, w: unsigned(a, w)
    yield "%c = arith.cmpi slt, %a, %b : T\n%r = arith.select %c, %b, %a : T", "T", lambda a, b, w: max(a, b)


def fnv(text):
    state = 0xCBF29CE484222325
    for byte in text.encode():
        state = (state ^ byte) * 0x100000001B3 % 2**64
    return f"{state:016x}"


def table(statement, function, w):
    numbers = range(-(1 << (w - 1)), 1 << (w - 1))
    others = numbers if "%b" in statement else [0]
    return ",".join(str(function(a, b, w)) for a in numbers for b in others)


with open(__file__.replace("arith.py", "arith.txt"), "w") as out:
    for statement, ty, function in lines():
        text = statement.replace("\n", " \\n ")
        print(text, ty, table(statement, function, 4), fnv(table(statement, function, 8)), sep=" ; ", file=out)
