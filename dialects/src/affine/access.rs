//! Memory access: `affine.load`, `affine.store`, `affine.vector_load`, `affine.vector_store`, `affine.prefetch`.

use super::scope::check_identifiers;
use super::text::{SUBSCRIPTS, map_data, print_subscripts, subscripts};
use super::value_map::AffineValueMap;
use super::{MAP, results, set_map};
use crate::constraint::{ANY, INDEX, MEMREF, VECTOR, kind};
use crate::memref::{GetGlobalOp, GlobalOp, fold_casts};
use gradus_ir::access::ElementAccess;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::Memory;
use gradus_ir::{
    Access, Attr, AttrData, AttrKind, Context, Directive, Effects, Module, Op, OpArgs, OpDecl, OpParser, OpPrinter,
    Param, ParseResult, Pattern, PatternRewriter, Rewriter, Tensor, Type, Value, Violation, op,
};

/// A boolean attribute.
const BOOL_ATTR: AttrKind = kind("bool attribute", |_, a| a == Attr::TRUE || a == Attr::FALSE);

/// Temporal locality hint, 0 to 3.
const LOCALITY: AttrKind =
    kind("32-bit signless integer attribute whose minimum value is 0 whose maximum value is 3", |c, a| {
        c.attr_type(a) == Some(Type::I32) && c.as_int(a).is_some_and(|v| (0..=3).contains(&v))
    });

/// Loads an element of a memref.
///
/// The indices are affine expressions of induction variables and symbols. An index out of bounds is undefined behavior.
///
/// ```mlir
/// %0 = affine.load %m[%i + symbol(%n), %j * 2] : memref<10x?xf32>
/// ```
#[op(
    "affine.load",
    effects = Effects::Memory(&[(Access::Read, "memref")]),
    format = "$memref `` custom<Subscripts>($map, $indices) attr-dict `:` custom<MemRefOf>(type($memref), type($result))",
    directives = &[&SUBSCRIPTS, &MEMREF_OF],
    verify = verify_load,
    access = |args| access(args, false),
    patterns = &[FOLD_CAST, KNOWN, COMPOSE_LOAD]
)]
pub struct LoadOp {
    /// Memref that is loaded from.
    memref: Operand<MEMREF>,
    /// Operands of the map: dimensions, then symbols.
    indices: Operands<INDEX>,
    /// Subscript map, with one result per dimension of the memref.
    map: Attribute<MAP>,
    /// Element.
    result: OpResult<ANY>,
}

/// Stores an element to a memref.
///
/// The indices are affine expressions of induction variables and symbols. An index out of bounds is undefined behavior.
///
/// ```mlir
/// affine.store %v, %m[%i + symbol(%n), %j * 2] : memref<10x?xf32>
/// ```
#[op(
    "affine.store",
    effects = Effects::Memory(&[(Access::Write, "memref")]),
    format = "$value `,` $memref `` custom<Subscripts>($map, $indices) attr-dict `:` custom<MemRefOf>(type($memref), type($value))",
    directives = &[&SUBSCRIPTS, &MEMREF_OF],
    verify = verify_store,
    access = |args| access(args, true),
    patterns = &[FOLD_CAST_KEEPING_VALUE, COMPOSE_STORE]
)]
pub struct StoreOp {
    /// Element.
    value: Operand<ANY>,
    /// Memref that is stored to.
    memref: Operand<MEMREF>,
    /// Operands of the map: dimensions, then symbols.
    indices: Operands<INDEX>,
    /// Subscript map, with one result per dimension of the memref.
    map: Attribute<MAP>,
}

/// Loads a vector of consecutive elements. The vector dimensions are the trailing dimensions of the memref.
///
/// ```mlir
/// %0 = affine.vector_load %m[%i, %j] : memref<10x?xf32>, vector<8xf32>
/// ```
#[op(
    "affine.vector_load",
    effects = Effects::Memory(&[(Access::Read, "memref")]),
    format = "$memref `` custom<Subscripts>($map, $indices) attr-dict `:` type($memref) `,` type($result)",
    directives = &[&SUBSCRIPTS],
    verify = verify_vector_load,
    exec = vector_load,
    patterns = &[FOLD_CAST, COMPOSE_LOAD]
)]
pub struct VectorLoadOp {
    /// Memref that is loaded from.
    memref: Operand<MEMREF>,
    /// Operands of the map: dimensions, then symbols.
    indices: Operands<INDEX>,
    /// Subscript map of the first element, with one result per dimension of the memref.
    map: Attribute<MAP>,
    /// Vector of elements.
    result: OpResult<VECTOR>,
}

