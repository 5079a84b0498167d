//! `poly run` on values of declared types.

use gradus::Streams;
use gradus::ir::DType;
use gradus::ir::eval::ints_to_tensor;
use gradus::npy::write_npy;
use std::path::Path;

/// Runs the identity on a residue from a file; the exit status and all output.
fn identity_of(value: i64) -> (u8, String) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (program, input) = (folder.join(format!("residue{value}.mlir")), folder.join(format!("residue{value}.npy")));
    let text = "func.func @main(%x: !poly.residue<17>) -> !poly.residue<17> {\n  return %x : !poly.residue<17>\n}\n";
    std::fs::write(&program, text).expect("the folder can be written");
    write_npy(&input, &ints_to_tensor(DType::I64, &[], &[value])).expect("the folder can be written");
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let line = ["poly".into(), "run".into(), program.into(), "--input".into(), input.into()];
    let status = poly::tool().run(line, &mut Streams::new(&mut out, &mut err));
    (status, String::from_utf8_lossy(&[out, err].concat()).into_owned())
}

#[test]
fn a_residue_is_read_as_its_representation() {
    assert_eq!(identity_of(16), (0, "result0: !poly.residue<17> = 16\n".to_owned()));
}

#[test]
fn a_number_outside_of_the_type_is_an_error() {
    assert_eq!(identity_of(17), (1, "error: input 'arg0' is not a value of type '!poly.residue<17>'\n".to_owned()));
}
