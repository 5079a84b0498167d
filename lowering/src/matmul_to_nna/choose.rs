//! The choice of plans for a product.

use super::programs::{ProductWish, Without, cheapest};
use super::{OPS, PLANS, alternatives, given_plans, refused};
use gradus_ir::{Diagnostic, Module, Op, PassContext};
use gradus_simulators::nna::PricedMachine;

/// Gives an op the plans of the fewest cycles, unless it has some, or is no product that the machine computes. `report`: with a remark.
///
/// # Errors
/// Given plans that the machine does not have for the product.
pub(crate) fn choose_plans(
    m: &mut Module,
    op: Op,
    report: bool,
    machine: &PricedMachine,
    cx: &mut PassContext<'_>,
) -> Result<(), Diagnostic> {
    if !m.is_one_of(op, OPS) {
        return Ok(());
    }
    let plans = given_plans(m, op).map_err(|refusal| refused(m, op, &refusal))?;
    let is_given = plans.is_some();
    let wish = ProductWish { without: Without::Nothing, plans };
    let choice = match alternatives(m, op).and_then(|lowered| cheapest(m, lowered, &wish, machine)) {
        Ok(choice) => choice,
        Err(refusal) if is_given => return Err(refused(m, op, &refusal)),
        Err(_) => return Ok(()),
    };
    let plans: Vec<_> = choice.plans().map(|plan| plan.to_attr(&m.ctx)).collect();
    let plans = m.ctx.array_attr(&plans);
    if report {
        let (name, plans) = (m.name_text(op), m.ctx.display_attr(plans));
        let [cycles, bound] = [choice.cycles(), choice.bound(&machine.machine)];
        let all = choice.cycles_with_host(m, machine);
        let text = format!("{name} by {plans}: {cycles} cycles, bound {bound}; {all} with the host");
        cx.emit(Diagnostic::remark(m.loc(op), text));
    }
    if !is_given {
        m.set_attr(op, PLANS, Some(plans));
        cx.count("num-chosen", 1);
    }
    Ok(())
}
