//! Affine expressions together with their operands, and the simplifications that all affine ops share.

use super::scope::{is_dim, is_symbol};
use super::{ApplyOp, range};
use gradus_ir::affine::{AffineExpr, AffineMap, IntegerSet, MAX_SIZE};
use gradus_ir::{Attr, AttrData, Context, Module, OpDecl, Value};
use std::collections::HashMap;

/// Affine expressions with operands: dimensions, then symbols (MLIR's `AffineValueMap`).
#[derive(Clone, PartialEq, Debug)]
pub struct AffineValueMap {
    /// Number of dimensions.
    pub num_dims: u32,
    /// Number of symbols.
    pub num_symbols: u32,
    /// Expressions.
    pub exprs: Vec<AffineExpr>,
    /// Values of the dimensions, then of the symbols.
    pub operands: Vec<Value>,
}

impl AffineValueMap {
    /// Creates the expressions of a map.
    pub fn map(map: &AffineMap, operands: &[Value]) -> AffineValueMap {
        AffineValueMap {
            num_dims: map.num_dims,
            num_symbols: map.num_symbols,
            exprs: map.results.to_vec(),
            operands: operands.to_vec(),
        }
    }

    /// Creates the left-hand sides of a set's constraints.
    pub fn set(set: &IntegerSet, operands: &[Value]) -> AffineValueMap {
        AffineValueMap {
            num_dims: set.num_dims,
            num_symbols: set.num_symbols,
            exprs: set.constraints.iter().map(|c| c.0.clone()).collect(),
            operands: operands.to_vec(),
        }
    }

    /// Returns the expressions as a map.
    pub fn to_map(&self) -> AffineMap {
        AffineMap::new(self.num_dims, self.num_symbols, self.exprs.clone())
    }

    /// Returns the expressions as a map attribute.
    pub(super) fn to_attr(&self, ctx: &Context) -> Attr {
        map_attr(ctx, self.to_map())
    }

    /// Returns the expressions as constraints of the same kinds as those of `like`.
    pub fn to_set(&self, like: &IntegerSet) -> IntegerSet {
        let constraints: Vec<_> = self.exprs.iter().cloned().zip(like.constraints.iter().map(|c| c.1)).collect();
        IntegerSet::new(self.num_dims, self.num_symbols, constraints)
    }

    /// Concatenates the expressions and operands of both.
    pub(super) fn and(&self, other: &AffineValueMap) -> AffineValueMap {
        let dims: Vec<AffineExpr> = (0..other.num_dims).map(|i| AffineExpr::Dim(self.num_dims + i)).collect();
        let symbols = (0..other.num_symbols).map(|i| AffineExpr::Symbol(self.num_symbols + i));
        let symbols: Vec<AffineExpr> = symbols.collect();
        let others = other.exprs.iter().map(|expr| expr.replace(&dims, &symbols));
        AffineValueMap {
            num_dims: self.num_dims + other.num_dims,
            num_symbols: self.num_symbols + other.num_symbols,
            exprs: self.exprs.iter().cloned().chain(others).collect(),
            operands: [self.dims(), other.dims(), self.symbols(), other.symbols()].concat(),
        }
    }

    /// Returns other expressions over the same operands.
    pub(super) fn with_exprs(&self, exprs: Vec<AffineExpr>) -> AffineValueMap {
        AffineValueMap { exprs, ..self.clone() }
    }

    /// Returns `value + by` with the value as a dimension.
    pub(super) fn shifted(value: Value, by: i64) -> AffineValueMap {
        let expr = AffineExpr::Dim(0) + AffineExpr::Constant(by);
        AffineValueMap { num_dims: 1, num_symbols: 0, exprs: vec![expr], operands: vec![value] }
    }

    /// Values of the dimensions.
    pub(super) fn dims(&self) -> &[Value] {
        &self.operands[..self.num_dims as usize]
    }

    /// Values of the symbols.
    pub(super) fn symbols(&self) -> &[Value] {
        &self.operands[self.num_dims as usize..]
    }

    /// Returns the value of a dimension or symbol.
    pub(super) fn value_of(&self, expr: &AffineExpr) -> Option<Value> {
        match *expr {
            AffineExpr::Dim(dim) => self.dims().get(dim as usize).copied(),
            AffineExpr::Symbol(symbol) => self.symbols().get(symbol as usize).copied(),
            _ => None,
        }
    }

    fn replace(&mut self, dims: &[AffineExpr], symbols: &[AffineExpr]) {
        for expr in &mut self.exprs {
            *expr = expr.replace(dims, symbols);
        }
    }

