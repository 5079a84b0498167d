//! Custom assembly directives of affine ops: maps with operands, and affine expressions of values.

use gradus_ir::affine::{AffineBinOp, AffineExpr, AffineMap, IntegerSet};
use gradus_ir::{Attr, AttrData, Directive, OpParser, OpPrinter, ParseResult, Value, ValueRef};
use std::collections::HashMap;

/// Maximum nesting depth of parentheses.
const MAX_DEPTH: usize = 256;

/// `custom<Apply>($map, $operands)`: `affine_map<(d0)[s0] -> (d0 + s0)>(%d)[%s]`.
pub(super) const APPLY: Directive = Directive {
    name: "Apply",
    parse: |p, params| {
        let (attr, _) = p.affine_map()?;
        p.set_attr(params[0], attr);
        let (values, _) = dims_and_symbols(p)?;
        p.set_operands(params[1], values);
        Ok(())
    },
    print: |p, params| {
        let values = p.group(params[1]);
        print_map(p, p.inherent(params[0]), &values);
        Ok(())
    },
};

/// As [`APPLY`], with numbers of dimensions and symbols that match the map.
pub(super) const APPLY_CHECKED: Directive = Directive {
    name: "ApplyChecked",
    parse: |p, params| {
        let (attr, map) = p.affine_map()?;
        p.set_attr(params[0], attr);
        let (values, dims) = dims_and_symbols(p)?;
        if dims != map.num_dims as usize || values.len() != map.num_inputs() {
            return p.error_of_op("dimension or symbol index mismatch");
        }
        p.set_operands(params[1], values);
        Ok(())
    },
    print: APPLY.print,
};

/// `custom<Subscripts>($map, $indices)`: `[%i + symbol(%n) * 2, 7]`.
pub(super) const SUBSCRIPTS: Directive = Directive {
    name: "Subscripts",
    parse: |p, params| {
        let (map, values) = subscripts(p)?;
        p.set_attr(params[0], map);
        p.set_operands(params[1], values);
        Ok(())
    },
    print: |p, params| {
        let values = p.group(params[1]);
        print_subscripts(p, p.inherent(params[0]), &values);
        Ok(())
    },
};

/// Parses `[...]` as a map attribute and operands.
pub(super) fn subscripts<'a>(p: &mut OpParser<'_, 'a>) -> ParseResult<(Attr, Vec<ValueRef<'a>>)> {
    let mut names = AffineNames::default();
    if !p.eat("[") {
        return p.error_here("expected '[' in affine map");
    }
    let exprs = p.list("]", |p| names.expr(p))?;
    Ok(names.finish(p, exprs))
}

/// Prints `[...]`.
pub(super) fn print_subscripts(p: &mut OpPrinter<'_, '_>, map: Option<Attr>, values: &[Value]) {
    p.text("[");
    if let Some(map) = map.and_then(|a| map_data(p.ctx(), a)) {
        print_exprs(p, &map.results, map.num_dims, values);
    }
    p.text("]");
}

/// Parses operands in `(dims)[symbols]`, with optional symbols; returns them and the number of dimensions.
pub(super) fn dims_and_symbols<'a>(p: &mut OpParser<'_, 'a>) -> ParseResult<(Vec<ValueRef<'a>>, usize)> {
    p.expect("(")?;
    let mut values = p.list(")", OpParser::value)?;
    let dims = values.len();
    if p.eat("[") {
        values.extend(p.list("]", OpParser::value)?);
    }
    Ok((values, dims))
}

/// Prints a map or integer set with its operands.
pub(super) fn print_map(p: &mut OpPrinter<'_, '_>, attr: Option<Attr>, values: &[Value]) {
    let Some(attr) = attr else { return };
    p.attr(attr);
    let dims = match p.ctx().attr_data(attr) {
        AttrData::AffineMap(map) => map.num_dims,
        AttrData::IntegerSet(set) => set.num_dims,
        _ => 0,
    };
    let (dims, symbols) = values.split_at(values.len().min(dims as usize));
    p.text("(");
    p.values(dims);
    p.text(")");
    if !symbols.is_empty() {
        p.text("[");
        p.values(symbols);
        p.text("]");
    }
}

/// Prints comma-separated expressions of values.
pub(super) fn print_exprs(p: &mut OpPrinter<'_, '_>, exprs: &[AffineExpr], num_dims: u32, values: &[Value]) {
    let mut names: HashMap<Value, String> = HashMap::new();
    let mut out = String::new();
    p.list(exprs, |p, expr| {
        expr.for_each_leaf(|leaf| {
            if let Some(value) = operand(leaf, num_dims, values) {
                names.entry(value).or_insert_with(|| p.value_text(value));
            }
        });
        out.clear();
        let written = expr.write(&mut out, &mut |out, leaf| {
            let name = operand(leaf, num_dims, values).and_then(|v| names.get(&v)).map_or("<<missing>>", |n| n);
            match leaf {
                AffineExpr::Symbol(_) => write!(out, "symbol({name})"),
                _ => out.write_str(name),
            }
        });
        written.expect("strings take any text");
        p.text(&out);
    });
}

