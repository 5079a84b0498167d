//! Functions whose types a lowering changed: they are compared through the representations of values.

use gradus::Tool;
use gradus::check::{Options, Reference, Verdict};
use gradus::ir::{Module, ParseOptions, parse_module, verify};

/// Returns the verdict on the only public function.
fn compare(tool: &Tool, before: &str, after: &str) -> Verdict {
    let ctx = tool.context();
    let parsed = |text: &str| -> Module {
        let m = parse_module(&ctx, "test", text.to_owned(), ParseOptions::default());
        let m = m.unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        verify(&m).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        m
    };
    let (before, after) = (parsed(before), parsed(after));
    let reference = Reference::new(&before, Options::default());
    let (_, _, verdict) = reference.compare(&after).next().expect("a function");
    verdict
}

/// Checks that a lowered program refines the original, and that it differs with each mistake: a text and its wrong replacement.
fn check(before: &str, after: &str, mistakes: &[(&str, &str)]) {
    let verdict = compare(&Tool::gradus(), before, after);
    assert!(matches!(verdict, Verdict::Same { inputs: 100.., .. }), "{verdict:?}\n{after}");
    for (right, wrong) in mistakes {
        assert!(after.contains(right), "{right}");
        let verdict = compare(&Tool::gradus(), before, &after.replacen(right, wrong, 1));
        assert!(matches!(verdict, Verdict::Different(_)), "{wrong}: {verdict:?}");
    }
}

/// Arguments and results, and those of external calls, with any strides, as one-shot bufferization of mlir-opt gives them.
#[test]
fn tensors_in_memory() {
    let before = "func.func private @ext(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%t: tensor<4xf32>, %i: index, %x: f32) -> (tensor<4xf32>, f32) {
  %0 = tensor.insert %x into %t[%i] : tensor<4xf32>
  %1 = func.call @ext(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tensor.extract %1[%i] : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, f32
}";
    let after = "!any = memref<4xf32, strided<[?], offset: ?>>
func.func private @ext(!any) -> !any
func.func @f(%t: !any, %i: index, %x: f32) -> (!any, f32) {
  memref.store %x, %t[%i] : !any
  %1 = func.call @ext(%t) : (!any) -> !any
  %2 = memref.load %1[%i] : !any
  return %1, %2 : !any, f32
}";
    let forgotten = ("  memref.store %x, %t[%i] : !any\n", "");
    let late = ("return %1, %2", "memref.store %x, %1[%i] : !any\n  return %1, %2");
    check(before, after, &[forgotten, late, ("return %1", "return %t")]);
}

/// A result becomes an argument that the function writes.
#[test]
fn results_in_memory_of_the_caller() {
    let before = "func.func private @ext() -> tensor<2x3xf32>
func.func @f(%t: tensor<2x3xf32>, %x: f32) -> (tensor<2x3xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = func.call @ext() : () -> tensor<2x3xf32>
  %1 = tensor.extract %0[%c1, %c0] : tensor<2x3xf32>
  %2 = tensor.insert %x into %t[%c0, %c1] : tensor<2x3xf32>
  return %2, %1 : tensor<2x3xf32>, f32
}";
    let after = "func.func private @ext(memref<2x3xf32>)
func.func @f(%t: memref<2x3xf32>, %x: f32, %out: memref<2x3xf32, strided<[?, ?]>>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = memref.alloc() : memref<2x3xf32>
  func.call @ext(%0) : (memref<2x3xf32>) -> ()
  %1 = memref.load %0[%c1, %c0] : memref<2x3xf32>
  memref.copy %t, %out : memref<2x3xf32> to memref<2x3xf32, strided<[?, ?]>>
  memref.store %x, %out[%c0, %c1] : memref<2x3xf32, strided<[?, ?]>>
  return %1 : f32
}";
    let unwritten = ("  memref.copy %t, %out : memref<2x3xf32> to memref<2x3xf32, strided<[?, ?]>>\n", "");
    check(before, after, &[unwritten, ("%out[%c0, %c1]", "%out[%c1, %c0]"), ("%0[%c1, %c0]", "%0[%c0, %c1]")]);
}

