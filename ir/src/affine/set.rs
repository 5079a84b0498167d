//! Integer sets.

use super::expr::AffineExpr;
use std::fmt;

/// An integer set: the points at which some affine expressions are zero and others nonnegative.
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
    /// Creates a set from its parts. An empty list of constraints becomes `0 == 0`, as in MLIR's parser.
    pub fn new(num_dims: u32, num_symbols: u32, constraints: impl Into<Box<[(AffineExpr, bool)]>>) -> IntegerSet {
        let mut constraints = constraints.into();
        if constraints.is_empty() {
            constraints = Box::new([(AffineExpr::Constant(0), true)]);
        }
        IntegerSet { num_dims, num_symbols, constraints }
    }

    /// Returns the number of dimensions and symbols.
    pub fn num_inputs(&self) -> usize {
        self.num_dims as usize + self.num_symbols as usize
    }
}

impl fmt::Display for IntegerSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_spaces(self.num_dims, self.num_symbols, f)?;
        f.write_str(" : (")?;
        for (index, (expr, is_equality)) in self.constraints.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{expr} {} 0", if *is_equality { "==" } else { ">=" })?;
        }
        f.write_str(")")
    }
}

/// Writes the parameter lists, `(d0, d1)[s0]`.
pub(super) fn write_spaces(num_dims: u32, num_symbols: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
