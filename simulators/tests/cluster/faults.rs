//! The faults that the check reports, each with its records and bytes.

use super::layers::dense;
use super::programs::machine;
use gradus_simulators::cluster::*;

const OPERAND: Extent = Extent { offset: 1024, bytes: 512 };

fn program(records: Vec<Vec<Record>>) -> ClusterProgram {
    ClusterProgram { records, constants: vec![1; 1024], ddr_bytes: 4096, operands: vec![OPERAND], results: Vec::new() }
}

fn transfer(from: u32, to: u32, bytes: u32) -> Transfer {
    let place = |offset| StridedBox { offset, row: 0, pixel: 0 };
    Transfer { from: place(from), to: place(to), rows: 1, cols: 1, bytes }
}

fn fetch(from: u32, to: u32, clusters: u32, event: u32) -> Record {
    Record::Fetch { transfer: transfer(from, to, 64), clusters, event }
}

fn store(from: u32, to: u32, event: u32) -> Record {
    Record::Store { transfer: transfer(from, to, 64), event }
}

fn send(from: u32, to: u32, clusters: u32, event: u32) -> Record {
    Record::Send { transfer: transfer(from, to, 64), clusters, event }
}

fn wait(event: u32, count: u32) -> Record {
    Record::Wait { event, count }
}

fn notify(clusters: u32, event: u32) -> Record {
    Record::Notify { clusters, event }
}

/// A map of 64 bytes.
fn map(from: u32, to: u32) -> Record {
    let tile = |offset| dense(offset, [1, 1, 64], Elem::I8);
    Record::Map(Map { task: 0, input: tile(from), output: tile(to), stages: Stages::default() })
}

fn at(cluster: u32, index: u32) -> Option<Position> {
    Some(Position { cluster, index })
}

/// Class, record, other record and place of the fault of a program.
type Found = (FaultClass, Option<Position>, Option<Position>, Option<(MemoryId, std::ops::Range<u64>)>);

fn fault(records: Vec<Vec<Record>>) -> Found {
    let fault = check(&program(records), &machine()).expect_err("a fault");
    (fault.class, fault.at, fault.other, fault.place)
}

fn accept(records: Vec<Vec<Record>>) {
    if let Err(fault) = check(&program(records), &machine()) {
        panic!("{fault}");
    }
}

#[test]
fn reads_wait_for_writes() {
    let spm = |i, range| Some((MemoryId::Cluster(i), range));
    accept(vec![vec![fetch(0, 0, 1, 0), wait(0, 1), map(0, 64)]]);
    let found = fault(vec![vec![fetch(0, 0, 1, 0), map(0, 64)]]);
    assert_eq!(found, (FaultClass::ReadAfterWrite, at(0, 1), at(0, 0), spm(0, 0..64)));
    let found = fault(vec![vec![fetch(0, 0, 1, 0), fetch(64, 64, 1, 1), wait(1, 1), map(0, 128)]]);
    assert_eq!(found, (FaultClass::ReadAfterWrite, at(0, 3), at(0, 0), spm(0, 0..64)));
    // The other cluster's wait says nothing about this one.
    let other = vec![wait(0, 1), notify(1, 1)];
    let found = fault(vec![vec![fetch(0, 0, 3, 0), wait(1, 1), map(0, 64)], other.clone()]);
    assert_eq!(found, (FaultClass::ReadAfterWrite, at(0, 2), at(0, 0), spm(0, 0..64)));
    accept(vec![vec![fetch(0, 0, 3, 0), wait(1, 1), wait(0, 1), map(0, 64)], other]);
    let found = fault(vec![vec![fetch(0, 0, 1, 0), wait(0, 1), map(32, 128)]]);
    assert_eq!(found, (FaultClass::Poison, at(0, 2), None, spm(0, 64..96)));
}

