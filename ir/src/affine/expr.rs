//! Affine expressions: structure, evaluation and traversal.

use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

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

/// The reason why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoValue {
    /// The value, or a dividend, overflows 64 bits.
    Overflow,
    /// A dimension or symbol is missing.
    Missing,
    /// A divisor is below one or overflows 64 bits.
    Divisor,
}

impl AffineBinOp {
    /// Applies the operator to two integers; `None` is an overflow. Sums and products propagate overflows; division by
    /// or of one is an error.
    fn compute(self, lhs: Option<i128>, rhs: Option<i128>) -> Result<Option<i128>, NoValue> {
        match self {
            AffineBinOp::Add => Ok(lhs.zip(rhs).and_then(|(a, b)| a.checked_add(b))),
            AffineBinOp::Mul => Ok(lhs.zip(rhs).and_then(|(a, b)| a.checked_mul(b))),
            op => {
                let by = fit(rhs).filter(|&by| by > 0).ok_or(NoValue::Divisor)?;
                let quotient = |value: i64| match op {
                    AffineBinOp::Mod => value.rem_euclid(by),
                    AffineBinOp::FloorDiv => value.div_euclid(by),
                    _ => ceil_quotient(value, by),
                };
                Ok(fit(lhs).map(|value| quotient(value).into()))
            }
        }
    }
}

/// Maximum depth of recursive evaluation.
const RECURSION: u32 = 32;

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

/// An inner node of an expression, created by the simplifying constructors of [`AffineExpr`] only.
pub struct AffineBinary {
    op: AffineBinOp,
    symbolic: bool,
    pure_affine: bool,
    depth: u32,
    size: u32,
    hash: u64,
    /// The largest integer known to divide the value of the expression.
    divisor: i64,
    lhs: AffineExpr,
    rhs: AffineExpr,
}

impl AffineBinary {
    /// Returns the operator.
    pub fn op(&self) -> AffineBinOp {
        self.op
    }

    /// Returns the left operand.
    pub fn lhs(&self) -> &AffineExpr {
        &self.lhs
    }

    /// Returns the right operand.
    pub fn rhs(&self) -> &AffineExpr {
        &self.rhs
    }

    pub(super) fn node(op: AffineBinOp, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr {
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
            size: lhs.size().saturating_add(rhs.size()).saturating_add(1),
            hash: hasher.finish(),
            divisor: known_divisor(op, &lhs, &rhs),
            lhs,
            rhs,
        }))
    }
}

impl Drop for AffineBinary {
    /// Unlinks a deep tree iteratively: recursive drops would overflow the stack.
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

/// A product, remainder or division of affine expressions that is not affine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NonAffine(pub AffineBinOp);

/// MLIR's message.
impl fmt::Display for NonAffine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operand = match self.0 {
            AffineBinOp::Add | AffineBinOp::Mul => "at least one of the multiply operands",
            AffineBinOp::Mod => "right operand of mod",
            AffineBinOp::FloorDiv => "right operand of floordiv",
            AffineBinOp::CeilDiv => "right operand of ceildiv",
        };
        write!(f, "non-affine expression: {operand} has to be either a constant or symbolic")
    }
}

crate::declared_error!(NonAffine);

impl AffineExpr {
    /// Applies `op`, with the checks and messages of MLIR's parser: a product needs a symbolic operand, a division a
    /// symbolic divisor.
    pub fn checked_binary(op: AffineBinOp, lhs: AffineExpr, rhs: AffineExpr) -> Result<AffineExpr, NonAffine> {
        let is_affine = match op {
            AffineBinOp::Add => true,
            AffineBinOp::Mul => lhs.is_symbolic_or_constant() || rhs.is_symbolic_or_constant(),
            AffineBinOp::Mod | AffineBinOp::FloorDiv | AffineBinOp::CeilDiv => rhs.is_symbolic_or_constant(),
        };
        if is_affine { Ok(AffineExpr::binary(op, lhs, rhs)) } else { Err(NonAffine(op)) }
    }

