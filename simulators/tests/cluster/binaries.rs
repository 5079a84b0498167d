//! Bytes and text: round trips, and damaged input.

use super::random::{Rng, cases};
use gradus_simulators::cluster::text::{assemble, disassemble};
use gradus_simulators::cluster::*;
use gradus_simulators::fields::{GroupKind, Visitor};
use gradus_simulators::{Binary, BinaryError};
use std::convert::Infallible;

/// Sets all fields to random values of their range.
struct Random<'a>(&'a mut Rng);

impl Visitor for Random<'_> {
    type Error = Infallible;

    fn number(&mut self, _: &'static str, _: usize, [low, high]: [i64; 2], _: i64) -> Result<i64, Infallible> {
        let small = self.0.chance(50);
        Ok(if small { self.0.range(0, 9).into() } else { low + (self.0.next() % (high - low + 1) as u64) as i64 })
    }

    fn word(&mut self, _: &'static str, words: &[&'static str], _: usize) -> Result<usize, Infallible> {
        Ok(self.0.range(0, words.len() as u32 - 1) as usize)
    }

    fn present(&mut self, _: &'static str, _: bool) -> Result<bool, Infallible> {
        Ok(self.0.chance(50))
    }

    fn begin(&mut self, _: &'static str, _: GroupKind) -> Result<(), Infallible> {
        Ok(())
    }

    fn end(&mut self, _: GroupKind) -> Result<(), Infallible> {
        Ok(())
    }
}

fn random_record(rng: &mut Rng) -> Record {
    let mut record = Record::blank(rng.range(0, FUNCTIONS.len() as u32 - 1) as usize).expect("a function");
    let Ok(()) = record.visit_fields(&mut Random(rng));
    record
}

pub fn random_records(rng: &mut Rng) -> Vec<Vec<Record>> {
    (0..rng.range(1, 4)).map(|_| (0..rng.range(0, 8)).map(|_| random_record(rng)).collect()).collect()
}

/// Returns the bytes of all clusters, which are equal for equal records, floats that are not numbers included.
fn all_bytes(clusters: &[Vec<Record>]) -> Vec<Vec<u8>> {
    clusters.iter().map(|records| encode(records)).collect()
}

