//! `gradus bench --calibrate`: fits the numbers of a machine to measured programs.

use crate::io::{report, write};
use crate::stopwatch::Stopwatch;
use crate::{Failure, Streams, Tool, progress, target};
use clap::ArgMatches;
use gradus_cost::{CostError, Machine, MakePrice, Pricing};
use gradus_dialects::op_cost::OpCost;
use gradus_ir::{Module, Op, Traits, parse_module};
use gradus_targets::Target;

/// The source of a number that was fitted.
const SOURCE: &str = "cited: fitted to measured programs by 'gradus bench --calibrate'";
/// Largest value of a number that is fitted.
const MOST: u64 = 1 << 24;

/// Fits the numbers of the target's machine in the order of its probes, writes the description and prints what changed.
pub fn run(tool: &Tool, matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let target = target::named(tool, matches)?.ok_or_else(|| Failure::Usage("--calibrate needs --target".into()))?;
    let stopwatch = Stopwatch::new(tool, target)?;
    let make = price(target)?;
    let mut machine = target::machine(tool, &tool.context(), target, matches, streams)?;
    let bar = progress::bar(target.probes.len() as u64, "measuring [{bar:32}] {pos}/{len} numbers, {eta} left");
    let mut lines = String::new();
    for probe in target.probes {
        let (ctx, key) = (tool.context(), probe.number);
        let m =
            parse_module(&ctx, key, (probe.program)(), Default::default()).map_err(|d| report(&ctx, &d, streams))?;
        let costs = descriptors(&m);
        let cycles = stopwatch.cycles(m)?;
        let (before, value) = (machine.value(key)?, fit(&machine, make, key, &costs, cycles)?);
        machine.set(key, value)?;
        machine.cite(key, SOURCE)?;
        let modelled = total(&machine, make, &costs)?;
        lines += &format!("{key}: {before} to {value} ({cycles} cycles measured, {modelled} by the model)\n");
        bar.inc(1);
    }
    bar.finish_and_clear();
    let output: &String = matches.get_one("output").expect("--calibrate requires it");
    write(output, streams, |out| out.write_all(machine.to_text().as_bytes()))?;
    write("-", streams, |out| out.write_all(lines.as_bytes()))
}

/// Returns how a target prices descriptors.
fn price(target: &Target) -> Result<MakePrice, Failure> {
    match target.cost.cost {
        Pricing::Descriptors(make) => Ok(make),
        Pricing::Ops(_) => Err(CostError::NotOfMachine(target.cost.name).into()),
    }
}

/// Returns the cost descriptors of the ops of a program that compute something.
fn descriptors(m: &Module) -> Vec<OpCost> {
    let computes = |op: &Op| m.num_results(*op) > 0 && !m.has_trait(*op, Traits::CONSTANT_LIKE);
    m.ops_under(m.root()).into_iter().filter(computes).map(|op| OpCost::of(m, op)).collect()
}

/// Returns the price of all descriptors.
fn total(machine: &Machine, make: MakePrice, costs: &[OpCost]) -> Result<u64, CostError> {
    let price = make(machine)?;
    Ok(costs.iter().map(|&cost| price.of(cost)).fold(0, u64::saturating_add))
}

/// Returns the value of a number for which the price is nearest to the measured cycles. Prices rise or fall with a number; where it does
/// not matter any more, since another number limits the program, the value is the one where that begins.
fn fit(machine: &Machine, make: MakePrice, key: &str, costs: &[OpCost], measured: u64) -> Result<u64, CostError> {
    let mut machine = machine.clone();
    let mut price = |value: u64| {
        machine.set(key, value)?;
        total(&machine, make, costs)
    };
    let (first, last) = (price(1)?, price(MOST)?);
    let rises = last > first;
    let wanted = measured.clamp(first.min(last), first.max(last));
    let (mut low, mut high) = (1, MOST);
    while low < high {
        let middle = low + (high - low) / 2;
        let price = price(middle)?;
        if if rises { price >= wanted } else { price <= wanted } {
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
            let make = price(target).expect("its machine prices descriptors");
            let machine = target.cost.embedded(&tool.context()).expect("its description is valid");
            for probe in target.probes {
                let m = parse_module(&tool.context(), "", (probe.program)(), Default::default()).expect("is a program");
                let costs = descriptors(&m);
                let mut other = machine.clone();
                other.set(probe.number, 3 * machine.value(probe.number).unwrap() / 2 + 1).unwrap();
                let price = total(&other, make, &costs).unwrap();
                let found = fit(&machine, make, probe.number, &costs, price).unwrap();
                other.set(probe.number, found).unwrap();
                assert_eq!(total(&other, make, &costs), Ok(price), "{}", probe.number);
                assert_ne!(total(&machine, make, &costs), Ok(price), "{} does not matter", probe.number);
            }
        }
    }
}