    /// Whether the expression has no dimensions.
    pub(crate) fn is_symbolic_or_constant(&self) -> bool {
        match self {
            AffineExpr::Dim(_) => false,
            AffineExpr::Symbol(_) | AffineExpr::Constant(_) => true,
            AffineExpr::Binary(node) => node.symbolic,
        }
    }

    /// Whether all divisors are positive constants.
    pub fn divides_by_constants(&self) -> bool {
        let divides = |op| !matches!(op, AffineBinOp::Add | AffineBinOp::Mul);
        let is_positive = |expr: &AffineExpr| expr.constant().is_some_and(|by| by > 0);
        self.fold(|_| Some(()), |node, (), ()| (!divides(node.op) || is_positive(&node.rhs)).then_some(())).is_some()
    }

    /// Whether all factors and divisors are constants rather than symbols.
    pub fn is_pure_affine(&self) -> bool {
        match self {
            AffineExpr::Binary(node) => node.pure_affine,
            _ => true,
        }
    }

    /// Returns the value for these dimensions and symbols, or the reason why there is none.
    ///
    /// Sums and products are exact integers, so that reordering and distribution preserve values. Only dividends,
    /// divisors and the final value must fit into 64 bits.
    pub fn eval(&self, dims: &[i64], symbols: &[i64]) -> Result<i64, NoValue> {
        fit(self.exact(RECURSION, dims, symbols)?).ok_or(NoValue::Overflow)
    }

    /// Evaluates shallow expressions recursively, which is faster than [`AffineExpr::fold`]. `None` is an overflow.
    fn exact(&self, depth: u32, dims: &[i64], symbols: &[i64]) -> Result<Option<i128>, NoValue> {
        let leaf = |expr: &AffineExpr| match *expr {
            AffineExpr::Dim(index) => dims.get(index as usize).copied(),
            AffineExpr::Symbol(index) => symbols.get(index as usize).copied(),
            AffineExpr::Constant(value) => Some(value),
            AffineExpr::Binary(_) => None,
        };
        match self {
            AffineExpr::Binary(node) if depth > 0 => {
                let lhs = node.lhs.exact(depth - 1, dims, symbols)?;
                node.op.compute(lhs, node.rhs.exact(depth - 1, dims, symbols)?)
            }
            AffineExpr::Binary(_) => {
                let mut reason = NoValue::Missing;
                let leaf = |_: &mut NoValue, expr: &AffineExpr| leaf(expr).map(|value| Some(i128::from(value)));
                let inner = |reason: &mut NoValue, node: &AffineBinary, lhs: Option<i128>, rhs: Option<i128>| {
                    node.op.compute(lhs, rhs).map_err(|why| *reason = why).ok()
                };
                self.fold_with(&mut reason, leaf, inner).ok_or(reason)
            }
            _ => leaf(self).map(|value| Some(value.into())).ok_or(NoValue::Missing),
        }
    }

    /// Substitutes dimensions and symbols, and simplifies. Those without a replacement stay.
    pub fn replace(&self, dims: &[AffineExpr], symbols: &[AffineExpr]) -> AffineExpr {
        self.map_leaves(|expr| {
            let replacement = match *expr {
                AffineExpr::Dim(index) => dims.get(index as usize),
                AffineExpr::Symbol(index) => symbols.get(index as usize),
                _ => None,
            };
            replacement.unwrap_or(expr).clone()
        })
    }

    /// Returns the expression with every dimension, symbol and constant mapped by `leaf`, simplified.
    pub fn map_leaves(&self, mut leaf: impl FnMut(&AffineExpr) -> AffineExpr) -> AffineExpr {
        let mapped = self.fold(|expr| Some(leaf(expr)), |node, lhs, rhs| Some(AffineExpr::binary(node.op, lhs, rhs)));
        mapped.unwrap_or_else(|| self.clone())
    }