/// Stores a vector to consecutive elements. The vector dimensions are the trailing dimensions of the memref.
///
/// ```mlir
/// affine.vector_store %v, %m[%i, %j] : memref<10x?xf32>, vector<8xf32>
/// ```
#[op(
    "affine.vector_store",
    effects = Effects::Memory(&[(Access::Write, "memref")]),
    format = "$value `,` $memref `` custom<Subscripts>($map, $indices) attr-dict `:` type($memref) `,` type($value)",
    directives = &[&SUBSCRIPTS],
    verify = verify_vector_store,
    exec = vector_store,
    patterns = &[FOLD_CAST_KEEPING_VALUE, COMPOSE_STORE]
)]
pub struct VectorStoreOp {
    /// Vector of elements.
    value: Operand<VECTOR>,
    /// Memref that is stored to.
    memref: Operand<MEMREF>,
    /// Operands of the map: dimensions, then symbols.
    indices: Operands<INDEX>,
    /// Subscript map of the first element, with one result per dimension of the memref.
    map: Attribute<MAP>,
}

/// Hints that an element will be accessed soon. Has no effect on semantics.
///
/// ```mlir
/// affine.prefetch %m[%i, %j + 5], read, locality<3>, data : memref<10x?xf32>
/// ```
#[op(
    "affine.prefetch",
    effects = Effects::Unknown,
    format = "$memref `` custom<Prefetch>($map, $indices, $isWrite, $localityHint, $isDataCache) attr-dict `:` type($memref)",
    directives = &[&PREFETCH],
    verify = verify_prefetch,
    exec = |_, _, _| Ok(Vec::new()),
    patterns = &[FOLD_CAST, COMPOSE_LOAD]
)]
pub struct PrefetchOp {
    /// Memref of the element.
    memref: Operand<MEMREF>,
    /// Operands of the map: dimensions, then symbols.
    indices: Operands<INDEX>,
    /// Whether the access will be a write.
    #[name = "isWrite"]
    is_write: Attribute<BOOL_ATTR>,
    /// Temporal locality, from 0 (none) to 3 (keep in cache).
    #[name = "localityHint"]
    locality_hint: Attribute<LOCALITY>,
    /// Whether the data cache is meant, rather than the instruction cache.
    #[name = "isDataCache"]
    is_data_cache: Attribute<BOOL_ATTR>,
    /// Subscript map, with one result per dimension of the memref.
    map: Attribute<MAP>,
}

/// `custom<MemRefOf>(type($memref), type($element))`: the memref type, which implies the element type.
const MEMREF_OF: Directive = Directive {
    name: "MemRefOf",
    parse: |p, params| {
        let at = p.offset();
        let ty = p.ty()?;
        if !(MEMREF.check)(p.ctx(), ty) {
            let found = p.ctx().display_type(ty);
            return p.error_in_op(
                at,
                &format!("invalid kind of type specified: expected builtin.memref, but found '{found}'"),
            );
        }
        p.set_types(params[0], vec![ty]);
        p.set_types(params[1], vec![p.ctx().element_type(ty)]);
        Ok(())
    },
    print: |p, params| {
        let types = p.group_types(params[0]);
        p.types(&types);
        Ok(())
    },
};

/// `[%i], read, locality<3>, data`
const PREFETCH: Directive = Directive { name: "Prefetch", parse: parse_prefetch, print: print_prefetch };

fn parse_prefetch(p: &mut OpParser<'_, '_>, params: &[Param]) -> ParseResult<()> {
    let (map, values) = subscripts(p)?;
    p.set_attr(params[0], map);
    p.set_operands(params[1], values);
    p.expect(",")?;
    let is_write = match p.word() {
        "read" => false,
        "write" => true,
        _ => return p.error_of_op("rw specifier has to be 'read' or 'write'"),
    };
    p.set_attr(params[2], p.ctx().bool_attr(is_write));
    p.expect(",")?;
    p.expect_word("locality")?;
    p.expect("<")?;
    let locality = p.number(Type::I32)?;
    p.set_attr(params[3], locality);
    p.expect(">")?;
    p.expect(",")?;
    let is_data = match p.word() {
        "data" => true,
        "instr" => false,
        _ => return p.error_of_op("cache type has to be 'data' or 'instr'"),
    };
    p.set_attr(params[4], p.ctx().bool_attr(is_data));
    Ok(())
}

fn print_prefetch(p: &mut OpPrinter<'_, '_>, params: &[Param]) -> std::io::Result<()> {
    let values = p.group(params[1]);
    print_subscripts(p, p.inherent(params[0]), &values);
    p.text(if p.inherent(params[2]) == Some(Attr::TRUE) { ", write, locality<" } else { ", read, locality<" });
    if let Some(locality) = p.inherent(params[3]) {
        p.number(locality);
    }
    p.text(if p.inherent(params[4]) == Some(Attr::TRUE) { ">, data" } else { ">, instr" });
    Ok(())
}