#[test]
fn writes_wait_for_reads_and_writes() {
    let spm = Some((MemoryId::Cluster(0), 64..128));
    let start = [fetch(0, 0, 1, 0), wait(0, 1), map(0, 64)];
    let with = |more: &[Record]| [&start[..], more].concat();
    let receiver = vec![wait(5, 1), notify(1, 6)];
    let found = fault(vec![with(&[send(64, 0, 2, 5), map(0, 64)]), receiver.clone()]);
    assert_eq!(found, (FaultClass::WriteAfterRead, at(0, 4), at(0, 3), spm.clone()));
    accept(vec![with(&[send(64, 0, 2, 5), wait(6, 1), map(0, 64)]), receiver]);
    let found = fault(vec![with(&[store(64, 2048, 5), map(0, 64)])]);
    assert_eq!(found, (FaultClass::WriteAfterRead, at(0, 4), at(0, 3), spm));
    accept(vec![with(&[store(64, 2048, 5), wait(5, 1), map(0, 64)])]);
    let found = fault(vec![vec![fetch(0, 0, 1, 0), fetch(64, 32, 1, 0), wait(0, 2)]]);
    assert_eq!(found, (FaultClass::WriteAfterWrite, at(0, 1), at(0, 0), Some((MemoryId::Cluster(0), 32..64))));
}

#[test]
fn a_multicast_reads_its_source_until_all_have_received() {
    let start = [fetch(0, 0, 1, 0), wait(0, 1), send(0, 64, 6, 5)];
    let with = |more: &[Record]| [&start[..], more].concat();
    let receiver = || vec![wait(5, 1), notify(1, 6)];
    let one = vec![with(&[wait(6, 1), map(0, 0)]), receiver(), vec![]];
    let found = fault(one);
    assert_eq!(found, (FaultClass::WriteAfterRead, at(0, 4), at(0, 2), Some((MemoryId::Cluster(0), 0..64))));
    accept(vec![with(&[wait(6, 2), map(0, 0)]), receiver(), receiver()]);
}

#[test]
fn ddr_is_ordered_too() {
    let start = [fetch(0, 0, 1, 0), wait(0, 1), store(0, 2048, 1)];
    let with = |more: &[Record]| [&start[..], more].concat();
    let found = fault(vec![with(&[fetch(2048, 64, 1, 2)])]);
    assert_eq!(found, (FaultClass::ReadAfterWrite, at(0, 3), at(0, 2), Some((MemoryId::Ddr, 2048..2112))));
    accept(vec![with(&[wait(1, 1), notify(2, 3)]), vec![wait(3, 1), fetch(2048, 0, 2, 4)]]);
    let found = fault(vec![with(&[notify(2, 3)]), vec![wait(3, 1), fetch(2048, 0, 2, 4)]]);
    assert_eq!(found.0, FaultClass::ReadAfterWrite);
    let found = fault(vec![vec![fetch(2048, 0, 1, 0)]]);
    assert_eq!(found, (FaultClass::Poison, at(0, 0), None, Some((MemoryId::Ddr, 2048..2112))));
    let found = fault(vec![vec![fetch(0, 0, 1, 0), wait(0, 1), store(0, 1000, 1)]]);
    assert_eq!(found, (FaultClass::Constants, at(0, 2), None, Some((MemoryId::Ddr, 1000..1064))));
    accept(vec![vec![fetch(1024 + 448, 0, 1, 0)]]);
    assert_eq!(fault(vec![vec![fetch(1024 + 449, 0, 1, 0)]]).0, FaultClass::Poison);
}

#[test]
fn results_are_written() {
    let mut program = program(vec![vec![fetch(0, 0, 1, 0), wait(0, 1), store(0, 2048, 1)]]);
    program.results = vec![Extent { offset: 2048, bytes: 64 }];
    assert_eq!(check(&program, &machine()), Ok(()));
    program.results = vec![Extent { offset: 2048, bytes: 65 }];
    let fault = check(&program, &machine()).expect_err("a fault");
    assert_eq!((fault.class, fault.place), (FaultClass::Poison, Some((MemoryId::Ddr, 2112..2113))));
}

