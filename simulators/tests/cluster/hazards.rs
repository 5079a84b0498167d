//! Synchronization: shuffled orders, dropped records, cyclic waits, and mutants.

use super::programs::{Case, machine, random_case};
use super::random::{Rng, cases};
use super::values::assert_result;
use gradus_simulators::cluster::*;

/// Poison fillings.
const FILLINGS: [u8; 3] = [0, 0xff, 0x5a];

#[test]
fn all_orders_give_the_same_results() {
    let mut rng = Rng(12);
    for i in 0..cases("GRADUS_CLUSTER_ORDERS", 300) {
        let case = random_case(&mut rng);
        for (order, poison) in FILLINGS.into_iter().enumerate() {
            let simulator = Simulator { poison, ..Simulator::new(machine()) };
            let mut ddr = case.ddr();
            simulator.run_shuffled(&case.program, &mut ddr, rng.next()).expect("a program");
            assert_result(&case, &ddr, &format!("case {i}, order {order}"));
        }
    }
}

/// Returns DDR after an accepted program, which all orders, fillings and latencies give; `None` for a refused one.
fn meaning(case: &Case, program: &ClusterProgram, rng: &mut Rng) -> Option<Vec<u8>> {
    let mut expected = case.ddr();
    Simulator::new(machine()).run(program, &mut expected).ok()?;
    for poison in FILLINGS {
        let simulator = Simulator { poison, ..Simulator::new(machine()) };
        let mut ddr = case.ddr();
        simulator.run_shuffled(program, &mut ddr, rng.next()).expect("the program was accepted");
        if ddr != expected {
            let at = ddr.iter().zip(&expected).position(|(a, b)| a != b);
            panic!("DDR byte {at:?} depends on the order:\n{}", text::disassemble(&program.records));
        }
    }
    let slow = ClusterMachine { ddr_rate: 1, noc_rate: 3, ddr_latency: 7, noc_latency: 9000, ..machine() };
    let mut ddr = case.ddr();
    Simulator { poison: 0xa5, ..Simulator::new(slow) }.run(program, &mut ddr).expect("the program was accepted");
    assert_eq!(ddr, expected);
    Some(expected)
}

/// Returns the program without a record; with `repair`, its increments are no longer waited for.
fn without(program: &ClusterProgram, at: Position, repair: bool) -> ClusterProgram {
    let mut program = program.clone();
    let cluster = at.cluster as usize;
    let removed = program.records[cluster].remove(at.index as usize);
    let Some((event, mask)) = removed.counts(cluster).filter(|_| repair) else { return program };
    for (_, records) in program.records.iter_mut().enumerate().filter(|(i, _)| mask >> i & 1 == 1) {
        for record in records.iter_mut() {
            match record {
                Record::Wait { event: e, count } if *e == event => *count -= 1,
                _ => {}
            }
        }
    }
    program
}

fn positions(program: &ClusterProgram) -> Vec<Position> {
    let clusters = program.records.iter().enumerate();
    clusters.flat_map(|(i, r)| (0..r.len()).map(move |j| Position { cluster: i as u32, index: j as u32 })).collect()
}

#[test]
fn dropping_any_one_record_is_refused_or_redundant() {
    let (mut rng, mut refused, mut redundant) = (Rng(13), 0, 0);
    for _ in 0..cases("GRADUS_CLUSTER_DROPS", 60) {
        let case = random_case(&mut rng);
        for at in positions(&case.program) {
            let record = case.program.records[at.cluster as usize][at.index as usize];
            let is_needed = record.transfer().is_some() || record.task().is_some();
            for repair in [false, true] {
                let program = without(&case.program, at, repair);
                match meaning(&case, &program, &mut rng) {
                    None => refused += 1,
                    // A part of a halo may be a duplicate of what the cluster has, by way of DDR.
                    Some(ddr) if !is_needed => {
                        assert_result(&case, &ddr, &format!("{at} is redundant"));
                        redundant += 1;
                    }
                    Some(_) => {}
                }
            }
        }
    }
    println!("{refused} refused, {redundant} redundant");
    // Barriers of all clusters order more than halos need.
    assert!(refused > 2 * redundant && redundant > 0, "{refused} refused, {redundant} redundant");
}

