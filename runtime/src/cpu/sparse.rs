//! Products with sparse constants: machine code, and compressed rows.

use super::addr::bounds;
use super::operands::Operands;
use super::{Kernel, Prepared, constant, extents, floats, floats_mut};
use crate::aligned_bytes::{AlignedBytes, LINE};
use crate::code::Code;
use crate::sparse_rows::{Epilogue, Nonzero, SparseRows};
use crate::vector::{Element, Isa};
use crate::workers::Workers;
use bytemuck::{cast_slice, cast_slice_mut};
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs};
use gradus_machines::x64::{Abi, Dispatch, code_of, functions_of};
use gradus_networks::addr::SparseGemm;
use smallvec::SmallVec;

/// Prepares `x64.call`: the code is verified. Code that fails, or that this machine cannot run, is simulated instead.
pub(super) fn call(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let code = Code::load(&code_of(m, args.op?).ok()?, Abi::of(args).ok()?).ok()?;
    let steps = Some(code.steps());
    let run = move |workers: &Workers, data: &[&[u8]], out: &mut [u8]| {
        let copy = data.get(1).filter(|b| pays_to_align(&code, b)).map(|b| AlignedBytes::of(b));
        let mut data: SmallVec<[&[u8]; 3]> = data.into();
        if let Some(copy) = &copy {
            data[1] = copy.as_ref();
        }
        code.run(workers, &data, out).map_err(Trap::unsupported)
    };
    Some(Kernel { steps, ..Kernel::shared(0..args.operands.len(), run) }.into())
}

/// Prepares `x64.dispatch` with constant patterns: each function that they select is verified for its operands, and loaded once.
pub(super) fn dispatch(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (op, patterns) = (args.op?, constant(args, "patterns")?);
    let dispatch = Dispatch::of(args).ok()?;
    let code = functions_of(m, op, &dispatch).ok()?;
    let all = &dispatch.patterns;
    let steps = all.steps(patterns.bytes()).ok()?;
    let mut functions: Vec<Option<Code>> = (0..1 << all.bits).map(|_| None).collect();
    for step in &steps {
        if functions[step.pattern].is_none() {
            let bytes = all.function(step.pattern, code.bytes());
            functions[step.pattern] = Some(Code::load(bytes, dispatch.abi_of(step.pattern)).ok()?);
        }
    }
    let (row, element) = (all.row_bytes(), all.element);
    let run = move |data: &[&[u8]], out: &mut [u8]| {
        let (weights, b) = (data[0], data[1]);
        dispatch.patterns.begin_sums(&steps, out);
        // Rows of B of a tile stay in a cache for all rows of the result.
        for tile in dispatch.abi.tiles() {
            for step in &steps {
                let Some(function) = &functions[step.pattern] else { continue };
                let abi = function.abi();
                let weights = &weights[step.weight * element..][..abi.pool as usize];
                let b = &b[step.first * row..][..abi.input as usize];
                let out = &mut out[step.row * row..][..row];
                function.run_tile([weights, b], out, tile).map_err(Trap::unsupported)?;
            }
        }
        Ok(())
    };
    Some(Kernel::new([0, 2], run).into())
}

/// Bytes of code per row of the dense operand from which on the code loads a row several times.
const CODE_PER_ROW: u64 = 256;

/// Maximum size of a dense operand that is copied, whose copy stays in the caches.
const MAX_COPIED: usize = 2 << 20;

/// Whether each load of the dense operand would read two cache lines, of which a copy saves one.
fn pays_to_align(code: &Code, b: &[u8]) -> bool {
    let (row, line) = (code.abi().row, LINE as u64);
    let is_split = row.is_multiple_of(line) && !(b.as_ptr().addr() as u64).is_multiple_of(line);
    is_split && b.len() <= MAX_COPIED && code.num_bytes() as u64 >= CODE_PER_ROW * (code.abi().input / row)
}

