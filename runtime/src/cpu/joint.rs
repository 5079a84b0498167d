//! Kernels that compute several results of an op at once.

use super::Kernel;
use crate::workers::Workers;
use gradus_ir::eval::Trap;
use smallvec::SmallVec;

/// A function that computes results from the bytes of operands. Results that are `None` are not needed.
type RunJoint = dyn Fn(&Workers, &[&[u8]], &mut [Option<&mut [u8]>]) -> Result<(), Trap> + Send + Sync;

/// A kernel of all results of an op, for ops where one result costs as much as all.
pub(super) struct JointKernel {
    /// Indices of the operands that it reads.
    pub reads: Vec<usize>,
    /// Number of vector operations.
    steps: usize,
    run: Box<RunJoint>,
}

impl JointKernel {
    pub(super) fn new(
        reads: Vec<usize>,
        steps: usize,
        run: impl Fn(&Workers, &[&[u8]], &mut [Option<&mut [u8]>]) -> Result<(), Trap> + Send + Sync + 'static,
    ) -> JointKernel {
        JointKernel { reads, steps, run: Box::new(run) }
    }

    /// Computes all results.
    pub(super) fn run(&self, workers: &Workers, data: &[&[u8]], out: &mut [Option<&mut [u8]>]) -> Result<(), Trap> {
        (self.run)(workers, data, out)
    }

    /// Returns the kernel of one result of an op that has `count`.
    pub(super) fn only(self, result: usize, count: usize) -> Kernel {
        let JointKernel { reads, steps, run } = self;
        let run = move |workers: &Workers, data: &[&[u8]], out: &mut [u8]| {
            let mut out = Some(out);
            let mut all: SmallVec<[_; 4]> = (0..count).map(|i| if i == result { out.take() } else { None }).collect();
            run(workers, data, &mut all)
        };
        Kernel { steps: Some(steps), ..Kernel::shared(reads, run) }
    }
}