#[test]
fn channels_of_two_tiles_may_interleave() {
    let tile =
        |offset, channel| Tile { offset, row: 0, pixel: 8, channel, rows: 1, cols: 8, channels: 4, elem: Elem::I8 };
    let map = |output: Tile| {
        let input = dense(0, [1, 8, 4], Elem::I8);
        Record::Map(Map { task: 0, input, output, stages: Stages::default() })
    };
    let receive = |second: Tile| {
        let first = [fetch(0, 0, 1, 0), wait(0, 1), map(tile(256, 2)), store(256, 2048, 1), map(second)];
        fault(vec![first.to_vec()])
    };
    // The store reads whole rows, of which every other byte was never written.
    assert_eq!(receive(tile(257, 2)), (FaultClass::Poison, at(0, 3), None, Some((MemoryId::Cluster(0), 257..258))));
    let two = [fetch(0, 0, 1, 0), wait(0, 1), map(tile(256, 2)), map(tile(257, 2)), store(256, 2048, 1)];
    accept(vec![two.to_vec()]);
    let in_flight = |to: u32| {
        let place = |offset, pixel| StridedBox { offset, row: 0, pixel };
        let transfer = Transfer { from: place(0, 1), to: place(to, 2), rows: 1, cols: 32, bytes: 1 };
        Record::Fetch { transfer, clusters: 1, event: 2 }
    };
    let start = [fetch(0, 0, 1, 0), wait(0, 1)];
    accept(vec![[&start[..], &[in_flight(256), map(tile(257, 2))]].concat()]);
    let found = fault(vec![[&start[..], &[in_flight(256), map(tile(256, 2))]].concat()]);
    assert_eq!(found, (FaultClass::WriteAfterWrite, at(0, 3), at(0, 2), Some((MemoryId::Cluster(0), 256..257))));
}

#[test]
fn accesses_are_in_bounds_and_visit_bytes_once() {
    let buffers = u64::from(machine().buffer_bytes());
    let last = buffers as u32 - 64;
    accept(vec![vec![fetch(0, last, 1, 0)]]);
    let found = fault(vec![vec![fetch(0, last + 1, 1, 0)]]);
    assert_eq!(found, (FaultClass::Bounds, at(0, 0), None, Some((MemoryId::Cluster(0), buffers..buffers + 1))));
    assert_eq!(fault(vec![vec![fetch(4096 - 63, 0, 1, 0)]]).0, FaultClass::Bounds);
    let place = |offset, row| StridedBox { offset, row, pixel: 0 };
    let transfer = Transfer { from: place(0, 64), to: place(0, 63), rows: 2, cols: 1, bytes: 64 };
    let found = fault(vec![vec![Record::Fetch { transfer, clusters: 1, event: 0 }]]);
    assert_eq!(found, (FaultClass::Overlap, at(0, 0), None, Some((MemoryId::Cluster(0), 0..127))));
    let huge =
        Transfer { from: place(0, u32::MAX), to: place(0, u32::MAX), rows: u32::MAX, cols: u32::MAX, bytes: u32::MAX };
    assert_eq!(fault(vec![vec![Record::Store { transfer: huge, event: 0 }]]).0, FaultClass::Bounds);
}

#[test]
fn only_elementwise_functions_work_in_place() {
    let start = [fetch(0, 0, 1, 0), wait(0, 1)];
    let with = |record: Record| vec![[&start[..], &[record]].concat()];
    accept(with(map(0, 0)));
    assert_eq!(fault(with(map(0, 32))).0, FaultClass::Overlap);
    let tile = dense(0, [4, 4, 4], Elem::I8);
    let window = Window { kernel: [1; 2], stride: [1; 2], dilation: [1; 2], first: [0; 2] };
    let pool = Pool { input: tile, output: tile, window, is_max: true, ..Pool::default() };
    let found = fault(with(Record::Pool(pool)));
    assert_eq!(found, (FaultClass::Overlap, at(0, 2), None, Some((MemoryId::Cluster(0), 0..64))));
    // The same bytes in another order are not in place.
    let turned = Tile { row: 4, pixel: 16, ..tile };
    let turn = Map { input: tile, output: turned, ..Map::default() };
    assert_eq!(fault(with(Record::Map(turn))).0, FaultClass::Overlap);
}

#[test]
fn waits_are_for_all_increments() {
    let found = fault(vec![vec![fetch(0, 0, 1, 0), fetch(0, 64, 1, 0), wait(0, 1)]]);
    assert_eq!(found, (FaultClass::Count, at(0, 2), None, None));
    assert_eq!(fault(vec![vec![wait(3, 1)]]).0, FaultClass::Count);
    let message = check(&program(vec![vec![wait(0, 1), notify(2, 1)], vec![wait(1, 1), notify(1, 0)]]), &machine());
    let expected = "record 0 of cluster 0: deadlock: waits wait for increments behind each other: record 0 of cluster 0, \
                    record 0 of cluster 1";
    assert_eq!(message.expect_err("a deadlock").to_string(), expected);
    let found = fault(vec![vec![notify(2, 0)]]);
    assert_eq!(found, (FaultClass::Field, at(0, 0), None, None));
}