/// Returns the value of a dimension or symbol.
fn operand(leaf: &AffineExpr, num_dims: u32, values: &[Value]) -> Option<Value> {
    let index = match *leaf {
        AffineExpr::Dim(dim) => dim,
        AffineExpr::Symbol(symbol) => num_dims.checked_add(symbol)?,
        _ => return None,
    };
    values.get(index as usize).copied()
}

/// Returns the map of an attribute.
pub(super) fn map_data(ctx: &gradus_ir::Context, attr: Attr) -> Option<&AffineMap> {
    match ctx.attr_data(attr) {
        AttrData::AffineMap(map) => Some(map),
        _ => None,
    }
}

/// Returns the integer set of an attribute.
pub(super) fn set_data(ctx: &gradus_ir::Context, attr: Attr) -> Option<&IntegerSet> {
    match ctx.attr_data(attr) {
        AttrData::IntegerSet(set) => Some(set),
        _ => None,
    }
}

/// Error for a missing right-hand operand.
const NO_RIGHT: &str = "missing right operand of binary operator";

/// Values numbered as dimensions and symbols in order of first mention. A value mentioned as both gets two numbers, so
/// that maps round-trip.
#[derive(Default)]
pub(super) struct AffineNames<'a> {
    dims: Vec<ValueRef<'a>>,
    symbols: Vec<ValueRef<'a>>,
    known_dims: HashMap<(&'a str, u32), u32>,
    known_symbols: HashMap<(&'a str, u32), u32>,
}

impl<'a> AffineNames<'a> {
    /// Returns the map attribute and operands.
    pub(super) fn finish(self, p: &OpParser<'_, 'a>, exprs: Vec<AffineExpr>) -> (Attr, Vec<ValueRef<'a>>) {
        let map = AffineMap::new(self.dims.len() as u32, self.symbols.len() as u32, exprs);
        let values = [self.dims, self.symbols].concat();
        (p.ctx().attr(AttrData::AffineMap(Box::new(map))), values)
    }

    /// Parses a sum.
    pub(super) fn expr(&mut self, p: &mut OpParser<'_, 'a>) -> ParseResult<AffineExpr> {
        self.sum(p, 0)
    }

    fn sum(&mut self, p: &mut OpParser<'_, 'a>, depth: usize) -> ParseResult<AffineExpr> {
        if depth > MAX_DEPTH {
            return p.error_here(format!("affine expressions nest deeper than {MAX_DEPTH}"));
        }
        let mut sum = self.product(p, depth, "expected affine expression")?;
        loop {
            if p.eat("+") {
                sum = sum + self.product(p, depth, NO_RIGHT)?;
            } else if p.eat("-") {
                sum = sum - self.product(p, depth, NO_RIGHT)?;
            } else {
                return Ok(sum);
            }
        }
    }

    /// Parses a product; `missing` is the error for an absent operand.
    fn product(&mut self, p: &mut OpParser<'_, 'a>, depth: usize, missing: &str) -> ParseResult<AffineExpr> {
        let mut product = self.factor(p, depth, missing)?;
        loop {
            let at = p.offset();
            let op = if p.eat("*") {
                AffineBinOp::Mul
            } else if p.eat_word("floordiv") {
                AffineBinOp::FloorDiv
            } else if p.eat_word("ceildiv") {
                AffineBinOp::CeilDiv
            } else if p.eat_word("mod") {
                AffineBinOp::Mod
            } else {
                return Ok(product);
            };
            let rhs = self.factor(p, depth, NO_RIGHT)?;
            product = AffineExpr::checked_binary(op, product, rhs).or_else(|error| p.error(at, error.to_string()))?;
        }
    }

    fn factor(&mut self, p: &mut OpParser<'_, 'a>, depth: usize, missing: &str) -> ParseResult<AffineExpr> {
        let mut negative = false;
        while p.eat("-") {
            negative = !negative;
        }
        let factor = match p.peek() {
            b'%' => {
                let value = p.value()?;
                self.mention(value, false)
            }
            b'0'..=b'9' => AffineExpr::Constant(p.integer()?),
            b'(' => {
                p.expect("(")?;
                let inner = self.sum(p, depth + 1)?;
                p.expect(")")?;
                inner
            }
            _ if p.eat_word("symbol") => {
                p.expect("(")?;
                let value = p.value()?;
                p.expect(")")?;
                self.mention(value, true)
            }
            _ => return p.error_here(missing),
        };
        Ok(if negative { -factor } else { factor })
    }

    fn mention(&mut self, value: ValueRef<'a>, as_symbol: bool) -> AffineExpr {
        let AffineNames { dims, symbols, known_dims, known_symbols } = self;
        let (list, known) = if as_symbol { (symbols, known_symbols) } else { (dims, known_dims) };
        let index = *known.entry(value.key()).or_insert_with(|| {
            list.push(value);
            list.len() as u32 - 1
        });
        if as_symbol { AffineExpr::Symbol(index) } else { AffineExpr::Dim(index) }
    }
}
