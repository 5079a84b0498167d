//! Cycles, by hand on the default machine, and their dependence on the machine.

use super::layers::dense;
use super::programs::{machine, random_case};
use super::random::{Rng, cases};
use gradus_simulators::cluster::*;

fn transfer(from: u32, to: u32, bytes: u32) -> Transfer {
    let place = |offset| StridedBox { offset, row: 0, pixel: 0 };
    Transfer { from: place(from), to: place(to), rows: 1, cols: 1, bytes }
}

fn fetch(bytes: u32, to: u32, clusters: u32, event: u32) -> Record {
    Record::Fetch { transfer: transfer(0, to, bytes), clusters, event }
}

fn send(from: u32, to: u32, bytes: u32, clusters: u32, event: u32) -> Record {
    Record::Send { transfer: transfer(from, to, bytes), clusters, event }
}

fn wait(event: u32, count: u32) -> Record {
    Record::Wait { event, count }
}

fn time(records: Vec<Vec<Record>>) -> Statistics {
    let program =
        ClusterProgram { records, constants: vec![0; 1 << 16], ddr_bytes: 1 << 17, ..ClusterProgram::default() };
    let simulator = Simulator { trace: true, ..Simulator::new(ClusterMachine::default()) };
    simulator.time(&program).unwrap_or_else(|fault| panic!("{fault}"))
}

/// A map of bytes in place.
fn map(offset: u32, bytes: u32, task: u32) -> Record {
    let tile = dense(offset, [1, 1, bytes], Elem::I8);
    Record::Map(Map { task, input: tile, output: tile, stages: Stages::default() })
}

#[test]
fn a_fetch_takes_issue_rate_and_latency() {
    // Issued in cycle 20, on DDR up to 20 + 2400 / 24 = 120, there in 370; the wait ends in 410.
    let statistics = time(vec![vec![fetch(2400, 0, 1, 0), wait(0, 1)]]);
    assert_eq!((statistics.cycles, statistics.ddr_busy, statistics.bounds.ddr), (410, 100, 100));
    assert_eq!(statistics.busy, [Busy { compute: 0, wait: 390, issue: 20 }]);
    assert_eq!((statistics.ddr_bytes_read, statistics.parameter_bytes_read), (2400, 2400));
    // A map moves 2400 bytes to and fro at 16 ports of 32 bytes: 10 cycles.
    let statistics = time(vec![vec![fetch(2400, 0, 1, 0), wait(0, 1), map(0, 2400, 7)]]);
    assert_eq!((statistics.cycles, statistics.bounds.critical_path, statistics.tasks), (720, 720, 1));
    let span = |lane, usage, index, task, begin, end| {
        let record = Position { cluster: 0, index };
        Span { lane, usage, record, task, begin, end }
    };
    let expected = [
        span(Lane::Cluster(0), Use::Issue, 0, None, 0, 20),
        span(Lane::Cluster(0), Use::Wait, 1, None, 20, 410),
        span(Lane::Ddr, Use::Read, 0, None, 20, 120),
        // The port is occupied as long as DDR streams.
        span(Lane::Input(0), Use::Read, 0, None, 270, 370),
        span(Lane::Cluster(0), Use::Compute, 2, Some(7), 410, 720),
    ];
    assert_eq!(statistics.trace, expected);
}

#[test]
fn ddr_serves_in_the_order_of_issue() {
    let cluster = |i: u32| vec![fetch(2400, 0, 1 << i, 0), wait(0, 1)];
    let statistics = time((0..3).map(cluster).collect());
    assert_eq!(statistics.busy.iter().map(|busy| busy.wait).collect::<Vec<_>>(), [390, 490, 590]);
    assert_eq!((statistics.cycles, statistics.bounds.critical_path), (610, 410));
    // A multicast is read once.
    let receive = || vec![wait(0, 1)];
    let statistics = time(vec![vec![fetch(2400, 0, 7, 0), wait(0, 1)], receive(), receive()]);
    assert_eq!((statistics.cycles, statistics.ddr_bytes_read, statistics.ddr_busy), (410, 2400, 100));
}

#[test]
fn ports_are_occupied_once_per_multicast() {
    // Bytes arrive in cluster 0 in 410. Issued in 430 and 450; each is 100 cycles in the port, so that the second begins in 530.
    let records = vec![
        vec![fetch(3200, 0, 1, 0), wait(0, 1), send(0, 4096, 3200, 6, 1), send(0, 8192, 3200, 2, 2)],
        vec![wait(1, 1), wait(2, 1)],
        vec![wait(1, 1)],
    ];
    let statistics = time(records);
    let arrival = 20 + 134 + 250 + 40;
    let first = arrival + 20;
    assert_eq!(statistics.busy[2].wait, first + 100 + 60 + 40);
    assert_eq!(statistics.cycles, first + 200 + 60 + 40);
    assert_eq!(statistics.exchange_bytes, 6400);
    // Two sources share the port of one destination.
    let source = |i: u32| vec![fetch(3200, 0, 1 << i, 0), wait(0, 1), send(0, 4096 * (i + 1), 3200, 4, 1)];
    let statistics = time(vec![source(0), source(1), vec![wait(1, 2)]]);
    // The second source receives 134 cycles after the first one, behind it on DDR: no contention at the destination.
    assert_eq!(statistics.cycles, first + 134 + 100 + 60 + 40);
}

