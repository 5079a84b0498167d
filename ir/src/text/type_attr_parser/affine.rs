//! Conversion of pest pairs to affine maps and integer sets.

use super::attrs::unsigned;
use super::grammar::Rule;
use super::source::Source;
use super::{ParseError, Result, TypeAttrParser};
use crate::affine::{AffineBinOp, AffineExpr, AffineMap, IntegerSet};
use crate::attrs::AttrData;
use crate::intern::Attr;
use pest::iterators::Pair;
use rustc_hash::FxHashMap;

/// The names of dimensions and symbols.
type Names<'s> = FxHashMap<&'s str, AffineExpr>;

impl TypeAttrParser<'_> {
    /// Converts `affine_map<(dims)[symbols] -> (results)>` or `affine_set<(dims)[symbols] : (constraints)>`.
    pub(super) fn affine(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>) -> Result<Attr> {
        let is_set = pair.as_rule() == Rule::affine_set;
        let mut names = Names::default();
        let (mut num_dims, mut num_symbols) = (0, 0);
        let (mut results, mut constraints) = (Vec::new(), Vec::new());
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::dims => num_dims = declare(src, part, AffineExpr::Dim, &mut names)?,
                Rule::symbols => num_symbols = declare(src, part, AffineExpr::Symbol, &mut names)?,
                Rule::constraint => constraints.push(constraint(src, &names, part)?),
                _ => results.push(expr(src, &names, part)?),
            }
        }
        Ok(self.intern(if is_set {
            AttrData::IntegerSet(Box::new(IntegerSet::new(num_dims, num_symbols, constraints)))
        } else {
            AttrData::AffineMap(Box::new(AffineMap::new(num_dims, num_symbols, results)))
        }))
    }
}

/// Declares the names in a list and returns their number.
fn declare<'s>(
    src: &Source<'s>,
    list: Pair<'_, Rule>,
    make: fn(u32) -> AffineExpr,
    names: &mut Names<'s>,
) -> Result<u32> {
    let mut count = 0;
    for ident in list.into_inner() {
        let name = src.str(&ident);
        if names.insert(name, make(count)).is_some() {
            return Err(ParseError::new(src.start(&ident), format!("redefinition of identifier '{name}'")));
        }
        count += 1;
    }
    Ok(count)
}

/// Converts `a >= b`, `a <= b` or `a == b` to an expression that must be nonnegative or, if the flag is set, zero.
fn constraint(src: &Source<'_>, names: &Names<'_>, pair: Pair<'_, Rule>) -> Result<(AffineExpr, bool)> {
    let at = src.start(&pair);
    let mut inner = pair.into_inner();
    let (Some(lhs), Some(relation), Some(rhs)) = (inner.next(), inner.next(), inner.next()) else {
        return Err(ParseError::new(at, "expected affine constraint"));
    };
    let (lhs, rhs) = (expr(src, names, lhs)?, expr(src, names, rhs)?);
    Ok(match src.str(&relation) {
        "==" => (lhs - rhs, true),
        ">=" => (lhs - rhs, false),
        _ => (rhs - lhs, false),
    })
}

/// Converts a product.
fn term(src: &Source<'_>, names: &Names<'_>, pair: Pair<'_, Rule>) -> Result<AffineExpr> {
    let mut product: Option<AffineExpr> = None;
    let (mut op, mut op_at, mut negate) = (AffineBinOp::Mul, 0, false);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::negate => negate = !negate,
            Rule::product_op => (op, op_at) = (operator(src.str(&part)), src.start(&part)),
            _ => {
                let factor = factor(src, names, part)?;
                let factor = if std::mem::take(&mut negate) { -factor } else { factor };
                product = Some(match product {
                    None => factor,
                    Some(lhs) => AffineExpr::checked_binary(op, lhs, factor)
                        .map_err(|error| ParseError::new(op_at, error.to_string()))?,
                });
            }
        }
    }
    product.ok_or_else(|| ParseError::new(0, "expected affine expression"))
}

/// Converts a sum.
fn expr(src: &Source<'_>, names: &Names<'_>, pair: Pair<'_, Rule>) -> Result<AffineExpr> {
    let mut sum: Option<AffineExpr> = None;
    let mut minus = false;
    for part in pair.into_inner() {
        if part.as_rule() == Rule::sum_op {
            minus = src.str(&part) == "-";
            continue;
        }
        let next = term(src, names, part)?;
        sum = Some(match sum {
            None => next,
            Some(sum) if minus => sum - next,
            Some(sum) => sum + next,
        });
    }
    sum.ok_or_else(|| ParseError::new(0, "expected affine expression"))
}

/// Converts a number, a name, or a sum in parentheses.
fn factor(src: &Source<'_>, names: &Names<'_>, pair: Pair<'_, Rule>) -> Result<AffineExpr> {
    let at = src.start(&pair);
    let text = src.str(&pair);
    match pair.as_rule() {
        Rule::expr => expr(src, names, pair),
        Rule::integer => {
            let value = unsigned(text).and_then(|n| i64::try_from(n).ok());
            value.map(AffineExpr::Constant).ok_or_else(|| ParseError::new(at, "constant too large for index"))
        }
        _ => names.get(text).cloned().ok_or_else(|| ParseError::new(at, "use of undeclared identifier")),
    }
}

fn operator(word: &str) -> AffineBinOp {
    match word {
        "*" => AffineBinOp::Mul,
        "mod" => AffineBinOp::Mod,
        "floordiv" => AffineBinOp::FloorDiv,
        _ => AffineBinOp::CeilDiv,
    }
}
