//! Integers whose ranges are known from their ops, moved so that a range ends at zero or at a limit of the type.

use super::writer::ProgramWriter;
use gradus_ir::random::Random;

/// Integer types with their widths. Extremes of narrow ones are drawn as inputs often.
const TYPES: [(&str, u32); 5] = [("i8", 8), ("i8", 8), ("i16", 16), ("i32", 32), ("i64", 64)];

/// Types that are extended.
const NARROW: [(&str, u32); 3] = [("i1", 1), ("i4", 4), ("i8", 8)];

/// Percentage of ops that are constant.
const CONSTANTS: u64 = 15;

/// A value with its range, bounds included.
#[derive(Clone, Copy)]
struct Ranged {
    value: u32,
    low: i128,
    high: i128,
}

/// Draws a function with divisions of values that are hardly ever, or never, negative.
pub(super) fn draw(random: &mut Random) -> String {
    let mut w = ProgramWriter::new(random);
    let (ty, width) = w.random.pick(&TYPES);
    let (narrow, bits) = w.random.pick(&NARROW);
    let count = 3 + w.random.below(6) as usize;
    w.function("func.func @made0", &[ty, ty, narrow, "i1"], &vec![ty; count]);
    let mut made = Ranges { w, ty, width, narrow: (narrow, bits), known: Vec::new() };
    for value in made.w.known(ty) {
        made.known.push(Ranged { value, ..made.all() });
    }
    for _ in 0..3 + made.w.random.below(6) {
        let ranged = made.step();
        made.known.push(ranged);
    }
    let results: Vec<String> = (0..count).map(|_| format!("%v{}", made.division())).collect();
    made.w.line(&format!("return {} : {}\n}}", results.join(", "), vec![ty; count].join(", ")));
    made.w.text
}

struct Ranges<'r> {
    w: ProgramWriter<'r>,
    ty: &'static str,
    width: u32,
    narrow: (&'static str, u32),
    known: Vec<Ranged>,
}

