//! Writing of ops as text, with the values in scope.

use gradus_ir::random::Random;
use std::fmt::Write as _;

/// The integer types of families; most values are of the first.
pub(super) const INTS: [&str; 4] = ["i32", "i8", "i64", "index"];

/// Percentage of integer ops with overflow flags.
const FLAGS: u64 = 5;

/// Percentage of constants among yielded values.
const YIELDED: u64 = 25;

/// Writes the ops of functions.
pub(super) struct ProgramWriter<'r> {
    pub(super) random: &'r mut Random,
    pub(super) text: String,
    /// Values in scope with their types; an inner scope ends with [`ProgramWriter::leave`].
    values: Vec<(u32, String)>,
    next: u32,
}

impl ProgramWriter<'_> {
    pub(super) fn new(random: &mut Random) -> ProgramWriter<'_> {
        ProgramWriter { random, text: String::new(), values: Vec::new(), next: 0 }
    }

    /// Returns a new name, not in scope.
    pub(super) fn name(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// Returns a new value of a type.
    pub(super) fn value(&mut self, ty: &str) -> u32 {
        let name = self.name();
        self.bind(name, ty);
        name
    }

    /// Adds a name to the scope.
    pub(super) fn bind(&mut self, name: u32, ty: &str) {
        self.values.push((name, ty.to_owned()));
    }

    /// Returns a mark for [`ProgramWriter::leave`].
    pub(super) fn enter(&self) -> usize {
        self.values.len()
    }

    /// Drops the values since a mark.
    pub(super) fn leave(&mut self, mark: usize) {
        self.values.truncate(mark);
    }

    /// Begins a function with the parameters of these types, which become the values in scope.
    pub(super) fn function(&mut self, header: &str, parameters: &[&str], results: &[&str]) {
        self.values.clear();
        let list: Vec<String> = parameters.iter().map(|ty| format!("%v{}: {ty}", self.value(ty))).collect();
        let _ = writeln!(self.text, "{header}({}) -> ({}) {{", list.join(", "), results.join(", "));
    }

    /// Appends a line.
    pub(super) fn line(&mut self, line: &str) {
        self.text += line;
        self.text += "\n";
    }

    /// Appends `%v = op` and returns the value.
    pub(super) fn op(&mut self, ty: &str, op: &str) -> u32 {
        let name = self.name();
        let _ = writeln!(self.text, "%v{name} = {op}");
        self.bind(name, ty);
        name
    }

    /// Begins an op with results of types, which [`ProgramWriter::bind_all`] adds to the scope after its regions.
    pub(super) fn results(&mut self, types: &[&str]) -> Vec<u32> {
        let names: Vec<u32> = types.iter().map(|_| self.name()).collect();
        if !names.is_empty() {
            let list: Vec<String> = names.iter().map(|name| format!("%v{name}")).collect();
            let _ = write!(self.text, "{} = ", list.join(", "));
        }
        names
    }

    /// Adds names to the scope.
    pub(super) fn bind_all(&mut self, names: &[u32], types: &[&str]) {
        names.iter().zip(types).for_each(|(&name, ty)| self.bind(name, ty));
    }

    /// Returns the values of a type in scope.
    pub(super) fn known(&self, ty: &str) -> Vec<u32> {
        self.values.iter().filter(|(_, known)| known == ty).map(|(name, _)| *name).collect()
    }

    /// Picks a value of a type, recent ones with higher probability, or creates a constant.
    pub(super) fn pick(&mut self, ty: &str) -> u32 {
        let known = self.known(ty);
        if known.is_empty() || !ty.starts_with("memref") && self.random.percent(15) {
            return self.constant(ty);
        }
        let n = known.len() as u64;
        let back = self.random.below(n).min(self.random.below(n)) as usize;
        known[known.len() - 1 - back]
    }

    /// Picks values of types.
    pub(super) fn picks(&mut self, types: &[&str]) -> Vec<String> {
        types.iter().map(|ty| format!("%v{}", self.pick(ty))).collect()
    }

    /// Picks values of types that a region or function yields: constants often, since passes follow them.
    pub(super) fn yields(&mut self, types: &[&str]) -> Vec<String> {
        let one = |w: &mut Self, ty: &str| if w.random.percent(YIELDED) { w.constant(ty) } else { w.pick(ty) };
        types.iter().map(|ty| format!("%v{}", one(self, ty))).collect()
    }

    /// Creates constants of types.
    pub(super) fn constants(&mut self, types: &[&str]) -> Vec<String> {
        types.iter().map(|ty| format!("%v{}", self.constant(ty))).collect()
    }

    /// Creates a constant; integers are often limits of their type.
    pub(super) fn constant(&mut self, ty: &str) -> u32 {
        let number = match ty {
            "i1" => self.random.pick(&["true", "false"]).to_owned(),
            "f32" => self.random.pick(&["0.0", "-0.0", "1.0", "-1.0", "0.5", "3.0"]).to_owned(),
            "index" => (self.random.below(12) as i64 - 2).to_string(),
            _ => {
                let width: u32 = ty[1..].parse().unwrap_or(32);
                let unused = 64 - width;
                (self.random.int(width) << unused >> unused).to_string()
            }
        };
        let typed = if ty == "i1" { number } else { format!("{number} : {ty}") };
        self.op(ty, &format!("arith.constant {typed}"))
    }

    /// Creates the index constant `n`.
    pub(super) fn index(&mut self, n: i64) -> u32 {
        self.op("index", &format!("arith.constant {n} : index"))
    }

    /// Creates a scalar op with a result of a type.
    pub(super) fn compute(&mut self, ty: &str) -> u32 {
        const SAFE: [&str; 13] =
            ["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minui", "addi", "subi", "maxui", "minsi", "shli"];
        const RISKY: [&str; 5] = ["divsi", "remui", "divui", "remsi", "shrui"];
        if ty == "f32" {
            let op = self.random.pick(&["addf", "subf", "mulf", "maximumf", "minnumf"]);
            let (a, b) = (self.pick(ty), self.pick(ty));
            return self.op(ty, &format!("arith.{op} %v{a}, %v{b} : {ty}"));
        }
        if self.random.percent(6)
            && let Some(converted) = self.convert(ty)
        {
            return converted;
        }
        if ty == "index" && self.random.percent(12) {
            return self.extent();
        }
        if ty == "i1" || self.random.percent(15) {
            let of = self.random.pick(&INTS);
            let predicate = self.random.pick(&["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]);
            let (a, b) = (self.pick(of), self.pick(of));
            let c = self.op("i1", &format!("arith.cmpi {predicate}, %v{a}, %v{b} : {of}"));
            if ty == "i1" {
                return c;
            }
            let (a, b) = (self.pick(ty), self.pick(ty));
            return self.op(ty, &format!("arith.select %v{c}, %v{a}, %v{b} : {ty}"));
        }
        let (a, mut b) = (self.pick(ty), self.pick(ty));
        let risky = self.random.percent(20);
        let op = if risky { self.random.pick(&RISKY) } else { self.random.pick(&SAFE) };
        if risky && self.random.percent(50) {
            let one = self.op(ty, &format!("arith.constant 3 : {ty}"));
            b = self.op(ty, &format!("arith.ori %v{b}, %v{one} : {ty}"));
        } else if risky || op == "shli" {
            let n = 1 + self.random.below(7);
            b = self.op(ty, &format!("arith.constant {n} : {ty}"));
        }
        let flag = if self.random.percent(FLAGS) { self.overflow(op) } else { "" };
        self.op(ty, &format!("arith.{op} %v{a}, %v{b}{flag} : {ty}"))
    }

    /// Draws the overflow flags of an op that has them.
    pub(super) fn overflow(&mut self, op: &str) -> &'static str {
        match op {
            "addi" | "subi" | "muli" | "shli" => self.random.pick(&[" overflow<nsw>", " overflow<nuw>"]),
            _ => "",
        }
    }

    /// Converts an integer of another width to `ty`; the same value is often converted to several types.
    fn convert(&mut self, ty: &str) -> Option<u32> {
        let width = |ty: &str| ty.strip_prefix('i').and_then(|width| width.parse::<u32>().ok());
        let to = width(ty)?;
        let of = self.random.pick(&INTS);
        let from = width(of).filter(|&from| from != to)?;
        let op = if from > to { "trunci" } else { self.random.pick(&["extsi", "extui"]) };
        let value = self.known(of).first().copied().unwrap_or_else(|| self.constant(of));
        Some(self.op(ty, &format!("arith.{op} %v{value} : {of} to {ty}")))
    }

    /// Reads an extent of a tensor back: it equals a value that the op which reads it does not use.
    fn extent(&mut self) -> u32 {
        let (size, mask) = (self.pick("index"), self.index(7));
        let size = self.op("index", &format!("arith.andi %v{size}, %v{mask} : index"));
        let empty = self.op("tensor<?xi8>", &format!("tensor.empty(%v{size}) : tensor<?xi8>"));
        let axis = self.index(0);
        self.op("index", &format!("tensor.dim %v{empty}, %v{axis} : tensor<?xi8>"))
    }

    /// Draws a list of one to `most` scalar types, often equal ones.
    pub(super) fn types(&mut self, most: u64) -> Vec<&'static str> {
        let first = self.random.pick(&["i32", "i32", "i32", "i8", "i64", "index", "f32", "i1"]);
        let count = 1 + self.random.below(most);
        (0..count).map(|_| if self.random.percent(70) { first } else { self.random.pick(&INTS) }).collect()
    }
}
