//! `gradus bench --calibrate`: fits the numbers of a machine to measured programs.

use crate::io::{report, write};
use crate::stopwatch::Stopwatch;
use crate::{Failure, Streams, Tool, progress, target};
use clap::ArgMatches;
use gradus_cost::{CostError, CostModel, Machine};
use gradus_dialects::op_cost::OpCost;
use gradus_ir::{Module, Op, Traits, parse_module};

/// The source of a number that was fitted.
const SOURCE: &str = "cited: fitted to measured programs by 'gradus bench --calibrate'";
/// Largest value of a number that is fitted.
const MOST: u64 = 1 << 24;

/// Fits the numbers of the target's machine in the order of its probes, writes the description and prints what changed.
pub fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let target = target::named(tool, matches)?.ok_or_else(|| Failure::Usage("--calibrate needs --target".into()))?;
    let stopwatch = Stopwatch::new(tool, target)?;
    let mut machine = target::machine(tool, &tool.context(), target, matches, streams)?;
    let described = machine.clone();
    let probes = || target.probes.iter().filter(|probe| (probe.applies)(&described));
    let bar = progress::bar(probes().count() as u64, "measuring [{bar:32}] {pos}/{len} numbers, {eta} left");
    let mut lines = String::new();
    for probe in probes() {
        let (ctx, key) = (tool.context(), probe.number);
        let m =
            parse_module(&ctx, key, (probe.program)(), Default::default()).map_err(|d| report(&ctx, &d, streams))?;
        let costs = descriptors(&m);
        let cycles = stopwatch.cycles(m)?;
        let (before, value) = (machine.value(key)?, fit(&target.cost, &machine, key, &costs, cycles)?);
        machine.set(key, value)?;
        machine.cite(key, SOURCE)?;
        let modelled = total(&target.cost, &machine, &costs)?;
        lines += &format!("{key}: {before} to {value} ({cycles} cycles measured, {modelled} by the model)\n");
        bar.inc(1);
    }
    bar.finish_and_clear();
    let output: &String = matches.get_one("output").expect("--calibrate requires it");
    write(output, streams, |out| out.write_all(machine.to_text().as_bytes()))?;
    write("-", streams, |out| out.write_all(lines.as_bytes()))
}

/// Returns the cost descriptors of the ops of a program that compute something.
fn descriptors(m: &Module) -> Vec<OpCost> {
    let computes = |op: &Op| m.num_results(*op) > 0 && !m.has_trait(*op, Traits::CONSTANT_LIKE);
    m.ops_under(m.root()).into_iter().filter(computes).map(|op| OpCost::of(m, op)).collect()
}

/// Returns the price of all descriptors.
fn total(model: &CostModel, machine: &Machine, costs: &[OpCost]) -> Result<u64, CostError> {
    let price = model.price_on(machine)?;
    Ok(costs.iter().map(|&cost| price.of(cost)).fold(0, u64::saturating_add))
}

/// Returns the value of a number for which the price is nearest to the measured cycles. Prices rise or fall with a number; where it does
/// not matter any more, since another number limits the program, the value is the one where that begins.
fn fit(model: &CostModel, machine: &Machine, key: &str, costs: &[OpCost], measured: u64) -> Result<u64, CostError> {
    let mut machine = machine.clone();
    let mut price = |value: u64| {
        machine.set(key, value)?;
        total(model, &machine, costs)
    };
    let (first, last) = (price(1)?, price(MOST)?);
    let rises = last > first;
    let wanted = measured.clamp(first.min(last), first.max(last));
    let (mut low, mut high) = (1, MOST);
    while low < high {
        let middle = low + (high - low) / 2;
        let price = price(middle)?;
        let is_reached = if rises { price >= wanted } else { price <= wanted };
        if is_reached {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let below = (low - 1).max(1);
    Ok(if price(below)?.abs_diff(measured) < price(low)?.abs_diff(measured) { below } else { low })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every probe finds the number of another machine by its prices.
    #[test]
    fn numbers_are_found() {
        let tool = Tool::gradus();
        for target in tool.targets.iter().filter(|target| !target.probes.is_empty()) {
            let model = &target.cost;
            let machines = model.descriptions(&tool.context()).expect("its descriptions are valid");
            let probes = machines.iter().flat_map(|machine| target.probes.iter().map(move |probe| (machine, probe)));
            for (machine, probe) in probes.filter(|(machine, probe)| (probe.applies)(machine)) {
                let m = parse_module(&tool.context(), "", (probe.program)(), Default::default()).expect("is a program");
                let costs = descriptors(&m);
                let mut other = machine.clone();
                other.set(probe.number, 3 * machine.value(probe.number).unwrap() / 2 + 1).unwrap();
                let price = total(model, &other, &costs).unwrap();
                let found = fit(model, machine, probe.number, &costs, price).unwrap();
                other.set(probe.number, found).unwrap();
                assert_eq!(total(model, &other, &costs), Ok(price), "{}", probe.number);
                assert_ne!(total(model, machine, &costs), Ok(price), "{} does not matter", probe.number);
            }
        }
    }
}
