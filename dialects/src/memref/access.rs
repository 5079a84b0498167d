//! Element access: `load`, `store`, `copy`, `prefetch`.

use super::cast::fold_casts;
use super::types::{ALIGNMENT, BOOL, element_of_memref};
use super::{CastOp, rank};
use crate::constraint::{ANY, ANY_MEMREF, INDEX, MEMREF, kind};
use gradus_ir::access::ElementAccess;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::Memory;
use gradus_ir::{
    Access, AttrData, AttrKind, Directive, Effects, Int, Module, Op, OpArgs, OpDecl, Pattern, Rewriter, SlotRole, Type,
    Violation, op,
};

/// Loads an element. An index out of bounds is undefined behavior.
///
/// ```mlir
/// %0 = memref.load %m[%i, %j] : memref<8x?xf32>
/// ```
#[op(
    "memref.load",
    effects = Effects::Memory(&[(Access::Read, "memref")]),
    slot = SlotRole::Load,
    relations = &[element_of_memref("result", "result type matches element type of 'memref'")],
    format = "$memref `[` $indices `]` attr-dict `:` type($memref)",
    verify = verify_load,
    access = |_| Ok(ElementAccess { writes: false, map: None }),
    patterns = &[FOLD_CAST]
)]
pub struct LoadOp {
    /// Source memref.
    memref: Operand<MEMREF>,
    /// Indices, one per dimension.
    indices: Operands<INDEX>,
    /// Whether the element has no temporal locality (nontemporal hint).
    nontemporal: OptAttribute<BOOL>,
    /// Guaranteed alignment of the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
    /// Element.
    result: OpResult<ANY>,
}

/// Stores an element. An index out of bounds is undefined behavior.
///
/// ```mlir
/// memref.store %v, %m[%i] : memref<8xf32>
/// ```
#[op(
    "memref.store",
    effects = Effects::Memory(&[(Access::Write, "memref")]),
    slot = SlotRole::Store,
    relations = &[element_of_memref("value", "type of 'value' matches element type of 'memref'")],
    format = "$value `,` $memref `[` $indices `]` attr-dict `:` type($memref)",
    verify = verify_store,
    access = |_| Ok(ElementAccess { writes: true, map: None }),
    patterns = &[FOLD_CAST_KEEPING_VALUE]
)]
pub struct StoreOp {
    /// Element to store.
    value: Operand<ANY>,
    /// Destination memref.
    memref: Operand<MEMREF>,
    /// Indices, one per dimension.
    indices: Operands<INDEX>,
    /// Whether the element has no temporal locality (nontemporal hint).
    nontemporal: OptAttribute<BOOL>,
    /// Guaranteed alignment of the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
}

/// Copies all elements to a memref of the same shape and element type. Layouts may differ.
///
/// ```mlir
/// memref.copy %a, %b : memref<4xf32> to memref<4xf32>
/// ```
#[op(
    "memref.copy",
    effects = Effects::Memory(&[(Access::Read, "source"), (Access::Write, "target")]),
    format = "$source `,` $target attr-dict `:` type($source) `to` type($target)",
    verify = verify_copy,
    exec = copy,
    patterns = &[
        Pattern { name: "copy-of-cast", run: copy_of_cast },
        Pattern { name: "empty-copy", run: empty_copy },
        Pattern { name: "self-copy", run: self_copy },
    ]
)]
pub struct CopyOp {
    /// Source memref.
    source: Operand<ANY_MEMREF>,
    /// Destination memref.
    target: Operand<ANY_MEMREF>,
}

/// Hints that an element will be accessed soon. Has no effect on semantics.
///
/// ```mlir
/// memref.prefetch %m[%i], read, locality<3>, data : memref<4xf32>
/// ```
#[op(
    "memref.prefetch",
    effects = Effects::Unknown,
    directives = &[&PREFETCH],
    format = "$memref `[` $indices `]` `,` custom<Prefetch>($isWrite, $localityHint, $isDataCache) attr-dict `:` type($memref)",
    verify = verify_prefetch,
    exec = |_, _, _| Ok(vec![]),
    patterns = &[FOLD_CAST]
)]
pub struct PrefetchOp {
    /// Memref of the element.
    memref: Operand<MEMREF>,
    /// Indices, one per dimension.
    indices: Operands<INDEX>,
    /// Whether the access will be a write.
    #[name = "isWrite"]
    is_write: Attribute<BOOL>,
    /// Temporal locality, from 0 (none) to 3 (keep in cache).
    #[name = "localityHint"]
    locality_hint: Attribute<LOCALITY>,
    /// Whether the data cache is meant, rather than the instruction cache.
    #[name = "isDataCache"]
    is_data_cache: Attribute<BOOL>,
}