/// Verifies the map of an access whose memref is operand `memref`; the map operands follow it.
fn verify_access(m: &Module, op: Op, memref: usize, of: &str) -> Result<(), Violation> {
    let Some(map) = m.inherent_attr(op, "map").and_then(|a| map_data(&m.ctx, a)) else { return Ok(()) };
    let (memref, operands) = (m.operands(op)[memref], &m.operands(op)[memref + 1..]);
    let rank = m.ctx.shape(m.value_type(memref)).map_or(0, <[i64]>::len);
    if map.results.len() != rank {
        return Err(format!("{of}affine map num results must equal memref rank").into());
    }
    if operands.len() != map.num_inputs() {
        return Err("expects as many subscripts as affine map inputs".into());
    }
    check_identifiers(m, op, operands, map.num_dims)
}

fn verify_load(m: &Module, op: Op) -> Result<(), Violation> {
    let load = LoadOp(op);
    if m.value_type(load.result(m)) != m.ctx.element_type(m.value_type(load.memref(m))) {
        return Err("result type must match element type of memref".into());
    }
    verify_access(m, op, 0, "")
}

fn verify_store(m: &Module, op: Op) -> Result<(), Violation> {
    let store = StoreOp(op);
    if m.value_type(store.value(m)) != m.ctx.element_type(m.value_type(store.memref(m))) {
        return Err("value to store must have the same type as memref element type".into());
    }
    verify_access(m, op, 1, "")
}

fn verify_elements(m: &Module, memref: Value, vector: Value) -> Result<(), Violation> {
    let elem = |value| m.ctx.element_type(m.value_type(value));
    if elem(memref) == elem(vector) {
        return Ok(());
    }
    Err("requires memref and vector types of the same elemental type".into())
}

fn verify_vector_load(m: &Module, op: Op) -> Result<(), Violation> {
    verify_access(m, op, 0, "")?;
    verify_elements(m, VectorLoadOp(op).memref(m), VectorLoadOp(op).result(m))
}

fn verify_vector_store(m: &Module, op: Op) -> Result<(), Violation> {
    verify_access(m, op, 1, "")?;
    verify_elements(m, VectorStoreOp(op).memref(m), VectorStoreOp(op).value(m))
}

fn verify_prefetch(m: &Module, op: Op) -> Result<(), Violation> {
    verify_access(m, op, 0, "affine.prefetch ")
}

