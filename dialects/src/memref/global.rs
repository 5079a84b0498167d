//! Global variables: `global`, `get_global`.

use super::types::{ALIGNMENT, STATIC};
use crate::constraint::{ANY_ATTR, FLAT_SYMBOL, STRING, SYMBOL_NAME, UNIT, kind};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::layout::StridedLayout;
use gradus_ir::memory::{MemRef, Memory, Storage};
use gradus_ir::symbols::SymbolTables;
use gradus_ir::{
    Attr, AttrData, AttrKind, AttrText, Context, Directive, Effects, Global, Module, Op, OpArgs, OpDecl, Traits, Type,
    TypeData, Violation, op,
};

/// A memref type.
const MEMREF_TYPE: AttrKind = AttrKind {
    text: AttrText::Type,
    ..kind("memref type attribute", |c, a| {
        c.as_type(a).is_some_and(|t| matches!(c.type_data(t), TypeData::MemRef { .. }))
    })
};
/// The keyword `constant`.
const CONSTANT: AttrKind = AttrKind { text: AttrText::Flag, ..UNIT };

/// Declares or defines a global memref, optionally initialized.
///
/// ```mlir
/// memref.global "private" constant @weights : memref<2xf32> = dense<[1.0, 2.0]> {alignment = 64 : i64}
/// memref.global @scratch : memref<8xi32> = uninitialized
/// ```
#[op(
    "memref.global",
    traits = Traits::SYMBOL,
    effects = Effects::Unknown,
    directives = &[&VISIBILITY, &TYPE_AND_VALUE],
    format = "(custom<Visibility>($sym_visibility)^)? (`constant` $constant^)? $sym_name `:` custom<TypeAndValue>($type, $initial_value) attr-dict",
    verify = verify_global,
    global = memory
)]
pub struct GlobalOp {
    /// Symbol name.
    sym_name: Attribute<SYMBOL_NAME>,
    /// Symbol visibility.
    sym_visibility: OptAttribute<STRING>,
    /// Type of the memref.
    r#type: Attribute<MEMREF_TYPE>,
    /// Initial value; `unit` if uninitialized, absent for an external declaration.
    initial_value: OptAttribute<ANY_ATTR>,
    /// Whether the memory is constant.
    constant: OptAttribute<CONSTANT>,
    /// Alignment of the address, in bytes.
    alignment: OptAttribute<ALIGNMENT>,
}

/// Returns the memref of a global.
///
/// ```mlir
/// memref.global @g : memref<2xf32>
/// func.func @f() {
///   %0 = memref.get_global @g : memref<2xf32>
///   return
/// }
/// ```
#[op(
    "memref.get_global",
    format = "$name `:` type($result) attr-dict",
    verify_symbols = verify_get_global,
    exec = get_global
)]
pub struct GetGlobalOp {
    /// Symbol of the global.
    name: Attribute<FLAT_SYMBOL>,
    /// Memref of the global.
    result: OpResult<STATIC>,
}

/// An optional visibility.
const VISIBILITY: Directive = Directive {
    name: "Visibility",
    parse: |p, params| {
        if p.peek() == b'"' {
            let visibility = p.attr()?;
            p.set_attr(params[0], visibility);
        }
        Ok(())
    },
    print: |p, params| {
        if let Some(visibility) = p.inherent(params[0]) {
            p.attr(visibility);
        }
        Ok(())
    },
};

/// `memref<2xf32> = dense<1.0>`
const TYPE_AND_VALUE: Directive = Directive {
    name: "TypeAndValue",
    parse: |p, params| {
        let ty = p.ty()?;
        let ctx = p.ctx();
        if !(STATIC.check)(ctx, ty) {
            let ty = ctx.display_type(ty);
            return p.error_at_op(format!("type should be static shaped memref, but got '{ty}'"));
        }
        p.set_attr(params[0], ctx.type_attr(ty));
        if !p.eat("=") {
            return Ok(());
        }
        let value = if p.eat_word("uninitialized") {
            Attr::UNIT
        } else {
            p.attr_of_type(ctx.tensor_type(ctx.shape(ty).unwrap_or(&[]), ctx.element_type(ty)))?
        };
        if value != Attr::UNIT && elements_type(ctx, value).is_none() {
            return p.error_at_op("initial value should be a unit or elements attribute");
        }
        p.set_attr(params[1], value);
        Ok(())
    },
    print: |p, params| {
        p.spelled(params[0]);
        match p.inherent(params[1]) {
            Some(Attr::UNIT) => p.text(" = uninitialized"),
            Some(value) => {
                p.text(" = ");
                p.number(value);
            }
            None => {}
        }
        Ok(())
    },
};

