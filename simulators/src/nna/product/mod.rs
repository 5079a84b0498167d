//! Programs of matrix products `[M, K] x [K, N]` of signed bytes in 32 bits.
//!
//! | mapping | kernel | patch | memory |
//! |---|---|---|---|
//! | `diagonal` | a row's nine factors, on the diagonals of nine 32x32 matrices | nine rows of the right matrix, 32 columns | both matrices as they are |
//! | `dense` | 32 rows, of nine pixels of 32 reduction indices each | one column | kernels; columns with contiguous reduction |
//! | `scalar` | | | both matrices as they are |
//!
//! Patches stand four pixels apart, so that a convolution with stride 2 finds one at every other output. Kernels are
//! *resident* one or two at a time: each patch is written once for both. With two feature RAMs, one is filled while the
//! convolution reads the other, and results are stored one convolution later.

mod bound;
mod convolve;
mod layout;
mod scalar;
mod terms;

pub use layout::Layout;
pub use terms::{Terms, scale_of};

use super::code::CodeBuilder;
use super::instruction::NnaInst;
use super::machine::{CHANNELS, MAX_DEPTH, NnaMachine, TAPS};

/// The extents of a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// Rows of the left matrix, M.
    pub rows: usize,
    /// Reduction extent, K.
    pub depth: usize,
    /// Columns of the right matrix, N.
    pub columns: usize,
}

/// The mapping of a product to the machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mapping {
    /// Nine factors of a row form a diagonal kernel.
    Diagonal,
    /// 32 rows form a kernel.
    Dense,
    /// Scalar code.
    Scalar,
}

impl Mapping {
    /// All mappings, in the order of their numbers.
    pub const ALL: [Mapping; 3] = [Mapping::Diagonal, Mapping::Dense, Mapping::Scalar];
}

/// The order of the loops over kernels, groups of nine taps, and steps of patches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LoopOrder {
    /// Kernels, groups, steps: weights are written once, features once for all resident kernels.
    KernelOuter,
    /// Steps, groups, kernels: features are written once and stay in both feature RAMs, weights once for these steps.
    StepOuter,
}

impl LoopOrder {
    /// All orders, in the order of their numbers.
    pub const ALL: [LoopOrder; 2] = [LoopOrder::KernelOuter, LoopOrder::StepOuter];
}

/// The choices of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ProductPlan {
    /// Mapping.
    pub mapping: Mapping,
    /// Order of loops.
    pub order: LoopOrder,
    /// Resident kernels, 1 or 2.
    pub resident: usize,
    /// Whether one feature RAM is filled while the convolution reads the other.
    pub ping_pong: bool,
    /// Whether the patches of a step share the weights; otherwise there is one, and weights are written for each.
    pub sharing: bool,
    /// Patches that stand side by side in a feature RAM, at most those of the machine.
    pub patches: usize,
    /// Whether columns beyond a multiple of 32 are a patch of the diagonal mapping, beside columns of zeros, instead of scalar code.
    pub padded: bool,
    /// Whether the sums begin with given values.
    pub initial: bool,
    /// Whether the sums are requantized to bytes, and the zero point of these.
    pub requantize: Option<i8>,
}

/// A program of a product.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProductProgram {
    /// Instructions.
    pub code: Vec<NnaInst>,
    /// The placement of operands and result in memory.
    pub layout: Layout,
    /// Cycles, estimated from the cycle model.
    pub cycles: u64,
}

/// Registers of addresses and counters.
pub(super) mod registers {
    /// Features.
    pub const FEATURES: i32 = 1;
    /// Sums.
    pub const SUMS: i32 = 2;
    /// Weights.
    pub const WEIGHTS: i32 = 3;
    /// Constants and scales.
    pub const CONSTANTS: i32 = 4;
    /// Requantized results.
    pub const BYTES: i32 = 5;
    /// Scalar factors and sums, up to 23.
    pub const SCALARS: i32 = 6;
    /// The counter of the outermost loop.
    pub const COUNTER: i32 = 31;
}

impl ProductPlan {
    /// Returns the plan with all techniques of a machine.
    pub fn new(mapping: Mapping, machine: &NnaMachine) -> ProductPlan {
        ProductPlan {
            mapping,
            order: LoopOrder::KernelOuter,
            resident: machine.kernels as usize,
            ping_pong: machine.frams == 2,
            sharing: true,
            patches: machine.patches(),
            padded: false,
            initial: false,
            requantize: None,
        }
    }

    /// Checks the plan for a machine and shape.
    ///
    /// # Errors
    /// The machine lacks a resource, or a dimension is out of range.
    pub fn check(&self, shape: Shape, machine: &NnaMachine) -> Result<(), String> {
        machine.check()?;
        let Shape { rows, depth, columns } = shape;
        if rows == 0 || depth == 0 || columns == 0 {
            return Err(format!("a product of {rows}x{depth} and {depth}x{columns} is empty"));
        }
        if depth > MAX_DEPTH {
            return Err(format!("a sum of {depth} products may exceed 32 bits; at most {MAX_DEPTH} are allowed"));
        }
        if rows.max(columns) > 1 << 24 {
            return Err(format!("{} rows or columns are more than 2^24", rows.max(columns)));
        }
        if !(1..=machine.kernels as usize).contains(&self.resident) {
            return Err(format!("{} kernels do not fit in the weight RAM", self.resident));
        }
        if !(1..=machine.patches()).contains(&self.patches) {
            return Err(format!("{} patches do not fit in a feature RAM", self.patches));
        }
        if self.ping_pong && machine.frams < 2 {
            return Err("there is one feature RAM only".into());
        }
        if self.padded && self.mapping != Mapping::Diagonal {
            return Err("only the diagonal mapping pads columns".into());
        }
        if self.order == LoopOrder::StepOuter && (!self.ping_pong || !self.sharing || self.resident != 1) {
            return Err("features that stay need both feature RAMs and one resident kernel".into());
        }
        Ok(())
    }

