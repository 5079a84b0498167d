//! Affine expressions as linear combinations: simplification, and value ranges.
//!
//! A quotient by a constant becomes a variable of its own, a *local*; a remainder is expressed by the quotient; equal
//! quotients share one local. Converting back gives a canonical form, with MLIR's order of terms.

use super::expr::{AffineBinOp, AffineExpr};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Maximum number of nodes for whole-expression analyses: substitution can grow expressions without bound.
pub const MAX_SIZE: u32 = 4096;

/// A linear combination of variables: dimensions, then symbols, then locals.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Linear {
    /// The nonzero coefficients, by variable number.
    pub terms: BTreeMap<u32, i64>,
    /// The constant term.
    pub constant: i64,
}

/// The minimum and maximum, where known.
pub type Range = (Option<i64>, Option<i64>);

/// An expression as a linear combination, with the definitions of its locals.
pub(super) struct Flat {
    pub(super) sum: Linear,
    pub(super) locals: Vec<AffineExpr>,
}

/// The state of converting an expression into a linear combination.
struct Flattener {
    num_dims: u32,
    num_symbols: u32,
    locals: Vec<AffineExpr>,
    known: FxHashMap<AffineExpr, u32>,
}

impl AffineExpr {
    /// Returns the expression as a linear combination of its dimensions and symbols; `None` if it divides, or
    /// multiplies variables.
    pub fn linear(&self, num_dims: u32, num_symbols: u32) -> Option<Linear> {
        if self.size() > MAX_SIZE {
            return None;
        }
        flatten(self, num_dims, num_symbols).filter(|flat| flat.locals.is_empty()).map(|flat| flat.sum)
    }

    /// Returns the range of the value, given the ranges of the dimensions and then of the symbols.
    pub fn range(&self, num_dims: u32, inputs: &[Range]) -> Range {
        if self.size() > MAX_SIZE {
            return (None, None);
        }
        // Quotients at the root are peeled off; a sum remains.
        let mut quotients = Vec::new();
        let mut at = self;
        while let Some(node) = at.node()
            && matches!(node.op(), AffineBinOp::FloorDiv | AffineBinOp::CeilDiv | AffineBinOp::Mod)
        {
            let Some(by) = node.rhs().constant().filter(|&by| by >= 1) else { return (None, None) };
            quotients.push((node.op(), by));
            at = node.lhs();
        }
        let num_symbols = inputs.len() as u32 - num_dims;
        let sum = at.linear(num_dims, num_symbols);
        let sum = sum.map_or((None, None), |sum| (sum.least(inputs), sum.greatest(inputs)));
        quotients.into_iter().rev().fold(sum, |range, (op, by)| match op {
            AffineBinOp::FloorDiv => (range.0.map(|v| v.div_euclid(by)), range.1.map(|v| v.div_euclid(by))),
            AffineBinOp::Mod => remainder_range(range, by),
            _ => (range.0.map(|v| ceil_div(v, by)), range.1.map(|v| ceil_div(v, by))),
        })
    }
}

fn ceil_div(value: i64, by: i64) -> i64 {
    value.div_euclid(by) + i64::from(value.rem_euclid(by) != 0)
}

/// Returns the range of the remainder: that of the dividend within one period, else `[0, by - 1]`.
fn remainder_range(range: Range, by: i64) -> Range {
    match range {
        (Some(least), Some(greatest)) if least.div_euclid(by) == greatest.div_euclid(by) => {
            (Some(least.rem_euclid(by)), Some(greatest.rem_euclid(by)))
        }
        _ => (Some(0), Some(by - 1)),
    }
}

impl Linear {
    fn constant(constant: i64) -> Linear {
        Linear { terms: BTreeMap::new(), constant }
    }

    fn variable(number: u32) -> Linear {
        Linear { terms: BTreeMap::from([(number, 1)]), constant: 0 }
    }

    fn add_term(&mut self, number: u32, factor: i64) -> Option<()> {
        let entry = self.terms.entry(number).or_insert(0);
        *entry = entry.checked_add(factor)?;
        if *entry == 0 {
            self.terms.remove(&number);
        }
        Some(())
    }

    fn add(self, other: Linear) -> Option<Linear> {
        // Small into large, so that building a long sum takes O(n log n).
        let (mut sum, rest) = if self.terms.len() < other.terms.len() { (other, self) } else { (self, other) };
        sum.constant = sum.constant.checked_add(rest.constant)?;
        for (number, factor) in rest.terms {
            sum.add_term(number, factor)?;
        }
        Some(sum)
    }

    fn scale(mut self, factor: i64) -> Option<Linear> {
        if factor == 0 {
            return Some(Linear::default());
        }
        self.constant = self.constant.checked_mul(factor)?;
        for term in self.terms.values_mut() {
            *term = term.checked_mul(factor)?;
        }
        Some(self)
    }