/// Returns the type of an elements attribute.
fn elements_type(ctx: &Context, attr: Attr) -> Option<Type> {
    let elements = matches!(
        ctx.attr_data(attr),
        AttrData::Dense(_) | AttrData::DenseStrings { .. } | AttrData::DenseResource { .. } | AttrData::Sparse { .. }
    );
    if elements { ctx.attr_type(attr) } else { None }
}

fn verify_global(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let Some(ty) = GlobalOp(op).r#type(m).and_then(|a| ctx.as_type(a)) else { return Ok(()) };
    if ctx.static_shape(ty).is_none() {
        return Err(format!("type should be static shaped memref, but got '{}'", ctx.display_type(ty)).into());
    }
    let Some(value) = GlobalOp(op).initial_value(m).filter(|&v| v != Attr::UNIT) else { return Ok(()) };
    let Some(have) = elements_type(ctx, value) else {
        let value = ctx.display_attr(value);
        return Err(format!("initial value should be a unit or elements attribute, but got {value}").into());
    };
    let (elem, want) = (ctx.element_type(have), ctx.element_type(ty));
    if elem != want {
        let (elem, want) = (ctx.display_type(elem), ctx.display_type(want));
        return Err(format!("initial value element expected to be of type '{want}', but was of type '{elem}'").into());
    }
    let shape = |ty: Type| ctx.shape(ty).unwrap_or(&[]).iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    if shape(ty) != shape(have) {
        return Err(format!("initial value shape expected to be {} but was {}", shape(ty), shape(have)).into());
    }
    Ok(())
}

fn verify_get_global(m: &Module, op: Op, symbols: &mut SymbolTables) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let Some(attr) = GetGlobalOp(op).name(m) else { return Ok(()) };
    let name = ctx.as_symbol(attr).map_or("", |(root, _)| ctx.text(root));
    let Some(global) = symbols.resolve(m, op, attr).and_then(|found| GlobalOp::cast(m, found)) else {
        // An unregistered ancestor may be a symbol table.
        if std::iter::successors(m.parent_op(op), |&p| m.parent_op(p)).any(|p| m.info(p).is_none()) {
            return Ok(());
        }
        return Err(format!("'{name}' does not reference a valid global memref").into());
    };
    let have = m.value_type(GetGlobalOp(op).result(m));
    match global.r#type(m).and_then(|a| ctx.as_type(a)) {
        Some(want) if want != have => {
            let (have, want) = (ctx.display_type(have), ctx.display_type(want));
            Err(format!("result type '{have}' does not match type '{want}' of the global memref @{name}").into())
        }
        _ => Ok(()),
    }
}

fn get_global(args: &OpArgs<'_>, _: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let (m, ctx, ty) = (args.module, args.ctx(), args.result_types[0]);
    let found = args.op.zip(args.attr("name")).and_then(|(op, name)| memory.symbols.resolve(m, op, name));
    let global = found.ok_or_else(|| Trap::unsupported("the global does not exist"))?;
    let buffer = memory.global(global, |memory| initialize(m, global, memory))?;
    let sizes = ctx.shape(ty).unwrap_or(&[]);
    let layout = ctx.layout_of_sizes(ty, sizes, &[]).unwrap_or_else(|| StridedLayout::row_major(sizes));
    Ok(vec![Datum::MemRef(Box::new(MemRef::strided(buffer, sizes, layout)))])
}

/// Returns the runtime description of a global.
fn memory(m: &Module, op: Op) -> Option<Global> {
    let (ctx, global) = (&m.ctx, GlobalOp(op));
    let ty = global.r#type(m).and_then(|a| ctx.as_type(a))?;
    let contents = match global.initial_value(m) {
        Some(Attr::UNIT) => Some(Datum::Poison),
        Some(value) => Some(ctx.attr_datum(value)?),
        None => None,
    };
    Some(Global { ty, contents, constant: global.constant(m).is_some() })
}

/// Allocates and initializes the buffer of a global.
fn initialize(m: &Module, op: Op, memory: &mut Memory) -> Result<u32, Trap> {
    let global = self::memory(m, op).ok_or_else(|| Trap::unsupported("a global with elements of this type"))?;
    let contents = global.contents.ok_or_else(|| Trap::unsupported("the global is defined elsewhere"))?;
    let sizes = m.ctx.shape(global.ty).unwrap_or(&[]);
    let view = memory.alloc_memref(&m.ctx, global.ty, sizes, &[], Storage::Global)?;
    if contents != Datum::Poison {
        let elements = contents.elements();
        let elements = elements.ok_or_else(|| Trap::unsupported("a global with elements of this type"))?;
        let mut elements = elements.into_iter();
        view.for_each_index(|index| memory.store(elements.next().unwrap_or(Datum::Poison), &view, index))?;
    }
    if global.constant {
        memory.freeze(view.buffer)?;
    }
    Ok(view.buffer)
}