#[test]
fn planted_cyclic_waits_are_found() {
    let mut rng = Rng(14);
    let mut found = 0;
    while found < 20 {
        let mut case = random_case(&mut rng);
        let n = case.program.records.len();
        let length = rng.range(1, n as u32) as usize;
        let mut ring: Vec<usize> = (0..n).collect();
        (0..n).for_each(|i| ring.swap(i, rng.range(i as u32, n as u32 - 1) as usize));
        ring.truncate(length);
        // Each waits for what the next one notifies after its own wait.
        for (i, &cluster) in ring.iter().enumerate() {
            let records = &mut case.program.records[cluster];
            let at = rng.range(0, records.len() as u32) as usize;
            let target = ring[(i + length - 1) % length];
            records.insert(at, Record::Wait { event: 900 + i as u32, count: 1 });
            let after = rng.range(at as u32 + 1, records.len() as u32) as usize;
            let event = 900 + ((i + length - 1) % length) as u32;
            records.insert(after, Record::Notify { clusters: 1 << target, event });
        }
        let fault = check(&case.program, &machine()).expect_err("a deadlock");
        assert_eq!(fault.class, FaultClass::Deadlock, "{fault}");
        let waits = |at: &Position| &case.program.records[at.cluster as usize][at.index as usize];
        assert!(!fault.waits.is_empty() && fault.waits.iter().all(|at| matches!(waits(at), Record::Wait { .. })));
        assert!(fault.waits.iter().all(|at| ring.contains(&(at.cluster as usize)) || n > length), "{fault}");
        found += 1;
    }
}

/// Changes one record.
fn mutate(program: &mut ClusterProgram, rng: &mut Rng) {
    let cluster = rng.range(0, program.records.len() as u32 - 1) as usize;
    let clusters = program.records.len() as u32;
    let records = &mut program.records[cluster];
    if records.len() < 2 {
        return;
    }
    let at = rng.range(0, records.len() as u32 - 1) as usize;
    match rng.range(0, 9) {
        0 => drop(records.remove(at)),
        1 => {
            let at = at.min(records.len() - 2);
            records.swap(at, at + 1);
        }
        2 => {
            let to = rng.range(0, records.len() as u32 - 1) as usize;
            let record = records.remove(at);
            records.insert(to, record);
        }
        3 => {
            let record = records[at];
            records.insert(rng.range(0, records.len() as u32) as usize, record);
        }
        _ => change(&mut records[at], clusters, rng),
    }
}

/// Changes a field of a record.
fn change(record: &mut Record, clusters: u32, rng: &mut Rng) {
    let step = rng.pick(&[1, 4, 32, 64, 256, 1 << 16]);
    let moved = |n: u32, up: bool| if up { n.wrapping_add(step) } else { n.wrapping_sub(step) };
    let (up, choice) = (rng.chance(50), rng.range(0, 4));
    match record {
        Record::Fetch { transfer, clusters: mask, event } | Record::Send { transfer, clusters: mask, event } => {
            match choice {
                0 => *mask ^= 1 << rng.range(0, clusters - 1),
                1 => *event = rng.range(0, 40),
                2 => transfer.from.offset = moved(transfer.from.offset, up),
                3 => transfer.to.offset = moved(transfer.to.offset, up),
                _ => transfer.rows = if up { transfer.rows + 1 } else { transfer.rows - 1 },
            }
        }
        Record::Store { transfer, event } => match choice {
            0 | 1 => *event = rng.range(0, 40),
            2 => transfer.from.offset = moved(transfer.from.offset, up),
            _ => transfer.to.offset = moved(transfer.to.offset, up),
        },
        Record::Notify { clusters: mask, event } => match choice {
            0..=2 => *mask ^= 1 << rng.range(0, clusters - 1),
            _ => *event = rng.range(0, 40),
        },
        Record::Wait { event, count } => match choice {
            0..=2 => *count = if up { *count + 1 } else { count.saturating_sub(1) },
            _ => *event = rng.range(0, 40),
        },
        Record::Conv(conv) => tile(&mut conv.input, &mut conv.output, moved, [up, choice < 2]),
        Record::Pool(pool) => tile(&mut pool.input, &mut pool.output, moved, [up, choice < 2]),
        Record::Map(map) => tile(&mut map.input, &mut map.output, moved, [up, choice < 2]),
        Record::Softmax(softmax) => tile(&mut softmax.input, &mut softmax.output, moved, [up, choice < 2]),
        Record::Lrn(lrn) => tile(&mut lrn.input, &mut lrn.output, moved, [up, choice < 2]),
    }
}

fn tile(input: &mut Tile, output: &mut Tile, moved: impl Fn(u32, bool) -> u32, [up, is_input]: [bool; 2]) {
    let tile = if is_input { input } else { output };
    tile.offset = moved(tile.offset, up);
}

#[test]
fn mutants_are_refused_or_mean_the_same_in_all_orders() {
    let (mut rng, mut refused, mut accepted) = (Rng(15), 0, 0);
    let count = cases("GRADUS_CLUSTER_MUTANTS", 5000);
    while refused + accepted < count {
        let case = random_case(&mut rng);
        for _ in 0..25 {
            let mut program = case.program.clone();
            (0..rng.range(1, 2)).for_each(|_| mutate(&mut program, &mut rng));
            match meaning(&case, &program, &mut rng) {
                Some(_) => accepted += 1,
                None => refused += 1,
            }
        }
    }
    println!("{refused} mutants refused, {accepted} accepted");
    assert!(refused > count / 3 && accepted > count / 50, "{refused} refused, {accepted} accepted");
}