#[test]
fn notifications_travel_and_waits_cost() {
    let records = vec![
        vec![Record::Notify { clusters: 2, event: 0 }],
        vec![wait(0, 1), Record::Notify { clusters: 1, event: 0 }],
    ];
    let statistics = time(records);
    // 20 + 60, then 40 for the wait, 20 for the notification and 60 until it is counted.
    assert_eq!(statistics.cycles, 20 + 60 + 40 + 20 + 60);
}

#[test]
fn products_take_rate_share_and_start() {
    let conv = |channels: u32, elem: Elem| {
        let mut stages = Stages::default();
        stages[0] = (!elem.is_float()).then_some(Stage::Requantize { scales: 0, zero: 0, elem });
        let window = Window { kernel: [3; 2], stride: [1; 2], dilation: [1; 2], first: [-1; 2] };
        Conv {
            input: dense(0, [8, 8, channels], elem),
            output: dense(1 << 20, [8, 8, 64], elem),
            weights_elem: elem,
            window,
            group_in: channels,
            group_out: 64,
            stages,
            ..Conv::default()
        }
    };
    let machine = ClusterMachine::default();
    let products = |channels: u64| 64 * 64 * 9 * channels;
    // 16 cores; shares of 75, 65 and 50 percent.
    assert_eq!(Record::Conv(conv(128, Elem::F32)).product_cycles(&machine), products(128) / (16 * 8 * 3 / 4));
    assert_eq!(
        Record::Conv(conv(127, Elem::F16)).product_cycles(&machine),
        (products(127) * 100).div_ceil(16 * 64 * 65)
    );
    assert_eq!(Record::Conv(conv(31, Elem::I8)).product_cycles(&machine), products(31) / (16 * 128 / 2));
    let cycles = machine.compute_cycles(&Record::Conv(conv(128, Elem::F32)));
    assert_eq!(cycles, 300 + products(128) / 96);
    // With 1 channel the bytes take longer than the products: 9 * 64 weights, 64 inputs, 64 * 64 outputs and no bias.
    let bytes = 9 * 64 + 64 + 64 * 64 + 4 * 64;
    assert_eq!(
        machine.compute_cycles(&Record::Conv(conv(1, Elem::I8))),
        300 + u64::max(products(1) / 1024, bytes / 512 + 1)
    );
}

#[test]
fn balance_compares_the_parts_of_a_task() {
    let conv = |rows: u32, task: u32| {
        let window = Window { kernel: [1; 2], stride: [1; 2], dilation: [1; 2], first: [0; 2] };
        let input = dense(0, [rows, 8, 4], Elem::F32);
        let output = dense(1 << 14, [rows, 8, 4], Elem::F32);
        let (weights, elem) = (1 << 13, Elem::F32);
        Record::Conv(Conv {
            task,
            input,
            output,
            weights,
            weights_elem: elem,
            window,
            group_in: 4,
            group_out: 4,
            ..Conv::default()
        })
    };
    // 7 rows on 5 clusters: 2, 2, 1, 1, 1; of the other task 3 rows on one.
    let mut records: Vec<Vec<Record>> = Vec::new();
    for (i, rows) in [2, 2, 1, 1, 1].into_iter().enumerate() {
        records.push(vec![fetch(1 << 14, 0, 1 << i, 0), wait(0, 1), conv(rows, 4)]);
    }
    let statistics = time(records.clone());
    assert!((statistics.balance - 0.7).abs() < 1e-12, "{}", statistics.balance);
    records[3].push(conv(3, 5));
    let statistics = time(records);
    assert!((statistics.balance - 10.0 / 25.0).abs() < 1e-12, "{}", statistics.balance);
    assert_eq!((statistics.convolutions, statistics.products), (2, 10 * 8 * 16));
    assert_eq!(statistics.spm_peak[2], (1 << 14) + 8 * 16);
}

#[test]
fn more_bandwidth_does_not_slow_programs_down() {
    let mut rng = Rng(16);
    let (mut slower, mut worst, mut count) = (0, 1.0f64, 0);
    for _ in 0..cases("GRADUS_CLUSTER_MACHINES", 500) {
        let case = random_case(&mut rng);
        let base = ClusterMachine { ddr_rate: rng.range(1, 32), noc_rate: rng.range(1, 32), ..machine() };
        let cycles =
            |machine: &ClusterMachine| Simulator::new(machine.clone()).time(&case.program).expect("a program").cycles;
        let before = cycles(&base);
        let (ddr, noc) = (base.ddr_rate + rng.range(1, 8), base.noc_rate + rng.range(1, 8));
        for faster in
            [ClusterMachine { ddr_rate: ddr, ..base.clone() }, ClusterMachine { noc_rate: noc, ..base.clone() }]
        {
            count += 1;
            let after = cycles(&faster);
            if after > before {
                slower += 1;
                worst = worst.max(after as f64 / before as f64);
            }
        }
    }
    println!("{slower} of {count} slower, at most {worst:.4} times");
    assert_eq!(slower, 0);
}
