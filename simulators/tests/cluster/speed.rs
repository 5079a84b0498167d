//! Speed of check, time and values, for large programs.

use super::layers::dense;
use gradus_simulators::cluster::*;
use std::time::Instant;

/// A program of convolutions in 16 clusters: each layer reads the previous one's rows, which its neighbours send.
fn chain(layers: u32) -> (ClusterProgram, ClusterMachine) {
    let machine = ClusterMachine { clusters: 16, ..ClusterMachine::default() };
    let place = |offset| StridedBox { offset, row: 0, pixel: 0 };
    let (rows, row) = (4u32, 56 * 64);
    let tensor = |layer: u32| (layer % 2) << 20;
    let mut records = vec![Vec::new(); 16];
    let params = Transfer { from: place(0), to: place(2 << 20), rows: 1, cols: 1, bytes: 9 * 64 * 64 + 512 };
    records[0].push(Record::Fetch { transfer: params, clusters: 0xffff, event: 0 });
    for (i, records) in records.iter_mut().enumerate() {
        let first = params.bytes + i as u32 * rows * row;
        let transfer = Transfer { from: place(first), to: place(row), rows: 1, cols: 1, bytes: rows * row };
        records.push(Record::Fetch { transfer, clusters: 1 << i, event: 1 });
        records.push(Record::Wait { event: 0, count: 1 });
        records.push(Record::Wait { event: 1, count: 1 });
    }
    for layer in 0..layers {
        for (i, records) in records.iter_mut().enumerate() {
            let neighbours = [i.checked_sub(1), Some(i + 1).filter(|&i| i < 16)];
            let mask = neighbours.iter().flatten().fold(0u32, |mask, i| mask | 1 << i);
            for (side, neighbour) in neighbours.into_iter().enumerate() {
                let Some(neighbour) = neighbour else { continue };
                let (from, to) = [(1, rows + 1), (rows, 0)][side];
                let [from, to] = [from, to].map(|at| place(tensor(layer) + at * row));
                let transfer = Transfer { from, to, rows: 1, cols: 1, bytes: row };
                records.push(Record::Send { transfer, clusters: 1 << neighbour, event: 16 * layer + 2 });
            }
            records.push(Record::Wait { event: 16 * layer + 2, count: mask.count_ones() });
            if layer > 0 {
                records.push(Record::Wait { event: 16 * (layer - 1) + 3, count: mask.count_ones() });
            }
            records.push(Record::Conv(conv(i, layer, mask, tensor)));
            records.push(Record::Notify { clusters: mask, event: 16 * layer + 3 });
        }
    }
    let ddr_bytes = params.bytes + 16 * rows * row;
    let operands = vec![Extent { offset: params.bytes, bytes: 16 * rows * row }];
    let constants = (0..params.bytes).map(|i| (i * 7 % 13) as u8 * u8::from(i < 9 * 64 * 64)).collect();
    (ClusterProgram { records, constants, ddr_bytes, operands, results: Vec::new() }, machine)
}

fn conv(i: usize, layer: u32, mask: u32, tensor: impl Fn(u32) -> u32) -> Conv {
    let row = 56 * 64;
    let top = u32::from(i > 0);
    let mut stages = Stages::default();
    stages[0] = Some(Stage::Requantize { scales: (2 << 20) + 9 * 64 * 64 + 256, zero: 0, elem: Elem::I8 });
    Conv {
        task: layer,
        input: dense(tensor(layer) + (1 - top) * row, [4 + mask.count_ones(), 56, 64], Elem::I8),
        output: dense(tensor(layer + 1) + row, [4, 56, 64], Elem::I8),
        weights: 2 << 20,
        weights_elem: Elem::I8,
        window: Window { kernel: [3; 2], stride: [1; 2], dilation: [1; 2], first: [top as i32 - 1, -1] },
        group_in: 64,
        group_out: 64,
        stages,
        ..Conv::default()
    }
}

#[test]
fn large_programs_are_checked_and_timed_quickly() {
    let (program, machine) = chain(200);
    let number: usize = program.records.iter().map(Vec::len).sum();
    let start = Instant::now();
    check(&program, &machine).expect("a program");
    let checked = start.elapsed();
    let start = Instant::now();
    let statistics = Simulator::new(machine).time(&program).expect("a program");
    let timed = start.elapsed();
    let rate = statistics.cycles as f64 / timed.as_secs_f64() / 1e6;
    println!(
        "{number} records: check {checked:.1?}; {} cycles in {timed:.1?}, {rate:.0} M cycles/s",
        statistics.cycles
    );
    // A hundredth of what is measured when the machine has nothing else to do.
    assert!(checked.as_secs_f64() < 5.0);
}

#[test]
fn products_are_computed_quickly() {
    let (program, machine) = chain(20);
    let mut ddr = program.ddr();
    let start = Instant::now();
    let statistics = Simulator::new(machine).run(&program, &mut ddr).expect("a program");
    let rate = statistics.products as f64 / start.elapsed().as_secs_f64() / 1e9;
    println!("{} products, {rate:.2} G/s", statistics.products);
    assert!(rate > 0.05, "{rate} G/s");
}
