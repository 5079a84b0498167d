//! Simplifying constructors of expressions.

use super::expr::{AffineBinOp, AffineBinary, AffineExpr};
use super::rules;
use std::ops::{Add, Mul, Neg, Sub};

impl AffineExpr {
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

    /// Returns `self mod rhs`, simplified. A constant divisor below one is undefined and kept.
    pub fn modulo(self, rhs: AffineExpr) -> AffineExpr {
        rules::modulo(&self, &rhs).unwrap_or_else(|| AffineBinary::node(AffineBinOp::Mod, self, rhs))
    }

    /// Returns `self floordiv rhs`, simplified. A division by zero is kept.
    pub fn floor_div(self, rhs: AffineExpr) -> AffineExpr {
        rules::div(&self, &rhs, false)
            .or_else(|| rules::distribute_floor_div(&self, &rhs))
            .unwrap_or_else(|| AffineBinary::node(AffineBinOp::FloorDiv, self, rhs))
    }

    /// Returns `self ceildiv rhs`, simplified. A division by zero is kept.
    pub fn ceil_div(self, rhs: AffineExpr) -> AffineExpr {
        rules::div(&self, &rhs, true).unwrap_or_else(|| AffineBinary::node(AffineBinOp::CeilDiv, self, rhs))
    }
}

impl Add for AffineExpr {
    type Output = AffineExpr;

    fn add(self, rhs: AffineExpr) -> AffineExpr {
        rules::add(&self, &rhs).unwrap_or_else(|| AffineBinary::node(AffineBinOp::Add, self, rhs))
    }
}

impl Mul for AffineExpr {
    type Output = AffineExpr;

    fn mul(self, rhs: AffineExpr) -> AffineExpr {
        rules::mul(&self, &rhs).unwrap_or_else(|| AffineBinary::node(AffineBinOp::Mul, self, rhs))
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
