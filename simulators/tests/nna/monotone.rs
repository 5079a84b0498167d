//! More of a resource never makes the chosen program slower; each number of a machine matters.

use super::{Operands, Random, count};
use gradus_simulators::nna::{Conditions, NnaMachine, ProductPlan, ProductProgram, Shape};

/// Draws a machine whose resources can grow, with latencies of up to three times the defaults.
pub fn machine(random: &mut Random) -> NnaMachine {
    let mut machine = NnaMachine::DEFAULT;
    let is_latency = |name: &str| !["outputs", "kernels", "frams", "memory"].contains(&name);
    for (_, cycles) in machine.parameters().into_iter().filter(|(name, _)| is_latency(name)) {
        *cycles = 1 + random.below(3 * *cycles as usize) as u32;
    }
    let two = |random: &mut Random| 1 + random.below(2) as u32;
    let memory = 1 << (12 + random.below(10));
    NnaMachine { outputs: 4 * two(random), kernels: two(random), frams: two(random), memory, ..machine }
}

/// Returns the machines that have more of one resource: outputs, kernels, feature RAMs, memory.
fn larger(machine: &NnaMachine) -> Vec<(&'static str, NnaMachine)> {
    let all = [
        ("outputs", NnaMachine { outputs: 8, ..*machine }),
        ("kernels", NnaMachine { kernels: 2, ..*machine }),
        ("frams", NnaMachine { frams: 2, ..*machine }),
        ("memory", NnaMachine { memory: 2 * machine.memory, ..*machine }),
    ];
    all.into_iter().filter(|(_, larger)| larger != machine).collect()
}

#[test]
fn more_resources_are_never_slower() {
    let mut random = Random(6);
    let (mut pairs, mut faster) = (0, 0);
    for _ in 0..count("NNA_MACHINES", 500) {
        let machine = machine(&mut random);
        let largest = [300, 100, 40, 10][random.below(4)];
        let mut extent = || 1 + random.below(largest);
        let shape = Shape { rows: extent(), depth: extent(), columns: extent() };
        let (initial, requantize) = (random.below(2) == 0, (random.below(2) == 0).then_some(3));
        let cycles = |machine: &NnaMachine, random: &mut Random| {
            let product =
                ProductProgram::cheapest(shape, machine, |plan| Some(ProductPlan { initial, requantize, ..plan }))
                    .ok()?;
            let operands = Operands::new(shape, &product, random);
            let (_, _, statistics) = operands.run(&product, machine, &Conditions::REJECT).expect("no hazard");
            Some(statistics.cycles)
        };
        let Some(before) = cycles(&machine, &mut random) else { continue };
        for (resource, larger) in larger(&machine) {
            let after = cycles(&larger, &mut random).expect("it fits a larger machine");
            assert!(after <= before, "more {resource}: {after} cycles, before {before}: {shape:?} {machine:?}");
            pairs += 1;
            faster += usize::from(after < before);
        }
    }
    assert!(faster > 0 && pairs > faster);
    eprintln!("{pairs} pairs, {faster} faster");
}

/// Each number changes the cycles of a product, or whether it fits.
#[test]
fn each_number_of_a_machine_matters() {
    let shapes = [(70, 300, 30), (2, 20, 40), (1, 1, 1)].map(|(rows, depth, columns)| Shape { rows, depth, columns });
    let plan = |plan: ProductPlan| Some(ProductPlan { initial: true, requantize: Some(0), ..plan });
    let cycles_of = |shape, machine: &NnaMachine| {
        ProductProgram::cheapest(shape, machine, plan).map_or(0, |product| product.cycles)
    };
    let cycles = |numbers: &[i64]| {
        let machine = NnaMachine::from_numbers(numbers).expect("it is a machine");
        shapes.map(|shape| cycles_of(shape, &machine))
    };
    let numbers = NnaMachine::DEFAULT.numbers();
    for (i, (name, _)) in NnaMachine::default().parameters().into_iter().enumerate() {
        let mut other = numbers.clone();
        other[i] = match name {
            "outputs" => 4,
            "kernels" | "frams" => 1,
            "memory" => 4096,
            _ => 30,
        };
        assert_ne!(cycles(&other), cycles(&numbers), "{name}");
    }
}
