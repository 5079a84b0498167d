//! `builtin`: modules, and casts of type conversions.

use crate::constraint::{ANY, STRING, SYMBOL_NAME};
use gradus_ir::eval::Datum;
use gradus_ir::{
    Attr, Context, Dialect, Effects, FoldResult, Folded, Module, Op, OpArgs, OpDecl, Representation, Traits, Type,
    TypeData, Value, Violation, op,
};

/// A top-level container of ops, isolated from above, with a symbol table.
///
/// ```mlir
/// module @name {
/// }
/// ```
#[op(
    "builtin.module",
    traits = Traits::ISOLATED
        .and(Traits::SYMBOL)
        .and(Traits::SYMBOL_TABLE)
        .and(Traits::NO_TERMINATOR)
        .and(Traits::SINGLE_BLOCK)
        .and(Traits::GRAPH_REGION)
        .and(Traits::AFFINE_SCOPE),
    effects = Effects::Unknown,
    default_dialect = "builtin",
    verify = verify_module,
    format = "($sym_name^)? attr-dict-with-keyword $bodyRegion"
)]
pub struct ModuleOp {
    /// Name of the module.
    sym_name: OptAttribute<SYMBOL_NAME>,
    /// Symbol visibility.
    sym_visibility: OptAttribute<STRING>,
    /// Body.
    #[name = "bodyRegion"]
    body: Region,
}

/// A temporary cast between types during dialect conversion, without semantics of its own.
///
/// ```mlir
/// %1 = builtin.unrealized_conversion_cast %0 : i32 to index
/// ```
#[op(
    "builtin.unrealized_conversion_cast",
    verify = verify_cast,
    fold = fold_cast,
    format = "($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict"
)]
pub struct UnrealizedConversionCastOp {
    /// Operands.
    inputs: Operands<ANY>,
    /// Converted values.
    outputs: OpResults<ANY>,
}

fn verify_module(m: &Module, op: Op) -> Result<(), Violation> {
    let names = m.ctx.dict_entries(m.attrs(op)).iter().map(|entry| m.ctx.text(entry.0));
    if let Some(name) = names.into_iter().find(|name| !name.contains('.')) {
        return Err(format!("can only contain attributes with dialect-prefixed names, found: '{name}'").into());
    }
    let body = ModuleOp(op).body(m);
    match m.entry(body) {
        Some(block) if !m.block_args(block).is_empty() => Err("region should have no arguments".into()),
        Some(_) => Ok(()),
        None => Err("region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks".into()),
    }
}

fn verify_cast(m: &Module, op: Op) -> Result<(), Violation> {
    if m.num_results(op) > 0 { Ok(()) } else { Err("expected at least one result for cast operation".into()) }
}

/// Folds a cast to the same types, and a cast that undoes its producer.
fn fold_cast(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let m = args.module;
    let types = |values: &[Value]| values.iter().map(|&v| m.value_type(v)).eq(args.result_types.iter().copied());
    let before = UnrealizedConversionCastOp::defining(m, *args.operands.first()?)
        .filter(|before| m.results(before.0).eq(args.operands.iter().copied()))
        .map(|before| m.operands(before.0));
    let same = [Some(args.operands), before].into_iter().flatten().find(|values| types(values))?;
    Some(Folded::Results(same.iter().map(|&v| FoldResult::Value(v)).collect()))
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "builtin",
    doc: "Modules, and temporary casts of type conversions.",
    ops: &[ModuleOp::INFO, UnrealizedConversionCastOp::INFO],
    constant: None,
    representations: &[&TENSOR_AS_MEMREF, &VECTOR_AS_ROWS, &INDEX_AS_I32],
    ..Dialect::DEFAULT
};

/// A tensor in memory, as bufferization lowers it.
pub static TENSOR_AS_MEMREF: Representation = Representation {
    name: "tensor-as-memref",
    types: |ctx, ty| match ctx.type_data(ty) {
        TypeData::Tensor { shape, elem, encoding: None } => Some(vec![ctx.memref_type(shape, *elem, None, None)]),
        TypeData::UnrankedTensor(elem) => Some(vec![ctx.ty(TypeData::UnrankedMemRef { elem: *elem, space: None })]),
        _ => None,
    },
    encode: |_, _, tensor| Some(vec![tensor.clone()]),
    decode: |_, _, contents| contents.first().cloned(),
};

/// A vector as vectors of one dimension less, and in the end as scalars.
pub static VECTOR_AS_ROWS: Representation = Representation {
    name: "vector-as-rows",
    types: |ctx, ty| {
        let (&extent, rest) = ctx.static_shape(ty).filter(|_| is_vector(ctx, ty))?.split_first()?;
        let elem = ctx.element_type(ty);
        let row = if rest.is_empty() { elem } else { ctx.vector_type(rest, elem) };
        (extent <= MAX_ROWS).then(|| vec![row; extent as usize])
    },
    encode: |ctx, ty, vector| {
        let (elements, shape) = (vector.elements()?, vector.shape()?);
        let Some((&extent, rest)) = shape.split_first().filter(|(_, rest)| !rest.is_empty()) else {
            return Some(elements);
        };
        let dtype = ctx.dtype(ctx.element_type(ty))?;
        let rows = elements.chunks((elements.len() / extent.max(1)).max(1));
        rows.map(|row| Datum::from_elements(dtype, rest, row).ok()).collect()
    },
    decode: |ctx, ty, rows| {
        let shape: Vec<usize> = ctx.static_shape(ty)?.iter().map(|&n| n as usize).collect();
        let row_len: usize = shape.iter().skip(1).product();
        let row = |row: &Datum| match row {
            Datum::Poison => Some(vec![Datum::Poison; row_len]),
            row => row.elements().or_else(|| Some(vec![row.clone()])),
        };
        let elements: Vec<Vec<Datum>> = rows.iter().map(row).collect::<Option<_>>()?;
        Datum::from_elements(ctx.dtype(ctx.element_type(ty))?, &shape, &elements.concat()).ok()
    },
};

/// Maximum number of rows of a vector that is represented by them.
const MAX_ROWS: i64 = 1 << 10;

/// An index of a machine with addresses of 32 bits, sign-extended.
pub static INDEX_AS_I32: Representation = Representation {
    name: "index-as-i32",
    types: |_, ty| (ty == Type::INDEX).then(|| vec![Type::I32]),
    encode: |_, _, index| Some(vec![Datum::Int(i32::try_from(index.int().ok()?).ok()?.into())]),
    decode: |_, _, number| number.first().cloned(),
};

fn is_vector(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.type_data(ty), TypeData::Vector { .. })
}