    /// Returns the greatest common divisor of `start`, which is positive, and all coefficients.
    fn common_divisor(&self, start: i64) -> i64 {
        let all = self.terms.values().chain(std::iter::once(&self.constant));
        all.fold(start, |a, &b| gcd(a, b))
    }

    fn divide_exactly(mut self, by: i64) -> Linear {
        self.constant /= by;
        self.terms.values_mut().for_each(|term| *term /= by);
        self
    }

    /// Returns the sum as an expression: variables in order, then the constant.
    pub(super) fn to_expr(&self, num_dims: u32, num_symbols: u32, locals: &[AffineExpr]) -> AffineExpr {
        let sum = self.terms.iter().fold(AffineExpr::Constant(0), |sum, (&number, &factor)| {
            sum + variable(number, num_dims, num_symbols, locals) * AffineExpr::Constant(factor)
        });
        sum + AffineExpr::Constant(self.constant)
    }

    /// Returns the minimum, given the ranges of the variables.
    pub fn least(&self, inputs: &[Range]) -> Option<i64> {
        self.bound(|number, factor| if factor > 0 { inputs[number as usize].0 } else { inputs[number as usize].1 })
    }

    /// Returns the maximum, given the ranges of the variables.
    pub fn greatest(&self, inputs: &[Range]) -> Option<i64> {
        self.bound(|number, factor| if factor > 0 { inputs[number as usize].1 } else { inputs[number as usize].0 })
    }

    fn bound(&self, at: impl Fn(u32, i64) -> Option<i64>) -> Option<i64> {
        self.terms.iter().try_fold(self.constant, |sum, (&number, &factor)| {
            sum.checked_add(at(number, factor)?.checked_mul(factor)?)
        })
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

/// Returns the expression of variable `number`.
pub(super) fn variable(number: u32, num_dims: u32, num_symbols: u32, locals: &[AffineExpr]) -> AffineExpr {
    match number.checked_sub(num_dims) {
        None => AffineExpr::Dim(number),
        Some(symbol) if symbol < num_symbols => AffineExpr::Symbol(symbol),
        Some(rest) => locals[(rest - num_symbols) as usize].clone(),
    }
}

/// Returns the expression as a linear combination; `None` if it divides by a constant below one or overflows.
pub(super) fn flatten(expr: &AffineExpr, num_dims: u32, num_symbols: u32) -> Option<Flat> {
    let mut f = Flattener { num_dims, num_symbols, locals: Vec::new(), known: FxHashMap::default() };
    let leaf = |expr: &AffineExpr| match *expr {
        AffineExpr::Dim(index) => Some(Linear::variable(index)),
        AffineExpr::Symbol(index) => Some(Linear::variable(num_dims + index)),
        AffineExpr::Constant(value) => Some(Linear::constant(value)),
        AffineExpr::Binary(_) => None,
    };
    let sum = expr.fold(leaf, |node, lhs, rhs| match (node.op(), node.rhs().constant()) {
        (AffineBinOp::Add, _) => lhs.add(rhs),
        (AffineBinOp::Mul, Some(factor)) => lhs.scale(factor),
        (AffineBinOp::Mod, Some(by)) => f.remainder(lhs, by),
        (op, Some(by)) => f.quotient(op, lhs, by),
        (op, None) => {
            let value = AffineExpr::binary(op, f.expr(&lhs), f.expr(&rhs));
            Some(f.local(value))
        }
    })?;
    Some(Flat { sum, locals: f.locals })
}

impl Flattener {
    fn expr(&self, sum: &Linear) -> AffineExpr {
        sum.to_expr(self.num_dims, self.num_symbols, &self.locals)
    }

    /// Returns the local that stands for `value`, creating it if needed.
    fn local(&mut self, value: AffineExpr) -> Linear {
        let next = self.num_dims + self.num_symbols + self.locals.len() as u32;
        let number = *self.known.entry(value).or_insert_with_key(|value| {
            self.locals.push(value.clone());
            next
        });
        Linear::variable(number)
    }

    fn quotient(&mut self, op: AffineBinOp, sum: Linear, by: i64) -> Option<Linear> {
        if by < 1 {
            return None;
        }
        let common = sum.common_divisor(by);
        let (sum, by) = (sum.divide_exactly(common), by / common);
        if by == 1 {
            return Some(sum);
        }
        let value = AffineExpr::binary(op, self.expr(&sum), AffineExpr::Constant(by));
        Some(self.local(value))
    }

    /// Returns `sum - by * (sum floordiv by)`.
    fn remainder(&mut self, sum: Linear, by: i64) -> Option<Linear> {
        let floor = self.quotient(AffineBinOp::FloorDiv, sum.clone(), by)?;
        sum.add(floor.scale(by.checked_neg()?)?)
    }
}
