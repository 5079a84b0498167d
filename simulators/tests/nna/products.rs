//! Products against plain loops.

use super::{Operands, Random, count};
use gradus_simulators::nna::{
    Conditions, Interlock, LoopOrder, Mapping, NnaMachine, ProductPlan, ProductProgram, Shape, assemble, decode_all,
    disassemble, encode_all, requantize,
};

/// Returns a random machine.
fn machine(random: &mut Random) -> NnaMachine {
    let version = if random.below(2) == 0 { NnaMachine::V1 } else { NnaMachine::DEFAULT };
    NnaMachine { kernels: 1 + random.below(2) as u32, frams: 1 + random.below(4).min(1) as u32, ..version }
}

/// Returns a random plan that the machine can execute.
fn plan(machine: &NnaMachine, random: &mut Random) -> ProductPlan {
    let mapping = [Mapping::Diagonal, Mapping::Dense, Mapping::Dense, Mapping::Scalar][random.below(4)];
    let mut plan = ProductPlan::new(mapping, machine);
    plan.resident = 1 + random.below(machine.kernels as usize);
    plan.ping_pong &= random.below(5) > 0;
    plan.sharing = random.below(6) > 0;
    plan.patches = 1 + random.below(machine.patches());
    plan.padded = mapping == Mapping::Diagonal && random.below(2) == 0;
    if plan.resident == 1 && plan.ping_pong && plan.sharing && random.below(2) == 0 {
        plan.order = LoopOrder::StepOuter;
    }
    plan.initial = random.below(3) == 0;
    plan.requantize = (random.below(3) == 0).then(|| random.next() as i8);
    plan
}

/// Checks a product: values in all modes without hazards, the estimate of cycles, and the round trips of its code.
fn check(shape: Shape, plan: ProductPlan, machine: &NnaMachine, random: &mut Random) {
    let product = ProductProgram::new(shape, plan, machine).unwrap_or_else(|why| panic!("{shape:?} {plan:?}: {why}"));
    let operands = Operands::new(shape, &product, random);
    let (sums, bytes, statistics) = operands.run(&product, machine, &Conditions::REJECT).unwrap_or_else(|fault| {
        panic!("{shape:?} {plan:?} {machine:?}: {fault}: {}", product.code[fault.at.min(product.code.len() - 1)])
    });
    let expected = operands.sums(shape);
    assert!(sums == expected, "{shape:?} {plan:?} {machine:?}");
    if let Some(zero) = plan.requantize {
        let scaled =
            |(i, &sum): (usize, &i32)| requantize(sum, operands.scales[i / shape.columns], i32::from(zero)).unwrap();
        assert!(bytes == expected.iter().enumerate().map(scaled).collect::<Vec<i8>>(), "{shape:?} {plan:?}");
    }
    let difference = statistics.cycles.abs_diff(product.cycles) as f64 / statistics.cycles as f64;
    assert!(
        difference < 0.01,
        "{shape:?} {plan:?} {machine:?}: {} cycles, {} estimated",
        statistics.cycles,
        product.cycles
    );
    assert!(product.layout.bound(machine) <= statistics.cycles, "{shape:?} {plan:?} {machine:?}");
    let stalled = Conditions { interlock: Interlock::Stall, ..Conditions::REJECT };
    let (_, _, with_stalls) = operands.run(&product, machine, &stalled).unwrap();
    assert_eq!(with_stalls.stalls.iter().sum::<u64>(), 0, "{shape:?} {plan:?} {machine:?} {with_stalls:?}");
    assert!(decode_all(&encode_all(&product.code), machine).unwrap() == product.code);
    assert!(assemble(&disassemble(&product.code), machine).unwrap() == product.code);
}

#[test]
fn random_products_equal_plain_loops() {
    let mut random = Random(1);
    for _ in 0..count("NNA_PRODUCTS", 120) {
        let machine = machine(&mut random);
        let plan = plan(&machine, &mut random);
        let largest = [300, 300, 70, 40][random.below(4)];
        let mut extent = || 1 + random.below(largest);
        let shape = Shape { rows: extent(), depth: extent(), columns: extent() };
        check(shape, plan, &machine, &mut random);
    }
}

#[test]
fn edge_cases_equal_plain_loops() {
    let mut random = Random(2);
    for machine in [NnaMachine::V1, NnaMachine::DEFAULT] {
        for (rows, depth, columns) in
            [(1, 1, 1), (1, 9, 32), (32, 288, 4), (33, 289, 33), (16, 1, 31), (2, 600, 65), (49, 27, 127)]
        {
            let shape = Shape { rows, depth, columns };
            ProductPlan::candidates(shape, &machine)
                .into_iter()
                .for_each(|plan| check(shape, plan, &machine, &mut random));
        }
    }
}

/// The bound of a plan is at most the cycles of its program, whatever its tails, initial sums and latencies.
#[test]
fn bounds_are_lower_bounds() {
    let (mut random, mut tight) = (Random(3), 0);
    for _ in 0..count("NNA_BOUNDS", 400) {
        let machine = if random.below(2) == 0 { machine(&mut random) } else { super::monotone::machine(&mut random) };
        let plan = plan(&machine, &mut random);
        let largest = [40, 70, 300][random.below(3)];
        let mut extent = || 1 + random.below(largest);
        let shape = Shape { rows: extent(), depth: extent(), columns: extent().min(70) };
        let Ok(product) = ProductProgram::new(shape, plan, &machine) else { continue };
        let bound = product.layout.bound(&machine);
        assert!(bound <= product.cycles, "{shape:?} {plan:?} {machine:?}: bound {bound}, {} cycles", product.cycles);
        tight += usize::from(2 * bound > product.cycles);
    }
    // The example of two pixels per column, whose loads are one each.
    let shape = Shape { rows: 33, depth: 64, columns: 33 };
    for plan in ProductPlan::candidates(shape, &NnaMachine::DEFAULT) {
        let product =
            ProductProgram::new(shape, ProductPlan { initial: true, ..plan }, &NnaMachine::DEFAULT).expect("a product");
        let (bound, cycles) = (product.layout.bound(&NnaMachine::DEFAULT), product.cycles);
        assert!(bound <= cycles, "{plan:?}: bound {bound}, {cycles} cycles");
    }
    assert!(tight > 50, "only {tight} bounds are above half of the cycles");
}

#[test]
fn impossible_products_are_refused() {
    let machine = NnaMachine::DEFAULT;
    let plan = ProductPlan::new(Mapping::Dense, &machine);
    let refuse = |rows, depth, columns, plan: ProductPlan| {
        ProductProgram::new(Shape { rows, depth, columns }, plan, &machine).unwrap_err()
    };
    assert_eq!(refuse(0, 1, 1, plan), "a product of 0x1 and 1x1 is empty");
    assert!(refuse(1, 131_072, 1, plan).contains("exceed 32 bits"));
    assert!(refuse(10_000, 100_000, 10_000, plan).contains("do not fit"));
    assert!(refuse(1, 1, 1, ProductPlan { patches: 5, ..plan }).contains("feature RAM"));
    assert!(refuse(1, 1, 1, ProductPlan { resident: 3, ..plan }).contains("weight RAM"));
    assert!(refuse(1, 1, 1, ProductPlan { padded: true, ..plan }).contains("only the diagonal mapping"));
    assert!(refuse(1, 1, 1, ProductPlan { order: LoopOrder::StepOuter, ..plan }).contains("resident"));
}