/// Temporal locality, 0 to 3.
const LOCALITY: AttrKind =
    kind("32-bit signless integer attribute whose minimum value is 0 whose maximum value is 3", |c, a| {
        matches!(c.attr_data(a), AttrData::Integer { ty: Type::I32, value: Int::Small(0..=3) })
    });

/// `read, locality<3>, data`
const PREFETCH: Directive = Directive {
    name: "Prefetch",
    parse: |p, params| {
        let write = p.eat_word("write");
        if !write && !p.eat_word("read") {
            return p.error_at_op("rw specifier has to be 'read' or 'write'");
        }
        p.expect(",")?;
        p.expect_word("locality")?;
        p.expect("<")?;
        let hint = p.number(Type::I32)?;
        p.expect(">")?;
        p.expect(",")?;
        let data = p.eat_word("data");
        if !data && !p.eat_word("instr") {
            return p.error_at_op("cache type has to be 'data' or 'instr'");
        }
        let (write, data) = (p.ctx().bool_attr(write), p.ctx().bool_attr(data));
        for (&param, attr) in params.iter().zip([write, hint, data]) {
            p.set_attr(param, attr);
        }
        Ok(())
    },
    print: |p, params| {
        let flag = |i: usize| p.inherent(params[i]) == Some(gradus_ir::Attr::TRUE);
        let (write, data) = (flag(0), flag(2));
        p.text(if write { "write" } else { "read" });
        p.text(", locality<");
        if let Some(hint) = p.inherent(params[1]) {
            p.number(hint);
        }
        p.text(if data { ">, data" } else { ">, instr" });
        Ok(())
    },
};

/// Replaces the cast memref of an access by the cast's source.
pub(super) const FOLD_CAST: Pattern = Pattern { name: "fold-cast", run: |r, op| fold_casts(r, op, None) };

/// As [`FOLD_CAST`], except for operand 0, the stored value, which may be a memref itself.
pub(super) const FOLD_CAST_KEEPING_VALUE: Pattern = Pattern {
    name: "fold-cast",
    run: |r, op| {
        let value = r.module().operands(op)[0];
        fold_casts(r, op, Some(value))
    },
};

fn verify_load(m: &Module, op: Op) -> Result<(), Violation> {
    let (want, have) = (rank(m, LoadOp(op).memref(m)), LoadOp(op).indices(m).len());
    if want == have {
        return Ok(());
    }
    Err(format!("incorrect number of indices for load, expected {want} but got {have}").into())
}

fn verify_store(m: &Module, op: Op) -> Result<(), Violation> {
    if rank(m, StoreOp(op).memref(m)) == StoreOp(op).indices(m).len() {
        return Ok(());
    }
    Err("store index operand count not equal to memref rank".into())
}

fn verify_prefetch(m: &Module, op: Op) -> Result<(), Violation> {
    let fits = rank(m, PrefetchOp(op).memref(m)) == PrefetchOp(op).indices(m).len();
    if fits { Ok(()) } else { Err("too few indices".into()) }
}

fn verify_copy(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let [from, to] = [CopyOp(op).source(m), CopyOp(op).target(m)].map(|v| m.value_type(v));
    if ctx.element_type(from) != ctx.element_type(to) {
        return Err("requires the same element type for all operands".into());
    }
    if !super::cast::same_shape(ctx, from, to) {
        return Err("requires the same shape for all operands".into());
    }
    Ok(())
}

fn copy(_: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let (from, to) = (data[0].memref()?, data[1].memref()?);
    if from.sizes != to.sizes {
        return Err(Trap::Ub("a copy between memrefs of different shapes".into()));
    }
    memory.copy(from, to)?;
    Ok(vec![])
}

/// Copies the source of a cast to a less specific type directly, unless the more specific shapes conflict.
fn copy_of_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let foldable = |i: usize| {
        let cast = CastOp::defining(m, m.operands(op)[i])?;
        let [source, other] = [cast.source(m), m.operands(op)[1 - i]];
        let fits = super::cast::same_shape(&m.ctx, m.value_type(source), m.value_type(other));
        (cast.loses_static_info(m) && fits).then_some((i, source))
    };
    let Some((i, source)) = [0, 1].into_iter().find_map(foldable) else { return false };
    r.modify(op, |m| m.set_operand(op, i, source));
    true
}

/// Erases copies without elements.
fn empty_copy(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let empty = m.operands(op).iter().any(|&v| m.ctx.shape(m.value_type(v)).is_some_and(|s| s.contains(&0)));
    if empty {
        r.erase(op);
    }
    empty
}

fn self_copy(r: &mut Rewriter<'_>, op: Op) -> bool {
    let alike = CopyOp(op).source(r.module()) == CopyOp(op).target(r.module());
    if alike {
        r.erase(op);
    }
    alike
}
