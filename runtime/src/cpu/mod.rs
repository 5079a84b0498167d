//! Kernels for this machine: what the interpreter asks before it evaluates an op by its reference meaning.
//!
//! | file | what is there |
//! |---|---|
//! | `buffers.rs` | where results are |
//! | `addr.rs` | kernels of products by address tables |
//! | `int8.rs` | the same of bytes |
//! | `window.rs` | pools and depthwise convolutions by them |

mod addr;
mod buffers;
mod int8;
mod window;

use buffers::Buffers;
use gradus_dialects::addr::{DepthwiseOp, GemmOp, IndirectGemmOp, PoolOp};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Module, Op, OpArgs, OpDecl, OpInfo, Tensor};
use rustc_hash::FxHashMap;

/// What comes of an op's operands, in some buffer.
type Run = Box<dyn Fn(&[Datum], &Buffers) -> Result<Vec<Datum>, Trap>>;

/// Prepares an op: `None` if there is no kernel for it as it is.
type Prepare = fn(&Module, &OpArgs<'_>) -> Option<Run>;

/// A constant operand.
fn constant(m: &Module, args: &OpArgs<'_>, name: &str) -> Option<Tensor> {
    m.ctx.dense_tensor(m.constant(args.opt_operand(name)?)?)
}

/// The ops that there are kernels for; where there are several, the first that fits.
const KERNELS: &[(&OpInfo, Prepare)] = &[
    (GemmOp::INFO, addr::gemm),
    (IndirectGemmOp::INFO, addr::gemm),
    (GemmOp::INFO, int8::gemm),
    (IndirectGemmOp::INFO, int8::gemm),
    (PoolOp::INFO, window::pool),
    (DepthwiseOp::INFO, window::depthwise),
];

/// Kernels for the ops of a program, each prepared when it is first run: constant factors are put in the order in which they
/// are read.
#[derive(Default)]
pub struct Cpu {
    prepared: FxHashMap<Op, Option<Run>>,
    buffers: Buffers,
    /// How often ops ran by their reference meaning, by their names.
    reference: FxHashMap<&'static str, u64>,
}

impl Cpu {
    /// The results of an op, if there is a kernel for it.
    pub fn run(&mut self, args: &OpArgs<'_>, operands: &[Datum]) -> Option<Result<Vec<Datum>, Trap>> {
        let op = args.op?;
        let prepare = || {
            let mut known = KERNELS.iter().filter(|(info, _)| std::ptr::eq(*info, args.info));
            known.find_map(|(_, prepare)| prepare(args.module, args))
        };
        match self.prepared.entry(op).or_insert_with(prepare) {
            Some(run) if !operands.contains(&Datum::Poison) => Some(run(operands, &self.buffers)),
            _ => {
                *self.reference.entry(args.info.name).or_default() += 1;
                None
            }
        }
    }

    /// The ops that ran by their reference meaning, by name, and how often.
    pub fn reference(&self) -> Vec<(&'static str, u64)> {
        let mut all: Vec<_> = self.reference.iter().map(|(&name, &count)| (name, count)).collect();
        all.sort_unstable();
        all
    }
}
