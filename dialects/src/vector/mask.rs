//! Masked ops: `mask`, `yield`.

mod patterns;
mod text;
mod verify;

use super::data;
use super::types::RANKED_MASK;
use crate::constraint::ANY;
use gradus_ir::control::{Event, Next};
use gradus_ir::effects::is_memory_free;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::Memory;
use gradus_ir::{Effects, Module, Op, OpArgs, Traits, op};
use text::MASKED;
use verify::verify_mask_op;

/// Executes an op under a mask. Result elements with false mask are those of `passthru`, if present.
///
/// ```mlir
/// %0 = vector.mask %m { vector.reduction <add>, %v : vector<4xf32> into f32 } : vector<4xi1> -> f32
/// ```
#[op(
    "vector.mask",
    traits = Traits::SINGLE_BLOCK.and(Traits::MASKING),
    effects = Effects::Recursive,
    directives = &[&MASKED],
    verify_regions = verify_mask_op,
    control_memory = choose,
    patterns = patterns::MASKED,
    format = "custom<Masked>($mask, $passthru, $maskRegion, type($results))"
)]
pub struct MaskOp {
    /// Mask of the active elements.
    mask: Operand<RANKED_MASK>,
    /// Elements where the mask is false.
    passthru: OptOperand<ANY>,
    /// Masked op, and a `vector.yield` of its results.
    #[name = "maskRegion"]
    mask_region: Region,
    /// Results of the masked op.
    results: OpResults<ANY>,
}

/// Terminates a region of a vector op and yields values to it.
///
/// ```mlir
/// %0 = vector.mask %m { vector.yield %v : vector<4xf32> } : vector<4xi1> -> vector<4xf32>
/// ```
#[op(
    "vector.yield",
    traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE),
    format = "attr-dict ($operands^ `:` type($operands))?"
)]
pub struct YieldOp {
    /// Yielded values.
    operands: Operands<ANY>,
}

/// Executes the masked op, which applies the mask. A poison mask makes its results poison, unless memory is accessed.
fn control(args: &OpArgs<'_>, data: &[Datum], event: Event<'_>, memory: &mut Memory) -> Result<Next, Trap> {
    let Event::Left { yielded, .. } = event else {
        if data[0].has_poison() && args.op.is_some_and(|op| is_memory_free(args.module, op)) {
            let poison = args.result_types.iter().map(|&ty| args.ctx().poison_of(ty));
            return Ok(Next::Done(poison.collect()));
        }
        memory.around.push(data.to_vec());
        return Ok(Next::Region(0, Vec::new()));
    };
    memory.around.pop();
    Ok(Next::Done(yielded.to_vec()))
}

/// Executes a `vector.mask` without a masked op: the mask selects between yielded and pass-through values.
fn choose(args: &OpArgs<'_>, data: &[Datum], event: Event<'_>, memory: &mut Memory) -> Result<Next, Trap> {
    let next = control(args, data, event, memory)?;
    let alone = args.op.is_some_and(|op| is_empty(args.module, op));
    let (Next::Done(values), [mask, passthru], true) = (&next, data, alone) else { return Ok(next) };
    let (Some(mask), Some(value), Some(other)) =
        (data::elements(mask)?, data::elements(&values[0])?, data::elements(passthru)?)
    else {
        return Ok(Next::Done(vec![Datum::Poison]));
    };
    let pairs = mask.iter().zip(value.into_iter().zip(other));
    let choose = |(m, (a, b)): (&Datum, _)| match m {
        Datum::Poison => Datum::Poison,
        Datum::Int(0) => b,
        _ => a,
    };
    let chosen: Vec<Datum> = pairs.map(choose).collect();
    data::value_of(args.ctx(), args.result_types[0], &chosen).map(|v| Next::Done(vec![v]))
}

/// Whether the region masks no op.
fn is_empty(m: &Module, op: Op) -> bool {
    let block = m.entry(MaskOp(op).mask_region(m));
    block.is_none_or(|b| m.block_ops(b).count() <= 1)
}