/// Of a vector of two dimensions, the rows or the elements.
#[test]
fn vectors_as_scalars_and_rows() {
    let before = "func.func @f(%v: vector<2x2xi32>, %n: i32) -> (vector<2x2xi32>, i32) {
  %0 = arith.addi %v, %v : vector<2x2xi32>
  return %0, %n : vector<2x2xi32>, i32
}";
    let scalars = "func.func @f(%a: i32, %b: i32, %c: i32, %d: i32, %n: i32) -> (i32, i32, i32, i32, i32) {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %b, %b : i32
  %2 = arith.addi %c, %c : i32
  %3 = arith.addi %d, %d : i32
  return %0, %1, %2, %3, %n : i32, i32, i32, i32, i32
}";
    let rows = "func.func @f(%a: vector<2xi32>, %b: vector<2xi32>, %n: i32) -> (vector<2xi32>, vector<2xi32>, i32) {
  %0 = arith.addi %a, %a : vector<2xi32>
  %1 = arith.addi %b, %b : vector<2xi32>
  return %0, %1, %n : vector<2xi32>, vector<2xi32>, i32
}";
    check(before, scalars, &[("return %0, %1", "return %1, %0"), ("arith.addi %d, %d", "arith.addi %d, %n")]);
    check(before, rows, &[("return %0, %1", "return %1, %0"), ("arith.addi %b, %b", "arith.muli %b, %b")]);
}

/// Inputs and results that do not fit are no difference.
#[test]
fn indices_as_integers() {
    let before = "func.func @f(%t: tensor<?xindex>, %i: index) -> index {
  %0 = tensor.extract %t[%i] : tensor<?xindex>
  %1 = arith.maxsi %0, %i : index
  return %1 : index
}";
    let wide = "func.func @f(%t: memref<?xi64>, %i: i64) -> i64 {
  %at = arith.index_cast %i : i64 to index
  %0 = memref.load %t[%at] : memref<?xi64>
  %1 = arith.maxsi %0, %i : i64
  return %1 : i64
}";
    let narrow = &wide.replace("i64", "i32");
    for after in [wide, narrow] {
        check(before, after, &[("arith.maxsi", "arith.maxui"), ("arith.maxsi", "arith.minsi")]);
    }
}

#[test]
fn an_element_of_poison_is_a_poison_scalar() {
    let before = "func.func @f(%v: vector<2xi32>) -> vector<2xi32> {
  %0 = arith.addi %v, %v overflow<nsw> : vector<2xi32>
  return %0 : vector<2xi32>
}";
    let after = "func.func @f(%a: i32, %b: i32) -> (i32, i32) {
  %0 = arith.addi %a, %a overflow<nsw> : i32
  %1 = arith.addi %b, %b : i32
  return %0, %1 : i32, i32
}";
    check(before, after, &[("%a overflow<nsw>", "%b overflow<nsw>")]);
    assert!(matches!(compare(&Tool::gradus(), after, after), Verdict::Unchanged));
}

#[test]
fn the_first_unrelated_types_are_named() {
    let before = "func.func @f(%x: i32, %t: tensor<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %t[%c0] : tensor<4xf32>
  return %0 : f32
}";
    let why = |after: &str| match compare(&Tool::gradus(), before, after) {
        Verdict::Inconclusive(why) => why,
        other => panic!("{other:?}"),
    };
    let after = "func.func @f(%x: i32, %t: i32) -> f32 {
  %0 = arith.sitofp %t : i32 to f32
  return %0 : f32
}";
    let unrelated = "and no representation of the one by the other is declared";
    assert_eq!(why(after), format!("argument 1: 'tensor<4xf32>' became 'i32', {unrelated}"));
    let dropped = after.replace(", %t: i32", "").replace("%t :", "%x :");
    assert_eq!(why(&dropped), "argument 1: 'tensor<4xf32>' became nothing");
    let added = after.replace("%t: i32", "%t: memref<4xf32>, %y: i32").replace("%t :", "%x :");
    assert_eq!(why(&added), "argument 2: 'i32' represents nothing of the original");
    let changed = after.replace("%t: i32", "%t: tensor<?xf32>").replace("%t :", "%x :").replace("f32\n", "f16\n");
    let changed = changed.replace("-> f32 {", "-> f16 {");
    assert_eq!(why(&changed), format!("result 0: 'f32' became 'f16', {unrelated}"));
}

