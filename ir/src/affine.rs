//! Affine expressions, maps and integer sets.
//!
//! They are plain values: equal structure compares equal. Expressions are simplified as they are built, by the same
//! local rules as in MLIR, so that a file read and printed again shows the text MLIR would print.
//!
//! A sum of a hundred thousand terms is a tree of that depth. Each node therefore caches what the rules ask of whole
//! subtrees, and everything that walks a tree does so with a stack of its own instead of the thread's.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Add, Mul, Neg, Sub};
use std::sync::Arc;

use rustc_hash::FxHasher;
use smallvec::SmallVec;

/// A binary operator of affine expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AffineBinOp {
    /// `a + b`
    Add,
    /// `a * b`
    Mul,
    /// `a mod b`, never negative.
    Mod,
    /// `a floordiv b`, rounded towards negative infinity.
    FloorDiv,
    /// `a ceildiv b`, rounded towards positive infinity.
    CeilDiv,
}

/// An affine expression over dimensions and symbols.
#[derive(Clone)]
pub enum AffineExpr {
    /// `d0`, `d1`, ...
    Dim(u32),
    /// `s0`, `s1`, ...
    Symbol(u32),
    /// An integer.
    Constant(i64),
    /// An operator applied to two expressions.
    Binary(Arc<AffineBinary>),
}

/// An inner node of an expression. Only the simplifying constructors of [`AffineExpr`] make them.
pub struct AffineBinary {
    op: AffineBinOp,
    symbolic: bool,
    pure_affine: bool,
    depth: u32,
    hash: u64,
    /// The largest integer known to divide the value of the expression.
    divisor: i64,
    lhs: AffineExpr,
    rhs: AffineExpr,
}

/// Beyond this depth the rules that descend into their operands are not tried, to bound the recursion.
const MAX_RULE_DEPTH: u32 = 1000;

impl AffineBinary {
    /// The operator.
    pub fn op(&self) -> AffineBinOp {
        self.op
    }

    /// The left operand.
    pub fn lhs(&self) -> &AffineExpr {
        &self.lhs
    }

    /// The right operand.
    pub fn rhs(&self) -> &AffineExpr {
        &self.rhs
    }

    fn node(op: AffineBinOp, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr {
        let constant_operand = |expr: &AffineExpr| matches!(expr, AffineExpr::Constant(_));
        let scaled = match op {
            AffineBinOp::Add => true,
            AffineBinOp::Mul => constant_operand(&lhs) || constant_operand(&rhs),
            _ => constant_operand(&rhs),
        };
        let mut hasher = FxHasher::default();
        (op, lhs.hash_code(), rhs.hash_code()).hash(&mut hasher);
        AffineExpr::Binary(Arc::new(AffineBinary {
            op,
            symbolic: lhs.is_symbolic_or_constant() && rhs.is_symbolic_or_constant(),
            pure_affine: scaled && lhs.is_pure_affine() && rhs.is_pure_affine(),
            depth: lhs.depth().max(rhs.depth()).saturating_add(1),
            hash: hasher.finish(),
            divisor: known_divisor(op, &lhs, &rhs),
            lhs,
            rhs,
        }))
    }
}

impl Drop for AffineBinary {
    /// Unlinks a deep tree node by node: dropping it recursively would overflow the stack.
    fn drop(&mut self) {
        if self.depth < 64 {
            return;
        }
        let take = |expr: &mut AffineExpr| std::mem::replace(expr, AffineExpr::Constant(0));
        let mut pending = vec![take(&mut self.lhs), take(&mut self.rhs)];
        while let Some(expr) = pending.pop() {
            if let AffineExpr::Binary(node) = expr
                && let Some(mut node) = Arc::into_inner(node)
            {
                pending.push(take(&mut node.lhs));
                pending.push(take(&mut node.rhs));
                node.depth = 0;
            }
        }
    }
}

fn known_divisor(op: AffineBinOp, lhs: &AffineExpr, rhs: &AffineExpr) -> i64 {
    let (left, right) = (lhs.known_divisor(), rhs.known_divisor());
    match op {
        AffineBinOp::Mul => left.wrapping_mul(right),
        AffineBinOp::Add | AffineBinOp::Mod => {
            let (mut a, mut b) = (left as u64, right as u64);
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a as i64
        }
        AffineBinOp::FloorDiv | AffineBinOp::CeilDiv => match *rhs {
            AffineExpr::Constant(by) if by != 0 && left.wrapping_rem(by) == 0 => left.wrapping_div(by).wrapping_abs(),
            _ => 1,
        },
    }
}

impl AffineExpr {
    /// Applies `op`, with the checks and messages of MLIR's parser: a product needs a symbolic operand, a division a
    /// symbolic divisor.
    pub fn checked_binary(op: AffineBinOp, lhs: AffineExpr, rhs: AffineExpr) -> Result<AffineExpr, &'static str> {
        let right_symbolic = rhs.is_symbolic_or_constant();
        match op {
            AffineBinOp::Mul if !right_symbolic && !lhs.is_symbolic_or_constant() => Err(
                "non-affine expression: at least one of the multiply operands has to be either a constant or symbolic",
            ),
            AffineBinOp::Mod if !right_symbolic => {
                Err("non-affine expression: right operand of mod has to be either a constant or symbolic")
            }
            AffineBinOp::FloorDiv if !right_symbolic => {
                Err("non-affine expression: right operand of floordiv has to be either a constant or symbolic")
            }
            AffineBinOp::CeilDiv if !right_symbolic => {
                Err("non-affine expression: right operand of ceildiv has to be either a constant or symbolic")
            }
            _ => Ok(AffineExpr::binary(op, lhs, rhs)),
        }
    }