    /// Canonicalizes the operands: promotes dimensions to symbols where valid and demotes invalid symbols, removes
    /// unused and duplicate operands, and substitutes constants.
    pub(super) fn canonicalize(&mut self, m: &Module) {
        if !self.operands.is_empty() {
            self.sort_by_kind(m);
            self.drop_unused(m);
        }
    }

    /// Promotes dimensions that are valid symbols, and demotes symbols that are not.
    fn sort_by_kind(&mut self, m: &Module) {
        let (mut dims, mut symbols) = (Vec::new(), Vec::new());
        let (mut promoted, mut demoted) = (Vec::new(), Vec::new());
        let stays = |value: Value, list: &mut Vec<Value>| {
            list.push(value);
            list.len() as u32 - 1
        };
        enum NewId {
            Dim(u32),
            Symbol(u32),
            Promoted(u32),
            Demoted(u32),
        }
        let dim_places: Vec<NewId> = self
            .dims()
            .iter()
            .map(|&v| {
                if is_symbol(m, v) { NewId::Promoted(stays(v, &mut promoted)) } else { NewId::Dim(stays(v, &mut dims)) }
            })
            .collect();
        let symbol_places: Vec<NewId> = self
            .symbols()
            .iter()
            .map(|&v| {
                if !is_symbol(m, v) && is_dim(m, v) {
                    NewId::Demoted(stays(v, &mut demoted))
                } else {
                    NewId::Symbol(stays(v, &mut symbols))
                }
            })
            .collect();
        if promoted.is_empty() && demoted.is_empty() {
            return;
        }
        let (own_dims, own_symbols) = (dims.len() as u32, symbols.len() as u32);
        let expr = |place: &NewId| match *place {
            NewId::Dim(i) => AffineExpr::Dim(i),
            NewId::Symbol(i) => AffineExpr::Symbol(i),
            NewId::Promoted(i) => AffineExpr::Symbol(own_symbols + i),
            NewId::Demoted(i) => AffineExpr::Dim(own_dims + i),
        };
        let dim_exprs: Vec<AffineExpr> = dim_places.iter().map(expr).collect();
        let symbol_exprs: Vec<AffineExpr> = symbol_places.iter().map(expr).collect();
        self.replace(&dim_exprs, &symbol_exprs);
        dims.extend(demoted);
        symbols.extend(promoted);
        (self.num_dims, self.num_symbols) = (dims.len() as u32, symbols.len() as u32);
        self.operands = [dims, symbols].concat();
    }

    /// Removes unused and duplicate dimensions and symbols, and substitutes constant symbols.
    fn drop_unused(&mut self, m: &Module) {
        let mut used = vec![false; self.operands.len()];
        for expr in &self.exprs {
            expr.for_each_leaf(|leaf| match *leaf {
                AffineExpr::Dim(dim) => used[dim as usize] = true,
                AffineExpr::Symbol(symbol) => used[(self.num_dims + symbol) as usize] = true,
                _ => {}
            });
        }
        let (used_dims, used_symbols) = used.split_at(self.num_dims as usize);
        let mut operands = Vec::new();
        let dims = keep_used(self.dims(), used_dims, AffineExpr::Dim, &mut operands, |_| None);
        let num_dims = operands.len();
        let constant = |value| m.constant_int(value).map(AffineExpr::Constant);
        let symbols = keep_used(self.symbols(), used_symbols, AffineExpr::Symbol, &mut operands, constant);
        if operands == self.operands {
            return;
        }
        self.replace(&dims, &symbols);
        (self.num_dims, self.num_symbols) = (num_dims as u32, (operands.len() - num_dims) as u32);
        self.operands = operands;
    }

    /// Composes the `affine.apply` ops that compute the operands, then simplifies.
    pub(super) fn compose(&mut self, m: &Module) {
        self.take_in_applies(m);
        self.canonicalize(m);
        self.simplify();
    }

    /// Whether an `affine.apply` computes an operand.
    pub(super) fn has_applies(&self, m: &Module) -> bool {
        self.operands.iter().any(|&v| ApplyOp::defining(m, v).is_some())
    }

