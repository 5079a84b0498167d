//! Programs with all floats as `f64`.
//!
//! Rounding is told from algebra by running a program again with all its floats as `f64`: the semantics of an op apply
//! to any float type, so that nothing is declared twice.

use crate::input::Input;
use crate::options::Options;
use crate::outcome::{Outcome, Runner};
use gradus_ir::{DType, Diagnostic, Module, Op, OpInfo, Traits, Type, symbol_name, verify};
use std::cell::OnceCell;

/// Returns the program with `f64` in place of all smaller floats, or why it is not valid then: machine code has no such version.
pub fn widened(m: &Module) -> Result<Module, Vec<Diagnostic>> {
    let ctx = m.ctx.clone();
    let is_float = |value| ctx.float_kind(ctx.element_type(m.value_type(value))).is_some();
    let is_code_on_floats = |&op: &Op| {
        m.has_trait(op, Traits::MACHINE_CODE) && m.operands(op).iter().copied().chain(m.results(op)).any(is_float)
    };
    if let Some(code) = m.ops_under(m.root()).into_iter().find(is_code_on_floats) {
        return Err(vec![Diagnostic::error(m.loc(code), "machine code has no version in 'f64'")]);
    }
    let mut wide = m.clone();
    wide.retype(&|ty| if ctx.float_kind(ty).is_some() { Type::F64 } else { ty });
    drop_conversions(m, &mut wide);
    verify(&wide)?;
    Ok(wide)
}

/// Drops the conversions between float types: they are identities when all floats are `f64`.
fn drop_conversions(m: &Module, wide: &mut Module) {
    for op in wide.ops_under(wide.root()) {
        let (&[narrow], &[operand], 1) = (m.operands(op), wide.operands(op), wide.num_results(op)) else { continue };
        let result = wide.result(op, 0);
        // An earlier conversion may have been the operand.
        let is_conversion = wide.info(op).is_some_and(OpInfo::is_elementwise)
            && m.value_type(narrow) != m.value_type(result)
            && wide.value_type(operand) == wide.value_type(result);
        if is_conversion {
            wide.replace_all_uses(result, operand);
            wide.erase_op(op);
        }
    }
}

/// A function, and its version in `f64`.
pub(crate) struct WidenedFunction<'m> {
    pub(crate) m: &'m Module,
    pub(crate) op: Op,
    wide: OnceCell<Option<(Module, Op)>>,
}

impl<'m> WidenedFunction<'m> {
    pub(crate) fn new((m, op): (&'m Module, Op)) -> WidenedFunction<'m> {
        WidenedFunction { m, op, wide: OnceCell::new() }
    }

    /// Returns the version in `f64`; `None` if there is no valid one.
    pub(crate) fn wide(&self) -> Option<(&Module, Op)> {
        let make = || {
            let wide = widened(self.m).ok()?;
            let name = symbol_name(self.m, self.op);
            let op = wide.block_ops(wide.body()).find(|&op| symbol_name(&wide, op) == name)?;
            Some((wide, op))
        };
        self.wide.get_or_init(make).as_ref().map(|(wide, op)| (wide, *op))
    }

    /// Returns the outcome in `f64`.
    pub(crate) fn run_wide(&self, input: &Input, options: &Options) -> Option<Outcome> {
        let (wide, op) = self.wide()?;
        Some(Runner::new(wide, options).run(op, &widened_input(input)))
    }

    /// Returns the outcome with operands of ops perturbed by a relative number, at random.
    pub(crate) fn run_perturbed(
        &self,
        input: &Input,
        options: &Options,
        (by, seed): (f64, u64),
        wide: bool,
    ) -> Option<Outcome> {
        let run = |m, op, input: &Input| Runner::new(m, options).perturbing_operands(by, seed).run(op, input);
        match wide {
            true => self.wide().map(|(wide, op)| run(wide, op, &widened_input(input))),
            false => Some(run(self.m, self.op, input)),
        }
    }
}

/// Returns the input with all floats as `f64`.
pub(crate) fn widened_input(input: &Input) -> Input {
    input.map_floats(&mut |value| value, |_| DType::F64)
}
