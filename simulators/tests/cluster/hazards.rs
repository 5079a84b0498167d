//! Synchronization: mutants.

use crate::programs::{machine, random_case};
use crate::random::{Rng, cases};
use crate::values::assert_result;
use gradus_simulators::cluster::*;

#[test]
fn all_orders_give_the_same_results() {
    let mut rng = Rng(12);
    for i in 0..cases("GRADUS_CLUSTER_ORDERS", 300) {
        let case = random_case(&mut rng);
        for seed in 0..3 {
            let simulator = Simulator { poison: [0, 0xff, 0x5a][seed], ..Simulator::new(machine()) };
            let mut ddr = case.ddr();
            simulator.run_shuffled(&case.program, &mut ddr, rng.next()).expect("a program");
            assert_result(&case, &ddr, &format!("case {i}, order {seed}"));
        }
    }
}
