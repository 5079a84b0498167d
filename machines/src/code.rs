//! Instructions as bytes: the ops `npu.code`, `nna.code` and `cluster.code`, each of which stands for the instructions of its bytes.
//!
//! Compiled files have programs in this form, and executors read it in place, without an op for each instruction.

use gradus_ir::{
    Attr, Block, Builder, Context, Diagnostic, Extension, Module, Op, OpInfo, OpState, Region, Signedness, Tensor,
    Traits, Violation,
};

/// The conversion of instructions from and to the bytes of a machine, an extension of the op of its programs.
pub struct InstructionBytes {
    /// The op that has bytes, in place of instructions.
    pub code: &'static OpInfo,
    /// Returns the bytes of instructions.
    pub encode: fn(&Module, &[Op]) -> Result<Vec<u8>, Violation>,
    /// Inserts the instructions of an op that has bytes before it.
    pub insert: fn(&mut Module, Op) -> Result<(), Violation>,
}

impl Extension for InstructionBytes {}

/// Replaces the instructions of all programs by their bytes, terminators aside. Instructions with further attributes remain.
pub fn pack(m: &mut Module) {
    for (conversion, region) in program_regions(m) {
        if let Some(block) = m.entry(region) {
            pack_block(m, conversion, block);
        }
    }
}

/// Replaces bytes by the instructions that they stand for, in all programs.
///
/// # Errors
/// The op whose bytes are not instructions of its machine.
pub fn unpack(m: &mut Module) -> Result<(), Diagnostic> {
    for (conversion, region) in program_regions(m) {
        let Some(block) = m.entry(region) else { continue };
        let ops: Vec<Op> = m.block_ops(block).filter(|&op| m.is_one_of(op, &[conversion.code])).collect();
        for op in ops {
            (conversion.insert)(m, op).map_err(|why| Diagnostic::error(m.loc(op), String::from(why)))?;
            m.erase_op(op);
        }
    }
    Ok(())
}

/// Returns the regions of all programs.
fn program_regions(m: &Module) -> Vec<(&'static InstructionBytes, Region)> {
    let regions = |op: Op| {
        let conversion = m.info(op).and_then(OpInfo::extension::<InstructionBytes>);
        conversion.into_iter().flat_map(move |conversion| m.regions(op).iter().map(move |&region| (conversion, region)))
    };
    m.ops_under(m.root()).into_iter().flat_map(regions).collect()
}

fn pack_block(m: &mut Module, conversion: &InstructionBytes, block: Block) {
    let ops: Vec<Op> = m.block_ops(block).filter(|&op| !m.has_trait(op, Traits::TERMINATOR)).collect();
    let Some(&first) = ops.first().filter(|_| ops.iter().all(|&op| m.attrs(op) == Attr::EMPTY_DICT)) else { return };
    let Ok(bytes) = (conversion.encode)(m, &ops) else { return };
    let mut state = OpState::new(&m.ctx, conversion.code.name, m.loc(first));
    let value = bytes_attr(&m.ctx, &Tensor::from_vec(&[bytes.len()], bytes));
    state.inherent(&m.ctx, "value", Some(value));
    Builder::before(m, first).create(state);
    ops.into_iter().for_each(|op| m.erase_op(op));
}

/// Returns the attribute of bytes.
pub(crate) fn bytes_attr(ctx: &Context, bytes: &Tensor) -> Attr {
    let ty = ctx.tensor_type(&[bytes.len() as i64], ctx.int_type(8, Signedness::Unsigned));
    ctx.dense_attr(ty, bytes)
}

/// Returns the bytes of an op that has some.
pub(crate) fn bytes_of(m: &Module, op: Op) -> Result<Tensor, Violation> {
    let value = m.inherent_attr(op, "value").and_then(|a| m.ctx.dense_tensor(a));
    value.ok_or_else(|| "has bytes that are not available".into())
}