    fn take_in_applies(&mut self, m: &Module) {
        let mut dims: Vec<Option<Value>> = self.dims().iter().copied().map(Some).collect();
        let mut symbols: Vec<Option<Value>> = self.symbols().iter().copied().map(Some).collect();
        while let Some((at, inner)) = next_apply(m, &dims, &symbols) {
            let grown = (dims.len() as u32, symbols.len() as u32);
            let [result] = &*inner.exprs else { break };
            let shifted = result.map_leaves(|leaf| match *leaf {
                AffineExpr::Dim(dim) => AffineExpr::Dim(grown.0 + dim),
                AffineExpr::Symbol(symbol) => AffineExpr::Symbol(grown.1 + symbol),
                _ => leaf.clone(),
            });
            let exprs: Vec<AffineExpr> = self
                .exprs
                .iter()
                .map(|expr| expr.map_leaves(|leaf| if *leaf == at { shifted.clone() } else { leaf.clone() }))
                .collect();
            let size = exprs.iter().fold(dims.len() as u32, |n, e| n.saturating_add(e.size()));
            if size > MAX_SIZE.saturating_add(self.exprs.len() as u32) {
                break;
            }
            self.exprs = exprs;
            match at {
                AffineExpr::Dim(dim) => dims[dim as usize] = None,
                AffineExpr::Symbol(symbol) => symbols[symbol as usize] = None,
                _ => {}
            }
            dims.extend(inner.dims().iter().copied().map(Some));
            symbols.extend(inner.symbols().iter().copied().map(Some));
        }
        // Replaced operands no longer occur.
        let mut operands = Vec::new();
        let dim_exprs = keep_present(&dims, AffineExpr::Dim, &mut operands);
        self.num_dims = operands.len() as u32;
        let symbol_exprs = keep_present(&symbols, AffineExpr::Symbol, &mut operands);
        self.num_symbols = operands.len() as u32 - self.num_dims;
        self.operands = operands;
        self.replace(&dim_exprs, &symbol_exprs);
    }

    /// Simplifies each expression.
    pub(super) fn simplify(&mut self) {
        for expr in &mut self.exprs {
            *expr = expr.simplify(self.num_dims, self.num_symbols);
        }
    }

    /// Composes, canonicalizes, and simplifies by the ranges of induction variables.
    pub(super) fn simplify_all(&mut self, m: &Module) {
        self.compose(m);
        self.canonicalize(m);
        range::simplify_divisions(m, self);
    }

    /// Removes duplicate expressions.
    pub(super) fn drop_duplicates(&mut self) {
        let mut seen = std::collections::HashSet::new();
        self.exprs.retain(|expr| seen.insert(expr.clone()));
    }
}

/// Returns an affine map as an attribute.
pub(super) fn map_attr(ctx: &Context, map: AffineMap) -> Attr {
    ctx.attr(AttrData::AffineMap(Box::new(map)))
}

/// Returns the first dimension or symbol that an `affine.apply` computes, and that op's map in canonical form.
fn next_apply(m: &Module, dims: &[Option<Value>], symbols: &[Option<Value>]) -> Option<(AffineExpr, AffineValueMap)> {
    let place = |i: usize| match i.checked_sub(dims.len()) {
        None => AffineExpr::Dim(i as u32),
        Some(symbol) => AffineExpr::Symbol(symbol as u32),
    };
    let (at, apply) = dims.iter().chain(symbols).enumerate().find_map(|(i, value)| {
        let apply = ApplyOp::defining(m, (*value)?)?;
        Some((place(i), apply.applied(m)?))
    })?;
    let mut apply = apply;
    apply.canonicalize(m);
    Some((at, apply))
}

/// Renumbers values so that only used, distinct ones are kept; kept values are appended to `operands`.
fn keep_used(
    values: &[Value],
    used: &[bool],
    make: fn(u32) -> AffineExpr,
    operands: &mut Vec<Value>,
    constant: impl Fn(Value) -> Option<AffineExpr>,
) -> Vec<AffineExpr> {
    let start = operands.len();
    let mut seen: HashMap<Value, u32> = HashMap::new();
    let mut keep = |value: Value| {
        let place = *seen.entry(value).or_insert_with(|| {
            operands.push(value);
            (operands.len() - 1 - start) as u32
        });
        make(place)
    };
    let place = |(&value, &used): (&Value, &bool)| match used {
        true => constant(value).unwrap_or_else(|| keep(value)),
        false => AffineExpr::Constant(0),
    };
    values.iter().zip(used).map(place).collect()
}

fn keep_present(values: &[Option<Value>], make: fn(u32) -> AffineExpr, operands: &mut Vec<Value>) -> Vec<AffineExpr> {
    let start = operands.len();
    let place = |value: &Option<Value>| match value {
        Some(value) => {
            operands.push(*value);
            make((operands.len() - 1 - start) as u32)
        }
        None => AffineExpr::Constant(0),
    };
    values.iter().map(place).collect()
}