    /// Applies `op` and simplifies.
    pub fn binary(op: AffineBinOp, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr {
        match op {
            AffineBinOp::Add => lhs + rhs,
            AffineBinOp::Mul => lhs * rhs,
            AffineBinOp::Mod => lhs.modulo(rhs),
            AffineBinOp::FloorDiv => lhs.floor_div(rhs),
            AffineBinOp::CeilDiv => lhs.ceil_div(rhs),
        }
    }

    /// `self mod rhs`, simplified. A constant divisor below one is undefined and kept.
    pub fn modulo(self, rhs: AffineExpr) -> AffineExpr {
        simplify_mod(&self, &rhs).unwrap_or_else(|| AffineBinary::node(AffineBinOp::Mod, self, rhs))
    }

    /// `self floordiv rhs`, simplified. A division by zero is kept.
    pub fn floor_div(self, rhs: AffineExpr) -> AffineExpr {
        simplify_div(&self, &rhs, false)
            .or_else(|| distribute_floor_div(&self, &rhs))
            .unwrap_or_else(|| AffineBinary::node(AffineBinOp::FloorDiv, self, rhs))
    }

    /// `self ceildiv rhs`, simplified. A division by zero is kept.
    pub fn ceil_div(self, rhs: AffineExpr) -> AffineExpr {
        simplify_div(&self, &rhs, true).unwrap_or_else(|| AffineBinary::node(AffineBinOp::CeilDiv, self, rhs))
    }

    /// Whether no dimension occurs.
    pub fn is_symbolic_or_constant(&self) -> bool {
        match self {
            AffineExpr::Dim(_) => false,
            AffineExpr::Symbol(_) | AffineExpr::Constant(_) => true,
            AffineExpr::Binary(node) => node.symbolic,
        }
    }

    /// Whether all factors and divisors are constants, none a symbol.
    pub fn is_pure_affine(&self) -> bool {
        match self {
            AffineExpr::Binary(node) => node.pure_affine,
            _ => true,
        }
    }

    /// The value for these dimensions and symbols; `None` if one is missing, on overflow, or on a divisor below one.
    pub fn eval(&self, dims: &[i64], symbols: &[i64]) -> Option<i64> {
        let leaf = |expr: &AffineExpr| match *expr {
            AffineExpr::Dim(index) => dims.get(index as usize).copied(),
            AffineExpr::Symbol(index) => symbols.get(index as usize).copied(),
            AffineExpr::Constant(value) => Some(value),
            AffineExpr::Binary(_) => None,
        };
        self.fold(leaf, |node, lhs, rhs| match node.op {
            AffineBinOp::Add => lhs.checked_add(rhs),
            AffineBinOp::Mul => lhs.checked_mul(rhs),
            _ if rhs < 1 => None,
            AffineBinOp::Mod => Some(lhs.rem_euclid(rhs)),
            AffineBinOp::FloorDiv => Some(lhs.div_euclid(rhs)),
            AffineBinOp::CeilDiv => Some(ceil_quotient(lhs, rhs)),
        })
    }

    /// Substitutes dimensions and symbols, simplifying again. Those without a replacement stay.
    pub fn replace(&self, dims: &[AffineExpr], symbols: &[AffineExpr]) -> AffineExpr {
        let leaf = |expr: &AffineExpr| {
            let replacement = match *expr {
                AffineExpr::Dim(index) => dims.get(index as usize),
                AffineExpr::Symbol(index) => symbols.get(index as usize),
                _ => None,
            };
            Some(replacement.unwrap_or(expr).clone())
        };
        let replaced = self.fold(leaf, |node, lhs, rhs| Some(AffineExpr::binary(node.op, lhs, rhs)));
        replaced.unwrap_or_else(|| self.clone())
    }

    /// Computes a value bottom-up, until a step gives `None`.
    fn fold<T>(
        &self,
        mut leaf: impl FnMut(&AffineExpr) -> Option<T>,
        mut inner: impl FnMut(&AffineBinary, T, T) -> Option<T>,
    ) -> Option<T> {
        enum Step<'a> {
            Visit(&'a AffineExpr),
            Combine(&'a AffineBinary),
        }
        let mut steps: SmallVec<[Step<'_>; 8]> = SmallVec::new();
        let mut values: SmallVec<[T; 4]> = SmallVec::new();
        steps.push(Step::Visit(self));
        while let Some(step) = steps.pop() {
            let value = match step {
                Step::Visit(AffineExpr::Binary(node)) => {
                    steps.extend([Step::Combine(node), Step::Visit(&node.rhs), Step::Visit(&node.lhs)]);
                    continue;
                }
                Step::Visit(expr) => leaf(expr)?,
                Step::Combine(node) => {
                    let (rhs, lhs) = (values.pop()?, values.pop()?);
                    inner(node, lhs, rhs)?
                }
            };
            values.push(value);
        }
        values.pop()
    }

    fn as_binary(&self, op: AffineBinOp) -> Option<(&AffineExpr, &AffineExpr)> {
        match self {
            AffineExpr::Binary(node) if node.op == op => Some((&node.lhs, &node.rhs)),
            _ => None,
        }
    }

    /// Splits `x op c` with a constant `c`.
    fn as_binary_const(&self, op: AffineBinOp) -> Option<(&AffineExpr, i64)> {
        match self.as_binary(op)? {
            (lhs, &AffineExpr::Constant(value)) => Some((lhs, value)),
            _ => None,
        }
    }

    fn depth(&self) -> u32 {
        match self {
            AffineExpr::Binary(node) => node.depth,
            _ => 0,
        }
    }

    fn known_divisor(&self) -> i64 {
        match self {
            AffineExpr::Dim(_) | AffineExpr::Symbol(_) => 1,
            AffineExpr::Constant(value) => value.wrapping_abs(),
            AffineExpr::Binary(node) => node.divisor,
        }
    }

    fn hash_code(&self) -> u64 {
        let mut hasher = FxHasher::default();
        match self {
            AffineExpr::Dim(index) => (0u8, index).hash(&mut hasher),
            AffineExpr::Symbol(index) => (1u8, index).hash(&mut hasher),
            AffineExpr::Constant(value) => (2u8, value).hash(&mut hasher),
            AffineExpr::Binary(node) => return node.hash,
        }
        hasher.finish()
    }
}

/// The quotient rounded up, for a positive divisor.
fn ceil_quotient(value: i64, by: i64) -> i64 {
    value.div_euclid(by) + i64::from(value.rem_euclid(by) != 0)
}

impl Add for AffineExpr {
    type Output = AffineExpr;

    fn add(self, rhs: AffineExpr) -> AffineExpr {
        simplify_add(&self, &rhs).unwrap_or_else(|| AffineBinary::node(AffineBinOp::Add, self, rhs))
    }
}

impl Mul for AffineExpr {
    type Output = AffineExpr;

    fn mul(self, rhs: AffineExpr) -> AffineExpr {
        simplify_mul(&self, &rhs).unwrap_or_else(|| AffineBinary::node(AffineBinOp::Mul, self, rhs))
    }
}

impl Neg for AffineExpr {
    type Output = AffineExpr;

    fn neg(self) -> AffineExpr {
        self * AffineExpr::Constant(-1)
    }
}

impl Sub for AffineExpr {
    type Output = AffineExpr;

    fn sub(self, rhs: AffineExpr) -> AffineExpr {
        self + -rhs
    }
}

// The rules below give `None` where none applies. Folding two literals keeps an overflowing operation as it is written;
// merging coefficients wraps. Both are what MLIR does.

fn simplify_add(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
    use AffineExpr::Constant;
    if let (&Constant(left), &Constant(right)) = (lhs, rhs) {
        return left.checked_add(right).map(Constant);
    }
    // Constants go to the right, and symbols to the right of dimensions.
    let symbolic_first = lhs.is_symbolic_or_constant() && !rhs.is_symbolic_or_constant();
    if matches!(lhs, Constant(_)) || symbolic_first || out_of_order(lhs, rhs) {
        return Some(rhs.clone() + lhs.clone());
    }
    let with_constant = lhs.as_binary_const(AffineBinOp::Add);
    if let &Constant(right) = rhs {
        if right == 0 {
            return Some(lhs.clone());
        }
        if let Some((base, left)) = with_constant {
            return Some(base.clone() + Constant(left.wrapping_add(right)));
        }
    }
    // c1 * x + c2 * x is (c1 + c2) * x, where either coefficient may be an absent 1.
    let (left, left_factor) = lhs.as_binary_const(AffineBinOp::Mul).unwrap_or((lhs, 1));
    let (right, right_factor) = rhs.as_binary_const(AffineBinOp::Mul).unwrap_or((rhs, 1));
    if left == right {
        return Some(left.clone() * Constant(left_factor.wrapping_add(right_factor)));
    }
    if let Some((base, constant)) = with_constant {
        return Some(base.clone() + rhs.clone() + Constant(constant));
    }
    fold_remainder(lhs, rhs)
}

/// Whether these are two dimensions, or two symbols, the later first.
fn out_of_order(lhs: &AffineExpr, rhs: &AffineExpr) -> bool {
    match (lhs, rhs) {
        (AffineExpr::Dim(left), AffineExpr::Dim(right)) => left > right,
        (AffineExpr::Symbol(left), AffineExpr::Symbol(right)) => left > right,
        _ => false,
    }
}

/// `x - (x floordiv q) * q` is `x mod q`. The negation shows as a factor `-1`, or as `-c` for a constant `q`.
fn fold_remainder(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
    let (product, factor) = rhs.as_binary(AffineBinOp::Mul)?;
    if *factor == AffineExpr::Constant(-1)
        && let Some((quotient, by)) = product.as_binary(AffineBinOp::Mul)
    {
        let (dividend, divisor) = quotient.as_binary(AffineBinOp::FloorDiv)?;
        return (divisor == by && dividend == lhs).then(|| lhs.clone().modulo(by.clone()));
    }
    let (dividend, divisor) = product.as_binary(AffineBinOp::FloorDiv)?;
    if let (&AffineExpr::Constant(by), &AffineExpr::Constant(factor)) = (divisor, factor)
        && by > 0
        && by == factor.wrapping_neg()
        && dividend == lhs
    {
        return Some(lhs.clone().modulo(divisor.clone()));
    }
    // The dividend may be just the last term of a sum.
    let (terms, last) = lhs.as_binary(AffineBinOp::Add)?;
    if lhs.depth() > MAX_RULE_DEPTH {
        return None;
    }
    Some(terms.clone() + simplify_add(last, rhs)?)
}

fn simplify_mul(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
    use AffineExpr::Constant;
    if let (&Constant(left), &Constant(right)) = (lhs, rhs) {
        return left.checked_mul(right).map(Constant);
    }
    if !rhs.is_symbolic_or_constant() && !lhs.is_symbolic_or_constant() {
        return None;
    }
    if matches!(lhs, Constant(_)) || !rhs.is_symbolic_or_constant() || out_of_order(lhs, rhs) {
        return Some(rhs.clone() * lhs.clone());
    }
    let scaled = lhs.as_binary_const(AffineBinOp::Mul);
    match (rhs, scaled) {
        (Constant(1), _) => Some(lhs.clone()),
        (Constant(0), _) => Some(Constant(0)),
        (&Constant(right), Some((base, left))) => Some(base.clone() * Constant(left.wrapping_mul(right))),
        (_, Some((base, left))) => Some(base.clone() * rhs.clone() * Constant(left)),
        _ => None,
    }
}

/// The rules that floordiv and ceildiv (`up`) share.
fn simplify_div(lhs: &AffineExpr, rhs: &AffineExpr, up: bool) -> Option<AffineExpr> {
    let by = nonzero_constant(rhs)?;
    if let &AffineExpr::Constant(value) = lhs {
        let quotient = value.checked_div(by)?;
        let adjusts = value % by != 0 && ((value < 0) == (by < 0)) == up;
        return Some(AffineExpr::Constant(quotient + i64::from(adjusts && up) - i64::from(adjusts && !up)));
    }
    if by == 1 {
        return Some(lhs.clone());
    }
    // (x * c) / d is x * (c / d) if d divides c.
    let (base, factor) = lhs.as_binary_const(AffineBinOp::Mul)?;
    (factor.wrapping_rem(by) == 0).then(|| base.clone() * AffineExpr::Constant(factor.wrapping_div(by)))
}

fn nonzero_constant(expr: &AffineExpr) -> Option<i64> {
    match *expr {
        AffineExpr::Constant(value) if value != 0 => Some(value),
        _ => None,
    }
}

/// (x + y) floordiv d is (x floordiv d) + (y floordiv d) if d divides x or y.
fn distribute_floor_div(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
    let by = nonzero_constant(rhs)?;
    let (left, right) = lhs.as_binary(AffineBinOp::Add)?;
    let divides = |expr: &AffineExpr| expr.known_divisor().wrapping_rem(by) == 0;
    let distributes = lhs.depth() <= MAX_RULE_DEPTH && (divides(left) || divides(right));
    distributes.then(|| left.clone().floor_div(rhs.clone()) + right.clone().floor_div(rhs.clone()))
}

fn simplify_mod(lhs: &AffineExpr, rhs: &AffineExpr) -> Option<AffineExpr> {
    let AffineExpr::Constant(by) = *rhs else { return None };
    if by < 1 {
        return None;
    }
    if let &AffineExpr::Constant(value) = lhs {
        return Some(AffineExpr::Constant(value.rem_euclid(by)));
    }
    let divides = |expr: &AffineExpr| expr.known_divisor() % by == 0;
    if divides(lhs) {
        return Some(AffineExpr::Constant(0));
    }
    if lhs.depth() > MAX_RULE_DEPTH {
        return None;
    }
    if let Some((left, right)) = lhs.as_binary(AffineBinOp::Add) {
        let rest = if divides(left) { Some(right) } else { divides(right).then_some(left) };
        return rest.map(|rest| rest.clone().modulo(rhs.clone()));
    }
    // (x mod a) mod b is x mod b if b divides a.
    let (base, inner) = lhs.as_binary_const(AffineBinOp::Mod)?;
    (inner >= 1 && inner % by == 0).then(|| base.clone().modulo(rhs.clone()))
}

impl PartialEq for AffineExpr {
    fn eq(&self, other: &AffineExpr) -> bool {
        use AffineExpr::{Binary, Constant, Dim, Symbol};
        let mut pending: SmallVec<[(&AffineExpr, &AffineExpr); 4]> = SmallVec::new();
        pending.push((self, other));
        while let Some(pair) = pending.pop() {
            match pair {
                (Dim(left), Dim(right)) | (Symbol(left), Symbol(right)) if left == right => {}
                (Constant(left), Constant(right)) if left == right => {}
                (Binary(left), Binary(right)) if Arc::ptr_eq(left, right) => {}
                (Binary(left), Binary(right)) if left.hash == right.hash && left.op == right.op => {
                    pending.extend([(&left.lhs, &right.lhs), (&left.rhs, &right.rhs)]);
                }
                _ => return false,
            }
        }
        true
    }
}

impl Eq for AffineExpr {}

impl Hash for AffineExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash_code());
    }
}