    /// Calls `f` with every dimension, symbol and constant, from left to right.
    pub fn for_each_leaf(&self, mut f: impl FnMut(&AffineExpr)) {
        self.fold(
            |expr| {
                f(expr);
                Some(())
            },
            |_, (), ()| Some(()),
        );
    }

    /// Computes a value bottom-up, until a step returns `None`. Linear in [`AffineExpr::size`].
    pub fn fold<T>(
        &self,
        mut leaf: impl FnMut(&AffineExpr) -> Option<T>,
        mut inner: impl FnMut(&AffineBinary, T, T) -> Option<T>,
    ) -> Option<T> {
        self.fold_with(&mut (), |(), expr| leaf(expr), |(), node, lhs, rhs| inner(node, lhs, rhs))
    }

    /// [`AffineExpr::fold`] with a mutable state for both functions. Left operands come before right ones.
    pub fn fold_with<S, T>(
        &self,
        state: &mut S,
        mut leaf: impl FnMut(&mut S, &AffineExpr) -> Option<T>,
        mut inner: impl FnMut(&mut S, &AffineBinary, T, T) -> Option<T>,
    ) -> Option<T> {
        enum PostorderStep<'a> {
            Visit(&'a AffineExpr),
            Combine(&'a AffineBinary),
        }
        let mut steps: SmallVec<[PostorderStep<'_>; 8]> = SmallVec::new();
        let mut values: SmallVec<[T; 4]> = SmallVec::new();
        steps.push(PostorderStep::Visit(self));
        while let Some(step) = steps.pop() {
            let value = match step {
                PostorderStep::Visit(AffineExpr::Binary(node)) => {
                    steps.extend([
                        PostorderStep::Combine(node),
                        PostorderStep::Visit(&node.rhs),
                        PostorderStep::Visit(&node.lhs),
                    ]);
                    continue;
                }
                PostorderStep::Visit(expr) => leaf(state, expr)?,
                PostorderStep::Combine(node) => {
                    let (rhs, lhs) = (values.pop()?, values.pop()?);
                    inner(state, node, lhs, rhs)?
                }
            };
            values.push(value);
        }
        values.pop()
    }

    pub(super) fn as_binary(&self, op: AffineBinOp) -> Option<(&AffineExpr, &AffineExpr)> {
        match self {
            AffineExpr::Binary(node) if node.op == op => Some((&node.lhs, &node.rhs)),
            _ => None,
        }
    }

    /// Splits `x op c` with a constant `c`.
    pub(super) fn as_binary_const(&self, op: AffineBinOp) -> Option<(&AffineExpr, i64)> {
        match self.as_binary(op)? {
            (lhs, &AffineExpr::Constant(value)) => Some((lhs, value)),
            _ => None,
        }
    }

    /// Returns the operator and operands of an inner node.
    pub fn node(&self) -> Option<&AffineBinary> {
        match self {
            AffineExpr::Binary(node) => Some(node),
            _ => None,
        }
    }

    /// Returns the value of a constant.
    pub fn constant(&self) -> Option<i64> {
        match *self {
            AffineExpr::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the number of tree nodes. Shared subtrees count at each occurrence, so a few lines of text can describe
    /// more nodes than fit into memory: substitutions must check it.
    pub fn size(&self) -> u32 {
        match self {
            AffineExpr::Binary(node) => node.size,
            _ => 1,
        }
    }

    pub(super) fn depth(&self) -> u32 {
        match self {
            AffineExpr::Binary(node) => node.depth,
            _ => 0,
        }
    }

    /// Returns the largest integer known to divide every value of the expression; 0 for the constant 0.
    pub fn known_divisor(&self) -> i64 {
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

/// Returns the number if it fits into 64 bits.
fn fit(value: Option<i128>) -> Option<i64> {
    value.and_then(|value| value.try_into().ok())
}

/// Returns the quotient rounded up, for a positive divisor.
fn ceil_quotient(value: i64, by: i64) -> i64 {
    value.div_euclid(by) + i64::from(value.rem_euclid(by) != 0)
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
