//! Corner cases of the semantics, and rewrites that the semantics must allow.

use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::eval::{Datum, Trap};
use gradus::ir::{ParseOptions, parse_module, verify};
use gradus_golden::run;

/// The expected outcome of a function.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Is {
    Ub,
    Poison,
    Int(i64),
}
use Is::{Int, Poison, Ub};

/// Programs, each the body of a function of these values:
/// `%p` and `%pb` are poison, `%n` is -1, `%z` is 0, `%one` is 1, `%least` and `%most` are the least and greatest `i32`;
/// `%ip`, `%i0`, `%i1`, `%i5` are indices.
const CORNERS: &[(&str, Is)] = &[
    // division
    ("%r = arith.divsi %one, %z : i32", Ub),
    ("%r = arith.divui %one, %z : i32", Ub),
    ("%r = arith.remsi %one, %z : i32", Ub),
    ("%r = arith.remui %one, %z : i32", Ub),
    ("%r = arith.ceildivsi %one, %z : i32", Ub),
    ("%r = arith.ceildivui %one, %z : i32", Ub),
    ("%r = arith.floordivsi %one, %z : i32", Ub),
    ("%r = arith.divsi %least, %n : i32", Ub),
    ("%r = arith.remsi %least, %n : i32", Ub),
    ("%r = arith.ceildivsi %least, %n : i32", Ub),
    ("%r = arith.floordivsi %least, %n : i32", Ub),
    ("%r = arith.divsi %one, %p : i32", Ub),
    ("%r = arith.divui %one, %p : i32", Ub),
    ("%r = arith.remsi %one, %p : i32", Ub),
    ("%r = arith.divsi %p, %one : i32", Poison),
    ("%r = arith.divsi %p, %n : i32", Ub),
    ("%r = arith.divui %p, %n : i32", Poison),
    ("%r = arith.remsi %p, %z : i32", Ub),
    // shifts
    ("%w = arith.constant 32 : i32\n%r = arith.shli %one, %w : i32", Poison),
    ("%w = arith.constant 32 : i32\n%r = arith.shrsi %n, %w : i32", Poison),
    ("%r = arith.shrui %one, %n : i32", Poison),
    // promises
    ("%r = arith.addi %most, %one overflow<nsw> : i32", Poison),
    ("%r = arith.addi %n, %one overflow<nuw> : i32", Poison),
    ("%r = arith.muli %least, %n overflow<nsw> : i32", Poison),
    ("%r = arith.shli %most, %one overflow<nsw> : i32", Poison),
    ("%r = arith.shrui %one, %one exact : i32", Poison),
    ("%c = arith.constant 3 : i32\n%d = arith.constant 2 : i32\n%r = arith.divsi %c, %d exact : i32", Poison),
    (
        "%x = arith.constant 0x7FC00000 : f32\n%y = arith.addf %x, %x fastmath<nnan> : f32\n%r = arith.bitcast %y : f32 to i32",
        Poison,
    ),
    (
        "%x = arith.constant 0x7F800000 : f32\n%y = arith.addf %x, %x fastmath<ninf> : f32\n%r = arith.bitcast %y : f32 to i32",
        Poison,
    ),
    // outside the domain
    (
        "%x = arith.constant -99.25 : f32\n%y = math.acosh %x : f32\n%c = arith.cmpf uno, %y, %y : f32\n%r = arith.extui %c : i1 to i32",
        Int(1),
    ),
    (
        "%x = arith.constant -99.25 : f64\n%y = math.acosh %x : f64\n%c = arith.cmpf uno, %y, %y : f64\n%r = arith.extui %c : i1 to i32",
        Int(1),
    ),
    // without them
    ("%r = arith.addi %most, %one : i32", Int(-2_147_483_648)),
    ("%r = arith.subi %least, %one : i32", Int(2_147_483_647)),
    ("%r = arith.muli %least, %n : i32", Int(-2_147_483_648)),
    // floats to integers
    ("%x = arith.constant 3.0e9 : f32\n%r = arith.fptosi %x : f32 to i32", Poison),
    ("%x = arith.constant -1.0 : f32\n%r = arith.fptoui %x : f32 to i32", Poison),
    ("%x = arith.constant 0x7FC00000 : f32\n%r = arith.fptosi %x : f32 to i32", Poison),
    ("%x = arith.constant -0.5 : f32\n%r = arith.fptoui %x : f32 to i32", Int(0)),
    // poison as an operand
    ("%r = arith.select %pb, %one, %one : i32", Poison),
    ("%t = arith.constant true\n%r = arith.select %t, %one, %p : i32", Int(1)),
    ("%r = arith.andi %p, %z : i32", Poison),
    ("%r = arith.muli %p, %z : i32", Poison),
    // control flow
    ("cf.cond_br %pb, ^a, ^a\n^a:\n%r = arith.addi %one, %z : i32", Ub),
    ("%r = scf.if %pb -> i32 {\nscf.yield %one : i32\n} else {\nscf.yield %one : i32\n}", Ub),
    ("%r = scf.index_switch %ip -> i32\ndefault {\nscf.yield %one : i32\n}", Ub),
    ("cf.switch %p : i32, [default: ^a(%one : i32), 1: ^a(%z : i32)]\n^a(%r: i32):", Ub),
    ("%r = scf.for %i = %i0 to %ip step %i1 iter_args(%a = %one) -> i32 {\nscf.yield %a : i32\n}", Ub),
    ("%r = scf.for %i = %i0 to %i5 step %i0 iter_args(%a = %one) -> i32 {\nscf.yield %a : i32\n}", Ub),
    ("%r = scf.for %i = %i0 to %i5 step %ip iter_args(%a = %one) -> i32 {\nscf.yield %a : i32\n}", Ub),
    ("%r = scf.for %i = %i5 to %i0 step %i1 iter_args(%a = %one) -> i32 {\nscf.yield %z : i32\n}", Int(1)),
    ("%r = affine.for %i = 5 to 0 iter_args(%a = %one) -> i32 {\naffine.yield %z : i32\n}", Int(1)),
    ("%r = affine.for %i = 0 to %ip iter_args(%a = %one) -> i32 {\naffine.yield %z : i32\n}", Ub),
    // Parallel loops: steps, and dimensions with trip count 0.
    (
        "%l = arith.constant -9223372036854775808 : index\nscf.parallel (%i) = (%l) to (%i5) step (%i5) {\n}\n%r = arith.addi %one, %z : i32",
        Ub,
    ),
    (
        "%u = arith.constant 9223372036854775807 : index\nscf.parallel (%i, %j) = (%i1, %i5) to (%u, %i5) step (%u, %i1) {\n}\n%r = arith.addi %one, %z : i32",
        Ub,
    ),
    ("scf.parallel (%i, %j) = (%i0, %i5) to (%i5, %i0) step (%i1, %i1) {\n}\n%r = arith.addi %one, %z : i32", Int(1)),
    // Types that imply facts, and undefined bits.
    (
        "%t = tensor.empty(%i5) : tensor<?xi32>\n%c = tensor.cast %t : tensor<?xi32> to tensor<2xi32>\n%r = tensor.extract %c[%i1] : tensor<2xi32>",
        Ub,
    ),
    (
        "%x = arith.constant dense<0x7FC00000> : vector<1xf32>\n%y = vector.bitcast %x : vector<1xf32> to vector<1xi32>\n%r = vector.extract %y[0] : i32 from vector<1xi32>",
        Poison,
    ),
    // elements and memory
    ("%t = tensor.from_elements %one, %z : tensor<2xi32>\n%r = tensor.extract %t[%i5] : tensor<2xi32>", Ub),
    ("%t = tensor.from_elements %one, %z : tensor<2xi32>\n%r = tensor.extract %t[%ip] : tensor<2xi32>", Ub),
    (
        "%v = vector.from_elements %one, %z : vector<2xi32>\n%r = vector.extract %v[%i5] : i32 from vector<2xi32>",
        Poison,
    ),
    (
        "%v = vector.from_elements %one, %z : vector<2xi32>\n%r = vector.extract %v[%ip] : i32 from vector<2xi32>",
        Poison,
    ),
    ("%m = memref.alloc() : memref<2xi32>\n%r = memref.load %m[%i1] : memref<2xi32>", Poison),
    ("%m = memref.alloc() : memref<2xi32>\n%r = memref.load %m[%i5] : memref<2xi32>", Ub),
    ("%m = memref.alloc() : memref<2xi32>\n%r = memref.load %m[%ip] : memref<2xi32>", Ub),
    (
        "%m = memref.alloc() : memref<2xi32>\nmemref.store %one, %m[%ip] : memref<2xi32>\n%r = arith.addi %one, %z : i32",
        Ub,
    ),
    (
        "%m = memref.alloc() : memref<2xi32>\nmemref.dealloc %m : memref<2xi32>\n%r = memref.load %m[%i1] : memref<2xi32>",
        Ub,
    ),
    ("%m = ub.poison : memref<2xi32>\n%r = memref.load %m[%i1] : memref<2xi32>", Ub),
    (
        "%t = ub.poison : tensor<?xi32>\n%c = tensor.cast %t : tensor<?xi32> to tensor<1xi32>\n%r = tensor.extract %c[%i0] : tensor<1xi32>",
        Ub,
    ),
    // Accesses that no tensor of the type allows.
    (
        "%t = ub.poison : tensor<2x?xf32>\n%d = tensor.dim %t, %i5 : tensor<2x?xf32>\n%r = arith.index_cast %d : index to i32",
        Ub,
    ),
    (
        "%t = ub.poison : tensor<2x?xf32>\n%d = tensor.dim %t, %i1 : tensor<2x?xf32>\n%r = arith.index_cast %d : index to i32",
        Poison,
    ),
    (
        "%m = ub.poison : memref<2x?xf32>\n%d = memref.dim %m, %i1 : memref<2x?xf32>\n%r = arith.index_cast %d : index to i32",
        Poison,
    ),
    (
        "%m = ub.poison : memref<2x?xf32>\n%d = memref.dim %m, %i5 : memref<2x?xf32>\n%r = arith.index_cast %d : index to i32",
        Ub,
    ),
    (
        "%m = ub.poison : memref<*xf32>\n%d = memref.rank %m : memref<*xf32>\n%r = arith.index_cast %d : index to i32",
        Poison,
    ),
    (
        "%m = memref.alloc() : memref<2xi32>\nmemref.store %p, %m[%i1] : memref<2xi32>\n%r = arith.addi %one, %z : i32",
        Int(1),
    ),
    // affine expressions: dividends may be poison, divisors may not
    ("%0 = affine.apply affine_map<(d0) -> (d0 floordiv 3)>(%ip)\n%r = arith.index_cast %0 : index to i32", Poison),
    ("%0 = affine.apply affine_map<(d0)[s0] -> (d0 mod s0)>(%i5)[%i0]\n%r = arith.index_cast %0 : index to i32", Ub),
    ("%0 = affine.apply affine_map<(d0)[s0] -> (d0 mod s0)>(%i5)[%ip]\n%r = arith.index_cast %0 : index to i32", Ub),
    ("%0 = affine.apply affine_map<(d0)[s0] -> (d0 mod s0)>(%ip)[%i0]\n%r = arith.index_cast %0 : index to i32", Ub),
    (
        "%0 = affine.max affine_map<(d0)[s0] -> (d0, 7 ceildiv s0)>(%i5)[%ip]\n%r = arith.index_cast %0 : index to i32",
        Ub,
    ),
    ("%0 = affine.min affine_map<(d0, d1) -> (d0, d1)>(%i5, %ip)\n%r = arith.index_cast %0 : index to i32", Poison),
];