impl fmt::Debug for AffineExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for AffineExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pending = vec![Piece::Weak(self)];
        while let Some(piece) = pending.pop() {
            let (Piece::Weak(expr) | Piece::Strong(expr)) = piece else {
                match piece {
                    Piece::Negated(value) => write!(f, "{}", value.wrapping_neg())?,
                    Piece::Text(text) => f.write_str(text)?,
                    Piece::Weak(_) | Piece::Strong(_) => {}
                }
                continue;
            };
            match expr {
                AffineExpr::Dim(index) => write!(f, "d{index}")?,
                AffineExpr::Symbol(index) => write!(f, "s{index}")?,
                AffineExpr::Constant(value) => write!(f, "{value}")?,
                AffineExpr::Binary(node) => {
                    if matches!(piece, Piece::Strong(_)) {
                        f.write_str("(")?;
                        pending.push(Piece::Text(")"));
                    }
                    push_pieces(node, &mut pending);
                }
            }
        }
        Ok(())
    }
}

/// A part of the text of an expression that is still to be printed.
#[derive(Clone, Copy)]
enum Piece<'a> {
    Text(&'static str),
    Negated(i64),
    /// An operand that needs no parentheses.
    Weak(&'a AffineExpr),
    /// An operand that gets parentheses unless it is a leaf.
    Strong(&'a AffineExpr),
}

/// Pushes the text of an inner node, last part first; sums with negative terms are differences.
fn push_pieces<'a>(node: &'a AffineBinary, pending: &mut Vec<Piece<'a>>) {
    use Piece::{Negated, Strong, Text, Weak};
    let (lhs, rhs) = (&node.lhs, &node.rhs);
    let text = match node.op {
        AffineBinOp::Add => {
            match (rhs.as_binary_const(AffineBinOp::Mul), rhs) {
                (Some((term, -1)), _) => {
                    let is_sum = term.as_binary(AffineBinOp::Add).is_some();
                    pending.extend([if is_sum { Strong(term) } else { Weak(term) }, Text(" - ")]);
                }
                (Some((term, factor)), _) if factor < -1 => {
                    pending.extend([Negated(factor), Text(" * "), Strong(term), Text(" - ")]);
                }
                (_, &AffineExpr::Constant(value)) if value < 0 => pending.extend([Negated(value), Text(" - ")]),
                _ => pending.extend([Weak(rhs), Text(" + ")]),
            }
            return pending.push(Weak(lhs));
        }
        AffineBinOp::Mul if *rhs == AffineExpr::Constant(-1) => return pending.extend([Strong(lhs), Text("-")]),
        AffineBinOp::Mul => " * ",
        AffineBinOp::Mod => " mod ",
        AffineBinOp::FloorDiv => " floordiv ",
        AffineBinOp::CeilDiv => " ceildiv ",
    };
    pending.extend([Strong(rhs), Text(text), Strong(lhs)]);
}

/// A list of affine expressions as a function of dimensions and symbols.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AffineMap {
    /// The number of dimensions, used or not.
    pub num_dims: u32,
    /// The number of symbols, used or not.
    pub num_symbols: u32,
    /// What the map computes.
    pub results: Box<[AffineExpr]>,
}

