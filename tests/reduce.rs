//! `gradus reduce` on the command line: both test conventions, limits, and invalid usage.

#![cfg(unix)]

use crate::support::gradus;
use gradus_golden::Output;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use tempfile::TempDir;

const PROGRAM: &str = "func.func @f(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.muli %0, %b : i32
  %2 = arith.subi %1, %a : i32
  return %2 : i32
}
";

/// A folder with the program and a test.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(test: &str) -> Place {
        let place = Place { folder: tempfile::tempdir().expect("a folder can be made") };
        std::fs::write(place.path("program.mlir"), PROGRAM).expect("a file can be written");
        std::fs::write(place.path("test.sh"), format!("#!/bin/sh\n{test}\n")).expect("a file can be written");
        let runs = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(place.path("test.sh"), runs).expect("it is there");
        place
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn text(&self, file: &str) -> String {
        self.path(file).display().to_string()
    }

    fn reduce(&self, flags: &[&str]) -> Output {
        let (program, test) = (self.text("program.mlir"), format!("--test={}", self.text("test.sh")));
        gradus(&[&["reduce", &program, &test], flags].concat())
    }
}

const SMALL: &str = "module {
  func.func @f(%arg0: i8) {
    %0 = arith.muli %arg0, %arg0 : i8
    return
  }
}

";

#[test]
fn both_conventions_of_exit_status() {
    let nonzero = Place::new("grep -q arith.muli \"$1\" && exit 1\nexit 0").reduce(&[]);
    assert_eq!((nonzero.code, nonzero.out.as_str()), (0, SMALL), "{}", nonzero.err);
    assert!(nonzero.err.contains("2 of 4 ops are left after"), "{}", nonzero.err);
    let zero = Place::new("grep -q arith.muli \"$1\"").reduce(&["--interesting=zero"]);
    assert_eq!((zero.code, zero.out.as_str()), (0, SMALL), "{}", zero.err);
    let both = Place::new("grep -q arith.muli \"$1\"").reduce(&["--interesting=zero", "--jobs=3"]);
    assert_eq!((both.code, both.out.as_str()), (0, SMALL), "{}", both.err);
}

#[test]
fn arguments_of_the_test_come_before_the_file() {
    let place = Place::new("test \"$1\" = -q && grep \"$1\" \"$2\" \"$3\"");
    let output = place.reduce(&["--interesting=zero", "--test-arg=-q", "--test-arg=arith.muli"]);
    assert_eq!((output.code, output.out.as_str()), (0, SMALL), "{}", output.err);
}

#[test]
fn what_is_not_interesting_is_refused() {
    let place = Place::new("exit 0");
    std::fs::write(place.path("out.mlir"), "before").expect("a file can be written");
    let output = place.reduce(&["-o", &place.text("out.mlir")]);
    assert_eq!(output.code, 1);
    let message = "error: the input is not interesting: the test exits with status 0 (--interesting=nonzero)\n";
    assert_eq!(output.err, message);
    assert_eq!(std::fs::read_to_string(place.path("out.mlir")).unwrap(), "before");
    let output = gradus(&["reduce", &place.text("program.mlir"), "--test=./there-is-no-such-test"]);
    assert_eq!(output.code, 2);
    assert!(output.err.starts_with("error: cannot run './there-is-no-such-test': "), "{}", output.err);
    let output = gradus(&["reduce", &place.text("program.mlir"), "--canonicalize"]);
    assert_eq!(
        (output.code, output.err.as_str()),
        (1, "error: the input is not interesting: no difference was found\n")
    );
    let output = gradus(&["reduce", &place.text("program.mlir")]);
    assert_eq!(output.code, 2);
}

#[test]
fn tests_are_stopped_and_limits_are_said() {
    let output = Place::new("exec sleep 60").reduce(&["--timeout=1"]);
    let message = "error: the input is not interesting: the test does not terminate (--interesting=nonzero)\n";
    assert_eq!((output.code, output.err.as_str()), (1, message));
    let place = Place::new("grep -q arith.muli \"$1\"");
    let output = place.reduce(&["--interesting=zero", "--candidates=2", "-o", &place.text("out.mlir")]);
    assert_eq!((output.code, output.out.as_str()), (0, ""));
    assert!(output.err.contains("the limit of candidates is reached"), "{}", output.err);
    assert!(std::fs::read_to_string(place.path("out.mlir")).unwrap().contains("arith.muli"));
}