/// Prepares `addr.sparse_gemm` of f32 or f64 with a constant matrix, whose addresses are inside of the buffer.
pub(super) fn gemm(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    match constant(args, "values")?.dtype() {
        DType::F32 => gemm_of::<f32>(m, args),
        DType::F64 => gemm_of::<f64>(m, args),
        _ => None,
    }
}

fn gemm_of<T: Element>(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (sizes, values) = (SparseGemm::of(args).ok()?, constant(args, "values")?);
    let ctx = args.ctx();
    let integers = |name: &str| ctx.dense_elements::<i32>(m.constant(args.opt_operand(name)?)?);
    let size = |&n: &i32| usize::try_from(n).ok();
    let ends = integers("ends")?.iter().map(size).collect::<Option<Vec<_>>>()?;
    let entry = |(&value, &offset): (&T, &i32)| Some(Nonzero { offset: u32::try_from(offset).ok()?, value });
    let entries =
        cast_slice(values.bytes()).iter().zip(&integers("offsets")?).map(entry).collect::<Option<Vec<_>>>()?;
    // Nonzeros behind the last row are not read.
    let read = entries.get(..ends.last().copied().unwrap_or(0))?;
    let rows = SparseRows::new(read, &ends, sizes.columns)?;
    (rows.reach() <= extents(m, args.operand_type(0))?.iter().product()).then_some(())?;
    let mut operands = Operands::new(args);
    let bias = operands.constant("bias", |bias| Some(cast_slice::<u8, T>(bias.bytes()).to_vec()))?;
    let (add, (low, high)) = (operands.input("add"), bounds(args)?);
    let steps = Some(rows.steps());
    let run = move |workers: &Workers, data: &[&[u8]], out: &mut [u8]| {
        let epilogue =
            Epilogue { bias: bias.as_deref(), add: add.map(|i| cast_slice(data[i])), range: (low.into(), high.into()) };
        let operands = (cast_slice(data[0]), cast_slice_mut(out));
        rows.times(Isa::best(), workers, &epilogue, operands).map_err(Trap::unsupported)
    };
    Some(Kernel { steps, ..Kernel::shared(operands.inputs()?, run) }.into())
}

/// The nonzeros of a constant operand of f32, with their indices.
fn nonzeros(args: &OpArgs<'_>, name: &str) -> Option<Vec<(usize, f32)>> {
    let tensor = constant(args, name).filter(|tensor| tensor.dtype() == DType::F32)?;
    Some(floats(tensor.bytes()).iter().copied().enumerate().filter(|(_, value)| *value != 0.0).collect())
}

/// Prepares `sparse.mul` of f32.
pub(super) fn mul(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let entries = nonzeros(args, "a")?;
    let run = move |data: &[&[u8]], out: &mut [u8]| {
        let (x, out) = (floats(data[0]), floats_mut(out));
        out.fill(0.0);
        entries.iter().for_each(|&(i, value)| out[i] = value * x[i]);
        Ok(())
    };
    Some(Kernel::new([1], run).into())
}

/// Prepares `sparse.add` of f32.
pub(super) fn add(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    Some(sum(nonzeros(args, "a")?, 1))
}

/// Prepares `sparse.sub` of f32.
pub(super) fn sub(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    Some(sum(nonzeros(args, "b")?.into_iter().map(|(i, value)| (i, -value)).collect(), 0))
}

/// The sum of nonzeros and the operand with index `dense`.
fn sum(entries: Vec<(usize, f32)>, dense: usize) -> Prepared {
    let run = move |data: &[&[u8]], out: &mut [u8]| {
        let out = floats_mut(out);
        out.copy_from_slice(floats(data[0]));
        entries.iter().for_each(|&(i, value)| out[i] += value);
        Ok(())
    };
    Kernel::new([dense], run).into()
}

/// Prepares `sparse.dot` of f32.
pub(super) fn dot(_: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let entries = nonzeros(args, "a")?;
    let run = move |data: &[&[u8]], out: &mut [u8]| {
        let x = floats(data[0]);
        floats_mut(out)[0] = entries.iter().fold(0.0, |sum, &(i, value)| sum + value * x[i]);
        Ok(())
    };
    Some(Kernel::new([1], run).into())
}