    /// Returns the number of kernels and of patches of a shape.
    pub fn extents(&self, shape: Shape) -> (usize, usize) {
        match self.mapping {
            Mapping::Diagonal if self.padded => (shape.rows, shape.columns.div_ceil(CHANNELS)),
            Mapping::Diagonal => (shape.rows, shape.columns / CHANNELS),
            Mapping::Dense => (shape.rows.div_ceil(CHANNELS), shape.columns),
            Mapping::Scalar => (0, 0),
        }
    }

    /// Returns the reduction indices of a group of nine taps.
    pub fn group(&self) -> usize {
        if self.mapping == Mapping::Dense { TAPS * CHANNELS } else { TAPS }
    }
}

impl ProductProgram {
    /// Returns the program of a product.
    ///
    /// # Errors
    /// The plan is not possible, or the operands do not fit in memory.
    pub fn new(shape: Shape, plan: ProductPlan, machine: &NnaMachine) -> Result<ProductProgram, String> {
        plan.check(shape, machine)?;
        let layout = Layout::new(shape, plan, machine)?;
        let constant = 1 << registers::FEATURES | 1 << registers::WEIGHTS | 1 << registers::CONSTANTS;
        let mut emitter = CodeBuilder::new(*machine, registers::COUNTER, constant);
        if plan.mapping != Mapping::Scalar {
            convolve::emit(&mut emitter, &layout);
        }
        scalar::emit(&mut emitter, &layout);
        if plan.requantize.is_some() {
            scalar::emit_requantize(&mut emitter, &layout);
        }
        let (code, cycles) = emitter.finish();
        Ok(ProductProgram { code, layout, cycles })
    }

    /// Returns the program of the fewest cycles among the candidates, which `adjust` changes or refuses. A machine with
    /// more resources has all plans of a smaller one. Plans whose bound is not below the best cycles are not tried.
    ///
    /// # Errors
    /// No plan is possible.
    pub fn cheapest(
        shape: Shape,
        machine: &NnaMachine,
        adjust: impl Fn(ProductPlan) -> Option<ProductPlan>,
    ) -> Result<ProductProgram, String> {
        let plans = ProductPlan::candidates(shape, machine).into_iter().filter_map(adjust);
        let mut bounded: Vec<(u64, ProductPlan)> = Vec::new();
        let mut reason = "no mapping".to_owned();
        for plan in plans {
            match plan.check(shape, machine).and_then(|()| Layout::new(shape, plan, machine)) {
                Ok(layout) => bounded.push((layout.bound(machine), plan)),
                Err(why) => reason = why,
            }
        }
        bounded.sort_by_key(|(bound, _)| *bound);
        let mut best: Option<ProductProgram> = None;
        for (bound, plan) in bounded {
            if best.as_ref().is_some_and(|best| best.cycles <= bound) {
                break;
            }
            let product = ProductProgram::new(shape, plan, machine)?;
            if best.as_ref().is_none_or(|best| product.cycles < best.cycles) {
                best = Some(product);
            }
        }
        best.ok_or(reason)
    }
}

impl ProductPlan {
    /// Returns the plans among which [`ProductProgram::cheapest`] chooses.
    pub fn candidates(shape: Shape, machine: &NnaMachine) -> Vec<ProductPlan> {
        let mut plans = Vec::new();
        let with_tail = !shape.columns.is_multiple_of(CHANNELS);
        let mappings = [(Mapping::Dense, false), (Mapping::Diagonal, false), (Mapping::Diagonal, true)];
        for (mapping, padded) in mappings.into_iter().filter(|&(_, padded)| with_tail || !padded) {
            let full = ProductPlan { padded, ..ProductPlan::new(mapping, machine) };
            for patches in full.widths(shape, machine) {
                let plan = ProductPlan { patches, ..full };
                for ping_pong in [true, false].into_iter().filter(|&both| !both || full.ping_pong) {
                    plans.extend((1..=machine.kernels as usize).map(|resident| ProductPlan {
                        resident,
                        ping_pong,
                        ..plan
                    }));
                }
                if plan.ping_pong {
                    plans.push(ProductPlan { order: LoopOrder::StepOuter, resident: 1, ..plan });
                }
            }
        }
        plans.push(ProductPlan { resident: 1, ..ProductPlan::new(Mapping::Scalar, machine) });
        plans
    }

    /// Returns the numbers of patches that steps may have: those of the machine and of smaller ones, and those that divide
    /// the patches evenly, so that fewer rows of a feature RAM are left unfilled.
    fn widths(&self, shape: Shape, machine: &NnaMachine) -> Vec<usize> {
        let (_, patches) = self.extents(shape);
        let mut widths: Vec<usize> = Vec::new();
        for full in [machine.patches(), NnaMachine::V1.patches()].into_iter().filter(|&n| n <= machine.patches()) {
            let even = patches.div_ceil(patches.div_ceil(full).max(1)).max(1);
            widths.extend([full, even]);
        }
        widths.sort_unstable();
        widths.dedup();
        widths
    }
}
