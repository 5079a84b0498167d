//! Proofs that dividends fit into 64 bits.

use super::expr::{AffineBinOp, AffineBinary, AffineExpr};
use super::flat::Range;

/// The minimum and maximum of an exact value.
type Interval = (i128, i128);

/// All values of 64 bits.
const ALL: Interval = (i64::MIN as i128, i64::MAX as i128);

/// Largest constant by which a dividend may differ from an expression that fits.
const SLACK: u64 = 1 << 60;

impl AffineExpr {
    /// Whether all dividends provably fit into 64 bits, from the ranges of the dimensions and then of the symbols, or since they are
    /// `known`, up to a divisor and a constant. The magnitude of `known` is at most `2^63 - 2^60`.
    ///
    /// Simplification rewrites `(x + y) floordiv d` to `x floordiv d + y floordiv d`, if `d` divides `x`; the dividend `y` may overflow
    /// where `x + y` does not. An expression that a pass composes has to be checked.
    pub fn dividends_fit(&self, num_dims: u32, inputs: &[Range], known: &AffineExpr) -> bool {
        let input = |i: u32| {
            let (least, greatest) = *inputs.get(i as usize)?;
            Some((least.map_or(ALL.0, i128::from), greatest.map_or(ALL.1, i128::from)))
        };
        let leaf = |expr: &AffineExpr| match *expr {
            AffineExpr::Dim(i) => input(i),
            AffineExpr::Symbol(i) => input(num_dims + i),
            AffineExpr::Constant(value) => Some((value.into(), value.into())),
            AffineExpr::Binary(_) => None,
        };
        let num_symbols = inputs.len() as u32 - num_dims;
        let is_known = |expr: &AffineExpr| {
            // The known divisor of a multiple is that multiple.
            let factor = known.known_divisor() / expr.known_divisor().max(1);
            let rest = expr.clone() * AffineExpr::Constant(factor) - known.clone();
            let rest = rest.simplify(num_dims, num_symbols).constant();
            factor > 0 && rest.is_some_and(|rest| rest.unsigned_abs() <= SLACK)
        };
        self.fold(leaf, |node, lhs, rhs| interval(node, lhs, rhs, is_known)).is_some()
    }
}

/// Returns the interval of an operation; `None` for a dividend that may overflow.
fn interval(
    node: &AffineBinary,
    lhs: Interval,
    rhs: Interval,
    is_known: impl Fn(&AffineExpr) -> bool,
) -> Option<Interval> {
    match node.op() {
        AffineBinOp::Add => Some((lhs.0.checked_add(rhs.0)?, lhs.1.checked_add(rhs.1)?)),
        AffineBinOp::Mul => {
            let corners = [(lhs.0, rhs.0), (lhs.0, rhs.1), (lhs.1, rhs.0), (lhs.1, rhs.1)];
            let products = corners.map(|(a, b)| a.checked_mul(b));
            Some((products.iter().copied().min()??, products.into_iter().max()??))
        }
        op => {
            let fits = ALL.0 <= lhs.0 && lhs.1 <= ALL.1;
            let (least, greatest) = if fits { lhs } else { is_known(node.lhs()).then_some(ALL)? };
            let by = node.rhs().constant().filter(|&by| by > 0).map(i128::from);
            Some(match (op, by) {
                (AffineBinOp::Mod, _) => (0, rhs.1.max(1) - 1),
                (AffineBinOp::FloorDiv, Some(by)) => (least.div_euclid(by), greatest.div_euclid(by)),
                // Rounded up, or by a divisor that is known to be positive only.
                (_, Some(by)) => (least.div_euclid(by), greatest.div_euclid(by) + 1),
                _ => (least.min(-1), greatest.max(1)),
            })
        }
    }
}