/// An external call that nothing relates says nothing.
#[test]
fn unrelated_calls_are_inconclusive() {
    let program = |ty: &str, value: &str| {
        format!(
            "func.func private @ext({ty})
func.func @f(%x: i32) -> i32 {{
  %0 = {value}
  func.call @ext(%0) : ({ty}) -> ()
  return %x : i32
}}"
        )
    };
    let (before, after) = (program("i32", "arith.addi %x, %x : i32"), program("f32", "arith.sitofp %x : i32 to f32"));
    let verdict = compare(&Tool::gradus(), &before, &after);
    let Verdict::Lost(why) = verdict else { panic!("{verdict:?}") };
    assert!(why.contains("argument 0: 'i32' became 'f32'"), "{why}");
}

/// A type of a tool, as the tool declares it.
#[test]
fn a_type_of_a_tool() {
    let before = "func.func private @ext(!poly.ring<17, 2>) -> !poly.ring<17, 2>
func.func @f(%p: !poly.ring<17, 2>, %x: !poly.residue<17>) -> !poly.ring<17, 2> {
  %0 = poly.add %p, %p : !poly.ring<17, 2>
  %1 = func.call @ext(%0) : (!poly.ring<17, 2>) -> !poly.ring<17, 2>
  return %1 : !poly.ring<17, 2>
}";
    let after = "func.func private @ext(memref<2xi64>) -> memref<2xi64>
func.func @f(%p: memref<2xi64>, %x: i64) -> memref<2xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %q = arith.constant 17 : i64
  %m = memref.alloc() : memref<2xi64>
  scf.for %i = %c0 to %c2 step %c1 {
    %0 = memref.load %p[%i] : memref<2xi64>
    %1 = arith.addi %0, %0 : i64
    %2 = arith.remui %1, %q : i64
    memref.store %2, %m[%i] : memref<2xi64>
  }
  %r = func.call @ext(%m) : (memref<2xi64>) -> memref<2xi64>
  return %r : memref<2xi64>
}";
    let verdict = compare(&poly::tool(), before, after);
    assert!(matches!(verdict, Verdict::Same { .. }), "{verdict:?}");
    // A sum that is not reduced, a coefficient without a value, and the result of no call.
    for (right, wrong) in [("store %2", "store %1"), ("%c0 to", "%c1 to"), ("return %r", "return %m")] {
        let verdict = compare(&poly::tool(), before, &after.replacen(right, wrong, 1));
        assert!(matches!(verdict, Verdict::Different(_)), "{wrong}: {verdict:?}");
    }
}

/// What an external function writes is drawn in the type before.
#[test]
fn memory_that_an_external_function_writes() {
    let program = |ty: &str| {
        format!(
            "func.func private @ext(memref<3x{ty}>)
func.func @f(%m: memref<3x{ty}>, %n: {ty}) -> {ty} {{
  %c1 = arith.constant 1 : index
  func.call @ext(%m) : (memref<3x{ty}>) -> ()
  %0 = memref.load %m[%c1] : memref<3x{ty}>
  %1 = arith.addi %0, %n : {ty}
  memref.store %1, %m[%c1] : memref<3x{ty}>
  return %1 : {ty}
}}"
        )
    };
    check(&program("index"), &program("i64"), &[("%0, %n", "%n, %n"), ("arith.constant 1", "arith.constant 2")]);
}
