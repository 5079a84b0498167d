//! Prints the cycles of a product on the nna for each technique of the mapping, and the speed of the simulator.
//!
//! `cargo run --release -p gradus-simulators --example nna_report -- [M K N]`

#![expect(clippy::print_stdout, reason = "a report")]

mod support;

use gradus_simulators::nna::{
    Conditions, Mapping, NnaMachine, ProductPlan, ProductProgram, Shape, Statistics, simulate,
};
use std::time::Duration;
use support::processor_time;

/// Simulates a plan for 0.4 s at least. Returns its statistics and the seconds of the processor for each simulation.
fn run(shape: Shape, plan: ProductPlan, machine: &NnaMachine) -> (ProductProgram, Statistics, f64) {
    let product = ProductProgram::new(shape, plan, machine).expect("the product has a program");
    let operand = |n: usize| (0..n).map(|i| (i * 37 % 251) as i8).collect::<Vec<i8>>();
    let (a, b) = (operand(shape.rows * shape.depth), operand(shape.depth * shape.columns));
    let mut memory = product.layout.image(&a, &b, &[], &[], 0).expect("the operands fit");
    let (start, mut runs) = (processor_time(), 0);
    loop {
        let statistics = simulate(&product.code, machine, &mut memory, &Conditions::REJECT).expect("no hazard");
        let elapsed = processor_time() - start;
        runs += 1;
        if elapsed >= Duration::from_millis(400) {
            return (product, statistics, elapsed.as_secs_f64() / f64::from(runs));
        }
    }
}

fn main() {
    let extents: Vec<usize> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let shape = match extents[..] {
        [rows, depth, columns] => Shape { rows, depth, columns },
        _ => Shape { rows: 256, depth: 256, columns: 256 },
    };
    println!("{}x{}x{}", shape.rows, shape.depth, shape.columns);
    for (name, machine) in [("v1", NnaMachine::V1), ("v2", NnaMachine::DEFAULT)] {
        let one = ProductPlan { resident: 1, ..ProductPlan::new(Mapping::Dense, &machine) };
        for mapping in [Mapping::Scalar, Mapping::Diagonal, Mapping::Dense] {
            let plan = ProductPlan { mapping, ..one };
            let rows = [
                ("without sharing", ProductPlan { sharing: false, ..plan }),
                ("without ping-pong", ProductPlan { ping_pong: false, ..plan }),
                ("one kernel resident", plan),
                ("all", ProductPlan { resident: 2, ..plan }),
            ];
            for (technique, plan) in rows.into_iter().filter(|row| mapping != Mapping::Scalar || row.0 == "all") {
                let (product, s, seconds) = run(shape, plan, &machine);
                let useful = (shape.rows * shape.depth * shape.columns) as f64 / (s.cycles * machine.peak()) as f64;
                let bound = product.layout.bound(&machine);
                println!(
                    "{name} {mapping:?} {technique:20} {:>11} cycles, busy {:5.1} %, useful {:7.3} %, bound {:>9} cycles ({:5.1} %), weights {:>9} bytes, features {:>9}, {:.1} M cycles/s",
                    s.cycles,
                    100.0 * s.busy as f64 / s.cycles as f64,
                    100.0 * useful,
                    bound,
                    100.0 * bound as f64 / s.cycles as f64,
                    s.weight_bytes,
                    s.feature_bytes,
                    s.cycles as f64 / seconds / 1e6,
                );
            }
        }
    }
}