/// The values that the corners use.
const VALUES: &str = "
%p = ub.poison : i32
%pb = ub.poison : i1
%ip = ub.poison : index
%z = arith.constant 0 : i32
%one = arith.constant 1 : i32
%n = arith.constant -1 : i32
%least = arith.constant -2147483648 : i32
%most = arith.constant 2147483647 : i32
%i0 = arith.constant 0 : index
%i1 = arith.constant 1 : index
%i5 = arith.constant 5 : index
";

fn outcome(body: &str) -> Is {
    let ctx = Tool::gradus().context();
    let text = format!("func.func @f() -> i32 {{{VALUES}{body}\nreturn %r : i32\n}}\n");
    let m = parse_module(&ctx, body, text, ParseOptions::default()).unwrap_or_else(|e| panic!("{body}: {e:?}"));
    verify(&m).unwrap_or_else(|e| panic!("{body}: {e:?}"));
    let mut interpreter = Interpreter::new(&m);
    let function = interpreter.function("f").expect("is there");
    match interpreter.call(function, Vec::new()).map(|mut values| values.remove(0)) {
        Ok(Datum::Poison) => Poison,
        Ok(Datum::Int(value)) => Int(value),
        Err(stop) if matches!(stop.trap, Trap::Ub(_)) => Ub,
        other => panic!("{body}: {other:?}"),
    }
}