impl AffineMap {
    /// A map from its parts.
    pub fn new(num_dims: u32, num_symbols: u32, results: impl Into<Box<[AffineExpr]>>) -> AffineMap {
        AffineMap { num_dims, num_symbols, results: results.into() }
    }

    /// `(d0, ..., dn) -> (d0, ..., dn)`
    pub fn identity(num_dims: u32) -> AffineMap {
        AffineMap { num_dims, num_symbols: 0, results: (0..num_dims).map(AffineExpr::Dim).collect() }
    }

    /// The map whose i-th result is dimension `order[i]`; `None` if `order` is no permutation.
    pub fn permutation(order: &[u32]) -> Option<AffineMap> {
        let mut seen = vec![false; order.len()];
        for &dim in order {
            if std::mem::replace(seen.get_mut(dim as usize)?, true) {
                return None;
            }
        }
        let num_dims = u32::try_from(order.len()).ok()?;
        Some(AffineMap { num_dims, num_symbols: 0, results: order.iter().copied().map(AffineExpr::Dim).collect() })
    }

    /// Whether the results are the dimensions in order.
    pub fn is_identity(&self) -> bool {
        self.results.len() == self.num_dims as usize
            && (0..).zip(&self.results).all(|(index, expr)| *expr == AffineExpr::Dim(index))
    }

