//! A program in C walks the static data blocks of binaries and prints each record: they are those that the simulator executes.

use super::binaries::random_records;
use super::programs::{machine, random_case};
use super::random::{Rng, cases};
use gradus_simulators::cluster::text::assemble;
use gradus_simulators::cluster::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The address of DDR to which the records are relocated.
const BASE: u32 = 0x4000_0000;

/// Compiles the program, for a test of its own.
fn compile(test: &str) -> PathBuf {
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/walk_records.c");
    let flags = ["-O1", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o"];
    let compiled = Command::new("cc").args(flags).arg(&program).arg(source).status();
    assert!(compiled.expect("this test needs a C compiler, 'cc'").success());
    program
}

/// Runs the program on a file.
fn walk(program: &Path, bytes: &[u8]) -> Output {
    let path = program.with_extension("bin");
    std::fs::write(&path, bytes).expect("a file can be written");
    Command::new(program).arg(path).arg(BASE.to_string()).output().expect("it runs")
}

/// Returns the static data block of records whose places in DDR begin at the base.
fn relocated(records: &[Record]) -> Vec<u8> {
    let relocated = |record: &Record| match *record {
        Record::Fetch { mut transfer, clusters, event } => {
            transfer.from.offset = transfer.from.offset.wrapping_add(BASE);
            Record::Fetch { transfer, clusters, event }
        }
        Record::Store { mut transfer, event } => {
            transfer.to.offset = transfer.to.offset.wrapping_add(BASE);
            Record::Store { transfer, event }
        }
        other => other,
    };
    encode(&records.iter().map(relocated).collect::<Vec<_>>())
}

#[test]
fn a_program_in_c_walks_the_records_that_the_simulator_executes() {
    let (program, mut rng, mut functions) = (compile("walk"), Rng(9), [0; FUNCTIONS.len()]);
    for i in 0..cases("GRADUS_CLUSTER_WALKS", 200) {
        let random = ClusterProgram { records: random_records(&mut rng), ..ClusterProgram::default() };
        let code = if i % 2 == 0 { random } else { random_case(&mut rng).program };
        let walked = walk(&program, &code.to_binary(&machine()).write());
        assert!(walked.status.success(), "{}", String::from_utf8_lossy(&walked.stderr));
        let found = assemble(&String::from_utf8_lossy(&walked.stdout)).expect("lines of records");
        assert_eq!(found.len(), code.records.len());
        for (found, records) in found.iter().zip(&code.records) {
            assert_eq!(found.len(), records.len());
            assert_eq!(encode(found), relocated(records));
            records.iter().for_each(|record| functions[record.function()] += 1);
        }
    }
    assert!(functions.iter().all(|&count| count > 10), "records of each function: {functions:?}");
}

/// The walker trusts no length: it refuses a block that is cut off, or with another length or function.
#[test]
fn the_program_in_c_refuses_damaged_blocks() {
    let (program, wait) = (compile("refuse"), Record::Wait { event: 1, count: 2 });
    let code = ClusterProgram { records: vec![vec![wait; 2]], ..ClusterProgram::default() };
    for (at, value, reason) in [
        (16, 12, "a record that is cut off"),
        (16, 24, "a record that ends beyond its block"),
        (16, 18, "a record that is cut off"),
        (0, 36, "a record that ends beyond its block"),
        (0, 32, "the length of a record is not that of its fields"),
        (4, 11, "an unknown function"),
        (4, 0, "an unknown function"),
    ] {
        let mut binary = code.to_binary(&machine());
        binary.sections[0][at] = value;
        let walked = walk(&program, &binary.write());
        let message = String::from_utf8_lossy(&walked.stderr).into_owned();
        assert!(!walked.status.success() && message.contains(reason), "byte {at} = {value}: {message}");
    }
}