impl Ranges<'_> {
    /// The full range of the type; the value is open.
    fn all(&self) -> Ranged {
        let half = 1i128 << (self.width - 1);
        Ranged { value: 0, low: -half, high: half - 1 }
    }

    fn constant(&mut self, number: i128) -> Ranged {
        let value = self.w.op(self.ty, &format!("arith.constant {number} : {}", self.ty));
        Ranged { value, low: number, high: number }
    }

    /// Picks a known value, recent ones with higher probability.
    fn pick(&mut self) -> Ranged {
        let n = self.known.len() as u64;
        let back = self.w.random.below(n).min(self.w.random.below(n)) as usize;
        self.known[self.known.len() - 1 - back]
    }

    /// Appends an op on two values; its range is the given one, or any if that leaves the type.
    fn op(&mut self, op: &str, a: Ranged, b: Ranged, low: i128, high: i128) -> Ranged {
        let value = self.w.op(self.ty, &format!("arith.{op} %v{}, %v{} : {}", a.value, b.value, self.ty));
        let all = self.all();
        let fits = all.low <= low && high <= all.high;
        if fits { Ranged { value, low, high } } else { Ranged { value, ..all } }
    }

    /// Appends an op whose result has a known range.
    fn step(&mut self) -> Ranged {
        if self.w.random.percent(CONSTANTS) {
            let number = i128::from(self.w.random.below(20)) - 8;
            return self.constant(number);
        }
        let a = self.pick();
        match self.w.random.below(9) {
            0 | 1 => self.masked(a),
            2 | 3 => self.extended(),
            4 | 5 => {
                let b = self.pick();
                self.combined(a, b)
            }
            6 => {
                let b = self.pick();
                let c = self.w.pick("i1");
                let select = format!("arith.select %v{c}, %v{}, %v{} : {}", a.value, b.value, self.ty);
                let value = self.w.op(self.ty, &select);
                Ranged { value, low: a.low.min(b.low), high: a.high.max(b.high) }
            }
            7 => self.narrowed(a),
            _ => self.moved(a),
        }
    }

    /// A bound by a constant: a mask, a remainder, a shift or a quotient of unsigned integers.
    fn masked(&mut self, a: Ranged) -> Ranged {
        let unsigned = if a.low >= 0 { a.high } else { (1 << self.width) - 1 };
        let number = 1 + i128::from(self.w.random.below(u64::from(self.width) - 1));
        let by = self.constant(number);
        let (op, high) = self.w.random.pick(&[
            ("andi", number),
            ("minui", number),
            ("remui", number - 1),
            ("divui", unsigned / number),
            ("shrui", unsigned >> number),
        ]);
        self.op(op, a, by, 0, high)
    }

    /// An extension of a narrow argument or constant.
    fn extended(&mut self) -> Ranged {
        let (narrow, bits) = self.narrow;
        if bits >= self.width {
            let a = self.pick();
            return self.moved(a);
        }
        let from = self.w.pick(narrow);
        let half = 1i128 << (bits - 1);
        let (op, low, high) =
            if self.w.random.percent(50) { ("extsi", -half, half - 1) } else { ("extui", 0, 2 * half - 1) };
        let value = self.w.op(self.ty, &format!("arith.{op} %v{from} : {narrow} to {}", self.ty));
        Ranged { value, low, high }
    }

    /// A sum, difference, product, quotient, minimum, maximum, or bitwise combination.
    fn combined(&mut self, a: Ranged, b: Ranged) -> Ranged {
        let all = self.all();
        let op = self.w.random.pick(&[
            "addi", "subi", "muli", "maxsi", "minsi", "maxui", "minui", "andi", "ori", "xori", "divsi", "remsi",
            "shrsi", "divui", "remui", "shrui",
        ]);
        let are_natural = a.low >= 0 && b.low >= 0;
        let products = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
        let (low, high) = match op {
            "addi" => (a.low + b.low, a.high + b.high),
            "subi" => (a.low - b.high, a.high - b.low),
            "muli" => products.into_iter().fold((i128::MAX, i128::MIN), |(low, high), n| (low.min(n), high.max(n))),
            "maxsi" => (a.low.max(b.low), a.high.max(b.high)),
            "minsi" => (a.low.min(b.low), a.high.min(b.high)),
            "andi" | "minui" if a.low >= 0 || b.low >= 0 => {
                (0, [a, b].into_iter().filter(|x| x.low >= 0).map(|x| x.high).min().unwrap_or(all.high))
            }
            "maxui" if are_natural => (0, a.high.max(b.high)),
            "ori" | "xori" if are_natural => (0, (1 << (128 - (a.high | b.high).leading_zeros())) - 1),
            "remui" if are_natural => (0, a.high.min(b.high - 1)),
            "divsi" | "remsi" | "shrsi" | "divui" | "shrui" if are_natural => (0, a.high),
            _ => (all.low, all.high),
        };
        self.op(op, a, b, low, high)
    }

    /// Fewer bits, extended again.
    fn narrowed(&mut self, a: Ranged) -> Ranged {
        let (narrow, bits) = self.narrow;
        if bits >= self.width {
            return self.masked(a);
        }
        let low = self.w.op(narrow, &format!("arith.trunci %v{} : {} to {narrow}", a.value, self.ty));
        let value = self.w.op(self.ty, &format!("arith.extsi %v{low} : {narrow} to {}", self.ty));
        let half = 1i128 << (bits - 1);
        let fits = -half <= a.low && a.high < half;
        if fits { Ranged { value, ..a } } else { Ranged { value, low: -half, high: half - 1 } }
    }

    /// A sum with, or a difference from, a constant: an end of the range comes near zero or a limit of the type.
    fn moved(&mut self, a: Ranged) -> Ranged {
        let all = self.all();
        let near = i128::from(self.w.random.below(4)) - 2;
        let subtracts = self.w.random.percent(50);
        let constant = match (subtracts, self.w.random.percent(80)) {
            (false, true) => near - a.low,
            (false, false) => all.high + near - a.high,
            (true, true) => near + a.high,
            (true, false) => all.high + near + a.low,
        };
        let by = self.constant(constant.clamp(all.low, all.high));
        match subtracts {
            false => self.op("addi", a, by, a.low + by.low, a.high + by.low),
            true => self.op("subi", by, a, by.low - a.high, by.low - a.low),
        }
    }

    /// A signed division, by a power of two often.
    fn division(&mut self) -> u32 {
        let picked = self.pick();
        let a = if self.w.random.percent(80) { self.moved(picked) } else { picked };
        let most = u64::from(self.width) - 2;
        let by = match self.w.random.percent(80) {
            true => 1i128 << (1 + self.w.random.below(most.min(4))),
            false => i128::from(self.w.random.below(9)) - 4,
        };
        let by = self.constant(by);
        let all = self.all();
        self.op("divsi", a, by, all.low, all.high).value
    }
}
