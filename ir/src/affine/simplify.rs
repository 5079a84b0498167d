//! Simplification of whole expressions.

use super::expr::AffineExpr;
use super::flat::{MAX_SIZE, flatten};
use super::semi;

impl AffineExpr {
    /// Returns the canonical form of the expression over these numbers of dimensions and symbols. Expressions that
    /// divide by a constant below one, overflow, or are too large are returned unchanged.
    pub fn simplify(&self, num_dims: u32, num_symbols: u32) -> AffineExpr {
        if self.size() > MAX_SIZE {
            return self.clone();
        }
        let expr = if self.is_pure_affine() { self.clone() } else { semi::cancel_symbols(self) };
        let Some(flat) = flatten(&expr, num_dims, num_symbols) else { return expr };
        let mut simple = flat.sum.to_expr(num_dims, num_symbols, &flat.locals);
        if !expr.is_pure_affine() && simple != expr {
            simple = semi::ordered_sum(&flat, num_dims, num_symbols);
        }
        if simple.size() > MAX_SIZE { expr } else { simple }
    }
}
