//! Access of kernels to the optional operands of an op.

use super::{constant, extents, position};
use gradus_ir::{Arity, OpArgs, Tensor};

/// The operands that a kernel has asked for: constants, read once, and inputs, read in each run. The first input is the
/// first operand of the op.
pub(super) struct Operands<'a> {
    args: &'a OpArgs<'a>,
    names: Vec<&'static str>,
    inputs: Vec<usize>,
}

/// Whether the operands of a group, if there are any, have these extents.
pub(super) fn have_extents(args: &OpArgs<'_>, name: &str, want: &[usize]) -> bool {
    args.operand_range(name).all(|i| extents(args.module, args.operand_type(i)).as_deref() == Some(want))
}

impl<'a> Operands<'a> {
    pub(super) fn new(args: &'a OpArgs<'a>) -> Operands<'a> {
        Operands { args, names: Vec::new(), inputs: vec![0] }
    }

    /// Returns the index of an operand among the inputs, if the op has it.
    pub(super) fn input(&mut self, name: &'static str) -> Option<usize> {
        self.names.push(name);
        self.inputs.push(position(self.args, name)?);
        Some(self.inputs.len() - 1)
    }

    /// Reads a constant, if the op has it. The outer `None` means that the operand is present but not a constant that
    /// `read` accepts.
    pub(super) fn constant<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Tensor) -> Option<T>,
    ) -> Option<Option<T>> {
        self.names.push(name);
        match self.args.opt_operand(name) {
            Some(_) => constant(self.args, name).and_then(read).map(Some),
            None => Some(None),
        }
    }

    /// Returns the inputs as operand indices; `None` if the op has an optional operand that the kernel did not ask for
    /// and would ignore.
    pub(super) fn inputs(self) -> Option<Vec<usize>> {
        let args = self.args;
        let mut optional = args.info.operands.iter().filter(|group| group.arity == Arity::Optional);
        let is_known = |name| self.names.contains(&name) || args.opt_operand(name).is_none();
        optional.all(|group| is_known(group.name)).then_some(self.inputs)
    }
}
