//! Values of random programs.

use super::plain::values_of;
use super::programs::{Case, machine, random_case};
use super::random::{Rng, cases};
use gradus_simulators::cluster::*;

/// Asserts that a result is the expected one, bit for bit.
pub fn assert_result(case: &Case, ddr: &[u8], context: &str) {
    let (result, expected) = (values_of(case.elem, case.result(ddr)), values_of(case.elem, &case.expected));
    let is_same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    let wrong = result.iter().zip(&expected).position(|pair| !is_same(pair));
    if let Some(i) = wrong {
        let text = text::disassemble(&case.program.records);
        panic!("{context}: element {i} is {} instead of {}\n{text}", result[i], expected[i]);
    }
}

#[test]
fn programs_compute_their_layers() {
    let mut rng = Rng(11);
    let simulator = Simulator::new(machine());
    for i in 0..cases("GRADUS_CLUSTER_PROGRAMS", 1000) {
        let case = random_case(&mut rng);
        let mut ddr = case.ddr();
        let statistics = simulator.run(&case.program, &mut ddr);
        let statistics = statistics
            .unwrap_or_else(|fault| panic!("case {i}: {fault}\n{}", text::disassemble(&case.program.records)));
        assert_result(&case, &ddr, &format!("case {i}"));
        assert!(
            statistics.bound() <= statistics.cycles || statistics.bounds.products == statistics.bound(),
            "{statistics:?}"
        );
    }
}