#[test]
fn bytes_and_text_are_lossless() {
    let mut rng = Rng(3);
    for _ in 0..cases("GRADUS_CLUSTER_ROUND_TRIPS", 1000) {
        let program = random_records(&mut rng);
        let bytes = all_bytes(&program);
        let decoded: Vec<Vec<Record>> = bytes.iter().map(|block| decode(block).expect("a block")).collect();
        assert_eq!(all_bytes(&decoded), bytes);
        let text = disassemble(&program);
        let again = assemble(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(all_bytes(&again), bytes, "{text}");
    }
}

#[test]
fn stages_are_shown_up_to_the_first_absent_one() {
    let mut stages = Stages::default();
    stages[0] = Some(Stage::Clamp { low: 0.1, high: f32::INFINITY });
    stages[1] = Some(Stage::Leaky { slope: -0.0 });
    let map = Map { task: 3, stages, ..Map::default() };
    let tile = "{offset = 0, row = 0, pixel = 0, channel = 0, rows = 0, cols = 0, channels = 0, elem = f32}";
    let expected = format!(
        "map task = 3, input = {tile}, output = {tile}, stages = [{{kind = clamp, low = 0.1, high = 0x7f800000}}, \
         {{kind = leaky, slope = -0.0}}]"
    );
    assert_eq!(Record::Map(map).to_string(), expected);
}

fn refusal(bytes: &[u8]) -> BinaryError {
    decode(bytes).expect_err("refused")
}

#[test]
fn records_are_refused_at_their_bytes() {
    let wait = encode(&[Record::Wait { event: 1, count: 2 }]);
    assert_eq!(wait, [16, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
    let changed = |at: usize, value: u8| {
        let mut bytes = [wait.clone(), wait.clone()].concat();
        bytes[at] = value;
        refusal(&bytes)
    };
    assert_eq!(changed(16, 15), BinaryError { at: 28, reason: "an end within a field" });
    assert_eq!(changed(16, 20), BinaryError { at: 16, reason: "a record that ends beyond its block" });
    assert_eq!(changed(16, 4), BinaryError { at: 16, reason: "a record that ends beyond its block" });
    assert_eq!(changed(0, 20).reason, "the length of a record is not that of its fields");
    assert_eq!(changed(0, 12), BinaryError { at: 12, reason: "an end within a field" });
    assert_eq!(changed(20, 0), BinaryError { at: 20, reason: "an unknown function" });
    assert_eq!(changed(20, 11), BinaryError { at: 20, reason: "an unknown function" });
    assert_eq!(refusal(&wait[..5]), BinaryError { at: 4, reason: "an end within a field" });
}

#[test]
fn binaries_are_those_of_their_machine() {
    let mut rng = Rng(4);
    let program = ClusterProgram {
        records: (0..5).map(|i| vec![Record::Notify { clusters: i, event: 7 }; 3]).collect(),
        constants: rng.bytes(90),
        ddr_bytes: 1000,
        operands: vec![Extent { offset: 96, bytes: 100 }, Extent { offset: 200, bytes: 50 }],
        results: vec![Extent { offset: 300, bytes: 700 }],
    };
    let machine = ClusterMachine::default();
    let binary = Binary::read(&program.to_binary(&machine).write()).expect("a binary");
    assert_eq!(ClusterProgram::from_binary(&binary, &machine), Ok(program.clone()));
    let other = ClusterMachine { ddr_rate: 8, ..ClusterMachine::default() };
    let refused = |at, reason| Err(BinaryError { at, reason });
    assert_eq!(ClusterProgram::from_binary(&binary, &other), refused(0, "a program of another machine"));
    let with = |results: Extent| {
        let program = ClusterProgram { results: vec![results], ..program.clone() };
        ClusterProgram::from_binary(&program.to_binary(&machine), &machine)
    };
    let beyond = refused(24, "an operand, a result or the constants end beyond DDR");
    assert_eq!(with(Extent { offset: 300, bytes: 701 }), beyond);
    assert_eq!(with(Extent { offset: u32::MAX, bytes: u32::MAX }), beyond);
    assert_eq!(with(Extent { offset: 249, bytes: 9 }), refused(24, "operands, results and constants overlap"));
}

#[test]
fn parameters_are_named_and_hashed() {
    let mut machine = ClusterMachine::default();
    assert_eq!(machine.check(), Ok(()));
    let hash = machine.hash();
    for i in 0..machine.parameters().len() {
        let mut other = machine.clone();
        *other.parameters()[i].1 += 1;
        assert_ne!(other.hash(), hash, "parameter {i}");
    }
    *machine.parameters()[0].1 = 33;
    assert_eq!(machine.check(), Err("clusters: 1 to 32".to_owned()));
}

#[test]
fn damaged_binaries_are_refused_or_safe() {
    let (mut rng, machine) = (Rng(5), super::programs::machine());
    let simulator = Simulator { limit: 1 << 24, ..Simulator::new(machine.clone()) };
    let (mut decoded, mut accepted, mut count) = (0, 0, 0);
    while count < cases("GRADUS_CLUSTER_BINARIES", 100_000) {
        let case = super::programs::random_case(&mut rng);
        let binary = case.program.to_binary(&machine);
        for _ in 0..200 {
            count += 1;
            let mut binary = binary.clone();
            for _ in 0..rng.range(1, 3) {
                damage(&mut binary, &mut rng);
            }
            let Ok(program) = ClusterProgram::from_binary(&binary, &machine) else { continue };
            decoded += 1;
            assert_eq!(program.to_binary(&machine), binary);
            let mut ddr = vec![0; program.ddr_bytes.min(1 << 20) as usize];
            accepted += u32::from(simulator.run(&program, &mut ddr).is_ok());
        }
    }
    println!("{decoded} of {count} are read, {accepted} run");
    assert!(decoded > 1000 && accepted > 100, "{decoded} of {count} are read, {accepted} run");
}

/// Changes, inserts or removes bytes of a section.
fn damage(binary: &mut Binary, rng: &mut Rng) {
    let section = rng.range(0, binary.sections.len() as u32 - 1) as usize;
    let bytes = &mut binary.sections[section];
    if bytes.is_empty() {
        return;
    }
    let at = rng.range(0, bytes.len() as u32 - 1) as usize;
    match rng.range(0, 5) {
        0 | 1 => bytes[at] ^= 1 << rng.range(0, 7),
        2 => bytes[at] = rng.next() as u8,
        3 => bytes.truncate(at / 4 * 4),
        4 => drop(bytes.remove(at)),
        _ => bytes.insert(at, rng.next() as u8),
    }
}

#[test]
fn damaged_text_is_refused_or_safe() {
    let mut rng = Rng(6);
    let mut read = 0;
    for _ in 0..cases("GRADUS_CLUSTER_TEXTS", 3000) {
        let mut text: Vec<char> = disassemble(&random_records(&mut rng)).chars().collect();
        for _ in 0..rng.range(1, 3) {
            let at = rng.range(0, text.len() as u32 - 1) as usize;
            text[at] = rng.pick(&['=', ',', '{', ']', '9', 'x', ' ', 'é', '-', '.', '\n']);
        }
        let text: String = text.into_iter().collect();
        if let Ok(program) = assemble(&text) {
            read += 1;
            let again = assemble(&disassemble(&program)).expect("a text");
            assert_eq!(all_bytes(&again), all_bytes(&program), "{text}");
        }
    }
    assert!(read > 20, "{read} texts are read");
}

#[test]
fn hostile_fields_are_refused_without_overflow() {
    let mut rng = Rng(7);
    let machine = super::programs::machine();
    for _ in 0..cases("GRADUS_CLUSTER_HOSTILE", 20_000) {
        let records = random_records(&mut rng);
        let program = ClusterProgram { records, ddr_bytes: u32::MAX, ..ClusterProgram::default() };
        let _ = check(&program, &machine);
        for (here, record) in program.records.iter().enumerate().flat_map(|(i, r)| r.iter().map(move |r| (i, r))) {
            let mut total = 0u64;
            accesses(record, here, &mut |access| total = total.saturating_add(access.runs.total()));
            let _ = machine.compute_cycles(record).min(total);
            let _ = check_fields(record, 5);
        }
    }
}