/// Evaluates the indices of an access.
fn indices(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<i64>, Trap> {
    let map = args.attr("map").and_then(|a| map_data(args.ctx(), a));
    match map.ok_or_else(|| Trap::unsupported("an access without a map"))? {
        map if map.results.is_empty() => Ok(Vec::new()),
        map => results(map, data),
    }
}

fn access(args: &OpArgs<'_>, writes: bool) -> Result<ElementAccess, Trap> {
    let map = args.attr("map").and_then(|a| map_data(args.ctx(), a));
    let map = map.ok_or_else(|| Trap::unsupported("an access without a map"))?;
    Ok(ElementAccess { writes, map: Some(map.clone()) })
}

/// Calls `f` with the number and the indices of each element of a vector at `at`.
fn for_each_element(
    ctx: &Context,
    ty: Type,
    at: &[i64],
    mut f: impl FnMut(usize, &[i64]) -> Result<(), Trap>,
) -> Result<(), Trap> {
    let shape = ctx.static_shape(ty).ok_or_else(|| Trap::unsupported("scalable vectors"))?;
    let first = at.len().checked_sub(shape.len());
    let first = first.ok_or_else(|| Trap::unsupported("a vector of more dimensions than the memory"))?;
    let total = shape.iter().fold(1i64, |n, &d| n.saturating_mul(d));
    let mut index = at.to_vec();
    for n in 0..total {
        f(n as usize, &index)?;
        for dim in (0..shape.len()).rev() {
            index[first + dim] += 1;
            if index[first + dim] - at[first + dim] < shape[dim] {
                break;
            }
            index[first + dim] = at[first + dim];
        }
    }
    Ok(())
}

fn vector_load(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let (ctx, ty) = (args.ctx(), args.result_types[0]);
    let at = indices(args, &data[1..])?;
    let view = data[0].memref()?;
    let mut elements = Vec::new();
    for_each_element(ctx, ty, &at, |_, index| {
        elements.push(memory.load(view, index)?);
        Ok(())
    })?;
    vector_of(ctx, ty, &elements).map(|vector| vec![vector])
}

/// Creates a vector of elements.
fn vector_of(ctx: &Context, ty: Type, elements: &[Datum]) -> Result<Datum, Trap> {
    let unsupported = || Trap::unsupported("a vector of this type");
    let dtype = ctx.dtype(ctx.element_type(ty)).ok_or_else(unsupported)?;
    let shape: Vec<usize> = ctx.static_shape(ty).ok_or_else(unsupported)?.iter().map(|&d| d as usize).collect();
    Datum::from_elements(dtype, &shape, elements)
}

fn vector_store(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let (ctx, ty) = (args.ctx(), args.operand_type(0));
    let at = indices(args, &data[2..])?;
    let view = data[1].memref()?;
    let elements = data[0].elements();
    for_each_element(ctx, ty, &at, |n, index| {
        let element = elements.as_ref().and_then(|list| list.get(n)).cloned().unwrap_or(Datum::Poison);
        memory.store(element, view, index)
    })?;
    Ok(Vec::new())
}

/// Replaces the cast memref of an access by the cast's source.
const FOLD_CAST: Pattern = Pattern { name: "fold-cast", run: |rw, op| fold_casts(rw, op, None) };

/// As [`FOLD_CAST`], except for operand 0, the stored value, which may be a memref itself.
const FOLD_CAST_KEEPING_VALUE: Pattern = Pattern {
    name: "fold-cast",
    run: |rw, op| {
        let value = rw.module().operands(op)[0];
        fold_casts(rw, op, Some(value))
    },
};

/// Folds loads from constant globals if the indices are constant or all elements are equal.
const KNOWN: Pattern = Pattern { name: "affine-load-of-constant", run: known_element };

impl LoadOp {
    /// Returns the element of a constant global, if known. `resolve` looks up a symbol at an op.
    pub fn known_element(self, m: &Module, resolve: impl FnOnce(Op, Attr) -> Option<Op>) -> Option<Attr> {
        let source = GetGlobalOp::defining(m, self.memref(m))?;
        let global = GlobalOp::cast(m, resolve(source.0, source.name(m)?)?)?;
        let value = global.initial_value(m).filter(|_| global.constant(m).is_some())?;
        let map = map_data(&m.ctx, self.map(m)?)?;
        let indices = map.results.iter().map(gradus_ir::affine::AffineExpr::constant).collect::<Option<Vec<i64>>>();
        element(&m.ctx, value, indices.as_deref())
    }
}

fn known_element(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let (m, symbols) = rw.module_and_symbols();
    let Some(element) = LoadOp(op).known_element(m, |at, name| symbols.resolve(m, at, name)) else { return false };
    let Some(constant) = rw.constant(op, element, rw.module().value_type(rw.module().result(op, 0))) else {
        return false;
    };
    rw.replace(op, &[constant]);
    true
}

/// Returns the element at `indices`, or any element of a splat.
fn element(ctx: &Context, dense: Attr, indices: Option<&[i64]>) -> Option<Attr> {
    let AttrData::Dense(data) = ctx.attr_data(dense) else { return None };
    let elem = ctx.element_type(data.ty);
    let at = match indices {
        _ if data.splat => 0,
        Some(indices) => {
            let shape = ctx.static_shape(data.ty)?;
            let inside = indices.len() == shape.len() && indices.iter().zip(shape).all(|(i, n)| (0..*n).contains(i));
            inside.then(|| indices.iter().zip(shape).fold(0, |at, (&i, &n)| at * n as usize + i as usize))?
        }
        None => return None,
    };
    let size = ctx.dtype(elem)?.size();
    let all = data.data();
    let bytes = all.get(at.checked_mul(size)?..)?.get(..size)?;
    let tensor = Tensor::new(ctx.dtype(elem)?, Vec::new(), bytes.to_vec().into()).ok()?;
    Some(match ctx.float_kind(elem) {
        Some(_) => ctx.float_attr(elem, *tensor.to_f64().first()?),
        None if elem == Type::I1 => ctx.bool_attr(*tensor.to_i64()?.first()? != 0),
        None => ctx.int_attr(elem, *tensor.to_i64()?.first()?),
    })
}

/// Composes the `affine.apply` ops that compute the indices into the map, and simplifies.
const COMPOSE_LOAD: Pattern = Pattern { name: "affine-compose-access", run: |rw, op| compose(rw, op, 1) };
const COMPOSE_STORE: Pattern = Pattern { name: "affine-compose-access", run: |rw, op| compose(rw, op, 2) };

fn compose(rw: &mut Rewriter<'_>, op: Op, first: usize) -> bool {
    let m = rw.module();
    let Some(map) = m.inherent_attr(op, "map").and_then(|a| map_data(&m.ctx, a)) else { return false };
    let operands = &m.operands(op)[first..];
    if operands.len() != map.num_inputs() {
        return false;
    }
    let old = AffineValueMap::map(map, operands);
    let mut new = old.clone();
    new.simplify_all(m);
    new != old && set_map(rw, op, "map", first, &new)
}
