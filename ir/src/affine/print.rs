//! Printing of affine expressions.

use super::expr::{AffineBinOp, AffineBinary, AffineExpr};
use std::fmt;

impl AffineExpr {
    /// Writes the expression, calling `leaf` for its dimensions and symbols.
    pub fn write(
        &self,
        out: &mut dyn fmt::Write,
        leaf: &mut dyn FnMut(&mut dyn fmt::Write, &AffineExpr) -> fmt::Result,
    ) -> fmt::Result {
        let mut pending = vec![ExprPiece::Weak(self)];
        while let Some(piece) = pending.pop() {
            let (expr, strong) = match piece {
                ExprPiece::Negated(value) => {
                    write!(out, "{}", value.wrapping_neg())?;
                    continue;
                }
                ExprPiece::Text(text) => {
                    out.write_str(text)?;
                    continue;
                }
                ExprPiece::Weak(expr) => (expr, false),
                ExprPiece::Strong(expr) => (expr, true),
            };
            match expr {
                AffineExpr::Dim(_) | AffineExpr::Symbol(_) => leaf(out, expr)?,
                AffineExpr::Constant(value) => write!(out, "{value}")?,
                AffineExpr::Binary(node) => {
                    if strong {
                        out.write_str("(")?;
                        pending.push(ExprPiece::Text(")"));
                    }
                    push_pieces(node, &mut pending);
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for AffineExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for AffineExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &mut |out, leaf| match leaf {
            AffineExpr::Symbol(index) => write!(out, "s{index}"),
            AffineExpr::Dim(index) => write!(out, "d{index}"),
            other => write!(out, "{other}"),
        })
    }
}

/// A pending piece of the text of an expression.
#[derive(Clone, Copy)]
enum ExprPiece<'a> {
    Text(&'static str),
    Negated(i64),
    /// An operand without parentheses.
    Weak(&'a AffineExpr),
    /// An operand with parentheses, unless it is a leaf.
    Strong(&'a AffineExpr),
}

/// Pushes the text of an inner node, last part first; sums with negative terms print as differences.
fn push_pieces<'a>(node: &'a AffineBinary, pending: &mut Vec<ExprPiece<'a>>) {
    use ExprPiece::{Negated, Strong, Text, Weak};
    let (lhs, rhs) = (node.lhs(), node.rhs());
    let text = match node.op() {
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