#[test]
fn corners_are_as_decided() {
    let wrong: Vec<String> = CORNERS
        .iter()
        .filter_map(|&(body, want)| {
            let have = outcome(body);
            (have != want).then(|| format!("{body}\n  is {have:?}, not {want:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Functions that composition, folding and lowering change, with the passes.
const REFINED: &[(&str, &[&str])] = &[
    // A poison dividend, and an invalid divisor.
    (
        "func.func @f(%a: index, %n: index) -> index {
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%a)[%n]
  %1 = affine.apply affine_map<(d0)[s0] -> (d0 mod s0 + d0 floordiv 4)>(%0)[%n]
  return %1 : index
}",
        &["--canonicalize", "--lower-affine", "--canonicalize"],
    ),
    // Terms that overflow in a sum that does not.
    (
        "func.func @f(%a: index, %b: index) -> index {
  %0 = affine.apply affine_map<(d0, d1) -> (d0 - d1)>(%a, %b)
  %1 = affine.apply affine_map<(d0) -> (d0 * 4)>(%0)
  return %1 : index
}",
        &["--canonicalize", "--lower-affine", "--canonicalize"],
    ),
    (
        "func.func @f(%a: index, %b: index, %n: index) -> (index, index) {
  %0 = affine.min affine_map<(d0, d1)[s0] -> (d0 ceildiv s0, d1 + 1)>(%a, %b)[%n]
  %1 = affine.max affine_map<(d0, d1)[s0] -> (d0, d1 mod s0, 7)>(%0, %b)[%n]
  return %0, %1 : index, index
}",
        &["--canonicalize", "--lower-affine", "--canonicalize"],
    ),
    // A composed op is not executed where it was not executed before.
    (
        "func.func @f(%a: index, %n: index, %c: i1) -> index {
  %1 = scf.if %c -> index {
    %0 = affine.apply affine_map<(d0)[s0] -> (d0 mod s0)>(%a)[%n]
    scf.yield %0 : index
  } else {
    scf.yield %a : index
  }
  %2 = affine.apply affine_map<(d0) -> (d0 + 1)>(%1)
  return %2 : index
}",
        &["--canonicalize", "--cse", "--lower-affine", "--canonicalize"],
    ),
    (
        "func.func @f(%a: i2, %b: i3, %c: i3, %m: i3) -> (index, index, index) {
  %c1 = arith.constant 1 : index
  %i = arith.index_cast %a : i2 to index
  %j = arith.index_cast %b : i3 to index
  %k = arith.index_cast %c : i3 to index
  %s = arith.index_castui %m : i3 to index
  %n = arith.addi %s, %c1 : index
  %0 = affine.linearize_index [%i, %j, %k] by (2, %n, 5) : index
  %1:3 = affine.delinearize_index %0 into (2, %n, 5) : index, index, index
  return %1#0, %1#1, %1#2 : index, index, index
}",
        &["--canonicalize", "--lower-affine", "--canonicalize"],
    ),
];

#[test]
fn composing_folding_and_lowering_refine() {
    for (number, (program, flags)) in REFINED.iter().enumerate() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("program.mlir").display().to_string();
        std::fs::write(&file, program).expect("a file can be written");
        for seed in 0..4 {
            let seed = format!("--seed={seed}");
            let output = run(&Tool::gradus(), &[&["check", &file, "--inputs=400", &seed], *flags].concat());
            assert_eq!(output.code, 0, "{number}:\n{}{}", output.out, output.err);
        }
    }
}
