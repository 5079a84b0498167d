//! Instructions as ops. The table is [`gradus_simulators::nna_forms`]; operands are attributes.

use crate::code::bytes_of;
use gradus_dialects::constraint::{BYTES_OR_RESOURCE, kind};
use gradus_ir::{
    Attr, AttrKind, AttrText, Context, Effects, Extension, Loc, Module, Op, OpDecl, OpInfo, OpState, Traits, Type,
    Violation, op,
};
use gradus_simulators::nna::{FORMS, Form, NnaInst, NnaMachine, OperandKind, decode_all};

/// The form of an op.
struct FormOf(Form);

impl Extension for FormOf {}

/// Whether an attribute is a number below `N`.
fn below<const N: i64>(ctx: &Context, attr: Attr) -> bool {
    ctx.attr_type(attr) == Some(Type::I32) && ctx.as_int(attr).is_some_and(|value| (0..N).contains(&value))
}

/// Returns the attribute constraint of an operand.
const fn operand(of: OperandKind) -> AttrKind {
    let words = of.words();
    let check: fn(&Context, Attr) -> bool = match words.len() {
        2 => below::<2>,
        3 => below::<3>,
        4 => below::<4>,
        8 => below::<8>,
        32 => below::<32>,
        64 => below::<64>,
        _ => |ctx, attr| ctx.attr_type(attr) == Some(Type::I32),
    };
    let text = if words.is_empty() { AttrText::Bare(Type::I32) } else { AttrText::Cases(Type::I32, words) };
    AttrKind { text, ..kind("operand of an instruction", check) }
}

/// Operands, separated by commas.
macro_rules! format_of {
    () => { "attr-dict" };
    ($first:ident $($rest:ident)*) => {
        concat!("$", stringify!($first), $(" `,` $", stringify!($rest),)* " attr-dict")
    };
}

macro_rules! declare {
    ($($(#[doc = $doc:literal])* $Form:ident $Op:ident $name:literal $slot:ident {
        $($(#[$field_doc:meta])* $field:ident: $kind:ident,)*
    })*) => {
        $(
            $(#[doc = $doc])*
            #[op(
                $name,
                traits = if matches!(Form::$Form, Form::Halt) { Traits::TERMINATOR } else { Traits::NONE },
                effects = Effects::Unknown,
                extensions = &[&FormOf(Form::$Form)],
                format = format_of!($($field)*)
            )]
            pub struct $Op {
                $($(#[$field_doc])* $field: Attribute<{ operand(OperandKind::$kind) }>,)*
            }
        )*

        /// The instructions.
        pub(super) const OPS: &[&OpInfo] = &[$($Op::INFO),*];
    };
}

gradus_simulators::nna_forms!(declare);

/// Instructions as bytes, in place of ops: the words of the binary.
#[op("nna.code", effects = Effects::Unknown, parents = &["nna.program"], format = "$value attr-dict")]
pub struct PackedInstructionsOp {
    /// Bytes.
    value: Attribute<BYTES_OR_RESOURCE>,
}

/// Returns the instructions of an op: those of its bytes, or itself.
///
/// # Errors
/// The op is not an instruction of the machine.
pub(super) fn instructions_of(m: &Module, op: Op, machine: &NnaMachine) -> Result<Vec<NnaInst>, Violation> {
    if PackedInstructionsOp::cast(m, op).is_some() {
        let fail = |why| format!("'{}': {why}", m.name_text(op)).into();
        return decode_all(bytes_of(m, op)?.bytes(), machine).map_err(fail);
    }
    let inst = inst_of(m, op).ok_or_else(|| format!("'{}' is not an instruction", m.name_text(op)))?;
    inst.check(machine)?;
    Ok(vec![inst])
}

/// Returns the instruction of an op; `None` for other ops.
pub fn inst_of(m: &Module, op: Op) -> Option<NnaInst> {
    let form = m.info(op)?.extension::<FormOf>()?.0;
    let args = m.args(op)?;
    let mut inst = NnaInst::new(form, &[]);
    for (arg, field) in inst.args.iter_mut().zip(form.info().fields) {
        *arg = i32::try_from(args.int(field.name)?).ok()?;
    }
    Some(inst)
}

/// Returns the op of an instruction, to be created.
pub fn op_of(ctx: &Context, inst: &NnaInst, loc: Loc) -> OpState {
    let mut state = OpState::new(ctx, FORMS[inst.form as usize].1.op, loc);
    for (field, value) in inst.operands() {
        state.inherent(ctx, field.name, Some(ctx.int_attr(Type::I32, i64::from(value))));
    }
    state
}