    /// The map that applies `inner` first: its results become this map's dimensions, its symbols follow this map's.
    /// `None` if the numbers do not match.
    pub fn compose(&self, inner: &AffineMap) -> Option<AffineMap> {
        if inner.results.len() != self.num_dims as usize {
            return None;
        }
        let num_symbols = self.num_symbols.checked_add(inner.num_symbols)?;
        // Without symbols of our own there is nothing to shift.
        let shifted: Vec<_> = match self.num_symbols {
            0 => Vec::new(),
            _ => (self.num_symbols..num_symbols).map(AffineExpr::Symbol).collect(),
        };
        let dims: Vec<_> = inner.results.iter().map(|expr| expr.replace(&[], &shifted)).collect();
        let results = self.results.iter().map(|expr| expr.replace(&dims, &[])).collect();
        Some(AffineMap { num_dims: inner.num_dims, num_symbols, results })
    }

    /// The results for these dimensions and symbols; see [`AffineExpr::eval`].
    pub fn eval(&self, dims: &[i64], symbols: &[i64]) -> Option<Vec<i64>> {
        self.results.iter().map(|expr| expr.eval(dims, symbols)).collect()
    }
}

impl fmt::Display for AffineMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_spaces(self.num_dims, self.num_symbols, f)?;
        f.write_str(" -> (")?;
        for (index, expr) in self.results.iter().enumerate() {
            write!(f, "{}{expr}", if index == 0 { "" } else { ", " })?;
        }
        f.write_str(")")
    }
}

