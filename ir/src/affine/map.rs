//! Affine maps.

use super::expr::{AffineExpr, NoValue};
use super::set::write_spaces;
use std::fmt;

/// A list of affine expressions as a function of dimensions and symbols.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AffineMap {
    /// The number of dimensions, used or not.
    pub num_dims: u32,
    /// The number of symbols, used or not.
    pub num_symbols: u32,
    /// The result expressions.
    pub results: Box<[AffineExpr]>,
}

impl AffineMap {
    /// Creates a map from its parts.
    pub fn new(num_dims: u32, num_symbols: u32, results: impl Into<Box<[AffineExpr]>>) -> AffineMap {
        AffineMap { num_dims, num_symbols, results: results.into() }
    }

    /// Returns `(d0, ..., dn) -> (d0, ..., dn)`.
    pub fn identity(num_dims: u32) -> AffineMap {
        AffineMap { num_dims, num_symbols: 0, results: (0..num_dims).map(AffineExpr::Dim).collect() }
    }

    /// Returns the map whose i-th result is dimension `order[i]`; `None` if `order` is no permutation.
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

    /// Returns `() -> (value)`.
    pub fn constant(value: i64) -> AffineMap {
        AffineMap::new(0, 0, [AffineExpr::Constant(value)])
    }

    /// Returns `()[s0] -> (s0)`.
    pub fn symbol_identity() -> AffineMap {
        AffineMap::new(0, 1, [AffineExpr::Symbol(0)])
    }

    /// Returns the value of a map with a single, constant result.
    pub fn single_constant(&self) -> Option<i64> {
        match &*self.results {
            [result] => result.constant(),
            _ => None,
        }
    }

    /// Returns the number of dimensions and symbols.
    pub fn num_inputs(&self) -> usize {
        self.num_dims as usize + self.num_symbols as usize
    }

    /// Whether the results are the dimensions in order.
    pub fn is_identity(&self) -> bool {
        self.results.len() == self.num_dims as usize
            && (0..).zip(&self.results).all(|(index, expr)| *expr == AffineExpr::Dim(index))
    }

    /// Composes the map with `inner`, which is applied first: its results become this map's dimensions, and its symbols
    /// follow this map's. `None` if the numbers do not match.
    pub fn compose(&self, inner: &AffineMap) -> Option<AffineMap> {
        if inner.results.len() != self.num_dims as usize {
            return None;
        }
        let num_symbols = self.num_symbols.checked_add(inner.num_symbols)?;
        // Without symbols of this map no symbol needs renumbering.
        let shifted: Vec<_> = match self.num_symbols {
            0 => Vec::new(),
            _ => (self.num_symbols..num_symbols).map(AffineExpr::Symbol).collect(),
        };
        let dims: Vec<_> = inner.results.iter().map(|expr| expr.replace(&[], &shifted)).collect();
        let results = self.results.iter().map(|expr| expr.replace(&dims, &[])).collect();
        Some(AffineMap { num_dims: inner.num_dims, num_symbols, results })
    }

    /// Returns the results for these dimensions and symbols, or the error; see [`AffineExpr::eval`]. An invalid divisor
    /// takes precedence over an overflow.
    pub fn eval(&self, dims: &[i64], symbols: &[i64]) -> Result<Vec<i64>, NoValue> {
        let values: Vec<Result<i64, NoValue>> = self.results.iter().map(|expr| expr.eval(dims, symbols)).collect();
        let worst = values.iter().filter_map(|value| value.err()).max();
        worst.map_or_else(|| values.into_iter().collect(), Err)
    }
}

impl fmt::Display for AffineMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_spaces(self.num_dims, self.num_symbols, f)?;
        f.write_str(" -> (")?;
        for (index, expr) in self.results.iter().enumerate() {
            write!(f, "{}{expr}", if index == 0 { "" } else { ", " })?;
        }
        f.write_str(")")
    }
}