/// The points at which some affine expressions are zero and others not negative.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IntegerSet {
    /// The number of dimensions, used or not.
    pub num_dims: u32,
    /// The number of symbols, used or not.
    pub num_symbols: u32,
    /// The constraints: `expr == 0` where the flag is set, else `expr >= 0`.
    pub constraints: Box<[(AffineExpr, bool)]>,
}

impl IntegerSet {
    /// A set from its parts. Without constraints it gets `0 == 0`, as in MLIR's parser.
    pub fn new(num_dims: u32, num_symbols: u32, constraints: impl Into<Box<[(AffineExpr, bool)]>>) -> IntegerSet {
        let mut constraints = constraints.into();
        if constraints.is_empty() {
            constraints = Box::new([(AffineExpr::Constant(0), true)]);
        }
        IntegerSet { num_dims, num_symbols, constraints }
    }
}

impl fmt::Display for IntegerSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_spaces(self.num_dims, self.num_symbols, f)?;
        f.write_str(" : (")?;
        for (index, (expr, is_equality)) in self.constraints.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{expr} {} 0", if *is_equality { "==" } else { ">=" })?;
        }
        f.write_str(")")
    }
}

/// The parameter lists, `(d0, d1)[s0]`.
fn fmt_spaces(num_dims: u32, num_symbols: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let list = |f: &mut fmt::Formatter<'_>, count: u32, name: fn(u32) -> AffineExpr| {
        (0..count).try_for_each(|index| write!(f, "{}{}", if index == 0 { "" } else { ", " }, name(index)))
    };
    f.write_str("(")?;
    list(f, num_dims, AffineExpr::Dim)?;
    f.write_str(")")?;
    if num_symbols > 0 {
        f.write_str("[")?;
        list(f, num_symbols, AffineExpr::Symbol)?;
        f.write_str("]")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::AffineExpr::{Constant, Dim, Symbol};
    use super::*;

    /// The expected texts come from mlir-opt 22.
    #[test]
    fn simplifies_and_prints_as_mlir() {
        let (d0, d1, s0) = (|| Dim(0), || Dim(1), || Symbol(0));
        for (expr, expected) in [
            (Constant(4) + d0(), "d0 + 4"),
            (s0() + d0() + Constant(2) + d1() - Constant(5), "d0 + s0 + d1 - 3"),
            (d0() * Constant(2) + d0() * Constant(-2), "0"),
            (d0() - s0() * Constant(2), "d0 - s0 * 2"),
            (-(d0() + Constant(1)), "-(d0 + 1)"),
            (d0() - (s0() + Constant(1)), "d0 - (s0 + 1)"),
            (d0() - s0().floor_div(Constant(2)), "d0 - s0 floordiv 2"),
            (d0() - d0().floor_div(s0()) * s0(), "d0 mod s0"),
            (d0() - d0().floor_div(Constant(5)) * Constant(5), "d0 mod 5"),
            ((d0() * Constant(4) + d1()).modulo(Constant(4)), "d1 mod 4"),
            ((d0() * Constant(4) + d1()).floor_div(Constant(4)), "d0 + d1 floordiv 4"),
            (d0().modulo(Constant(8)).modulo(Constant(4)), "d0 mod 4"),
            (d0().modulo(Constant(0)), "d0 mod 0"),
            (Constant(5).floor_div(Constant(-2)), "-3"),
            (Constant(i64::MAX) + Constant(1), "9223372036854775807 + 1"),
            (d0() * Constant(i64::MAX) * Constant(2), "d0 * -2"),
        ] {
            assert_eq!(expr.to_string(), expected);
        }
    }

    #[test]
    fn rejects_what_is_not_affine() {
        for op in [AffineBinOp::Mul, AffineBinOp::Mod, AffineBinOp::FloorDiv, AffineBinOp::CeilDiv] {
            assert!(AffineExpr::checked_binary(op, Dim(0), Dim(1)).is_err());
            let semi_affine = AffineExpr::checked_binary(op, Dim(0), Symbol(0));
            assert!(semi_affine.is_ok_and(|expr| !expr.is_pure_affine() && !expr.is_symbolic_or_constant()));
        }
    }

    #[test]
    fn maps_and_sets() {
        let map = AffineMap::new(2, 1, [Dim(0) + Symbol(0), Constant(0)]);
        assert_eq!(map.to_string(), "(d0, d1)[s0] -> (d0 + s0, 0)");
        assert_eq!(map.eval(&[3, 4], &[5]), Some(vec![8, 0]));
        assert_eq!(map.eval(&[i64::MAX, 4], &[5]), None);
        let swap = AffineMap::permutation(&[1, 0]).expect("a permutation");
        assert_eq!(AffineMap::permutation(&[1, 1]), None);
        assert!(!swap.is_identity() && swap.compose(&swap).is_some_and(|map| map.is_identity()));
        assert_eq!(map.compose(&map).map(|map| map.to_string()), Some("(d0, d1)[s0, s1] -> (d0 + s1 + s0, 0)".into()));
        let set = IntegerSet::new(1, 0, [(Dim(0) - Constant(1), false), (Dim(0), true)]);
        assert_eq!(set.to_string(), "(d0) : (d0 - 1 >= 0, d0 == 0)");
        assert_eq!(IntegerSet::new(0, 0, []).to_string(), "() : (0 == 0)");
    }

    #[test]
    fn divisions_evaluate_like_their_definitions() {
        let value = |expr: AffineExpr, at| expr.eval(&[at], &[]);
        assert_eq!(value(Dim(0).floor_div(Constant(4)), -7), Some(-2));
        assert_eq!(value(Dim(0).ceil_div(Constant(4)), -7), Some(-1));
        assert_eq!(value(Dim(0).modulo(Constant(4)), -7), Some(1));
        assert_eq!(value(Dim(0).modulo(Constant(0)), 1), None);
        assert_eq!(value(Dim(0).ceil_div(Constant(1 << 62)), i64::MAX), Some(2));
    }

    /// Every operation on a tree as deep as this must neither recurse nor take quadratic time.
    #[test]
    fn deep_expressions() {
        const TERMS: u32 = 100_000;
        let build = || (0..TERMS).fold(Constant(1), |sum, dim| sum + Dim(dim) * Constant(2));
        let sum = build();
        assert_eq!(sum, build());
        assert!(sum.to_string().ends_with("+ d99999 * 2 + 1"));
        let ones = vec![1; TERMS as usize];
        assert_eq!(sum.eval(&ones, &[]), Some(200_001));
        let halves = sum.clone().floor_div(Constant(2)) + sum.clone().modulo(Constant(2));
        assert_eq!(halves.eval(&ones, &[]), Some(100_001));
        assert_eq!(sum.replace(&[Constant(0)], &[]).eval(&ones, &[]), Some(199_999));
        let at_limit = (0..MAX_RULE_DEPTH - 2).fold(Dim(0), |sum, dim| sum + Dim(dim + 1) * Constant(2));
        assert_eq!(at_limit.clone().modulo(Constant(2)), Dim(0).modulo(Constant(2)));
        assert!(at_limit.floor_div(Constant(2)).to_string().starts_with("d0 floordiv 2 + d1 + d2 +"));
    }
}
