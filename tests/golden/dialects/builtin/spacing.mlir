// RUN: gradus opt %s --split-input-file

// Blanks, comments and line breaks between two tokens change nothing: neither before the type of a long list
func.func @long_list() -> tensor<19xi32> {
  %0 = arith.constant dense<[1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]>
    // a comment
    : tensor<19xi32>
  return %0 : tensor<19xi32>
}

// -----

// nor in an enumeration, whose words may be strings,
func.func @enumerations(%a: i32, %x: f32, %m: memref<4xf32>, %i: index, %v: vector<4xf32>) {
  %0 = arith.mulf %x, %x fastmath<nnan, // no NaN
                                  "ninf"> : f32
  %1 = arith.cmpi "slt", %a, %a : i32
  %2 = arith.addi %a, %a overflow<"nsw"> : i32
  %3 = memref.atomic_rmw "addf" %x, %m[%i] : (f32, memref<4xf32>) -> f32
  %4 = vector.reduction <"add">, %v : vector<4xf32> into f32
  %5 = arith.truncf %x "downward" : f32 to f16
  return
}

// -----

// nor between the definitions of aliases,
!t = i32 !u = tensor<4x!t>
#a = 1 : !t #b = [#a, "#c = 2"]
func.func @aliases(%a: !u) attributes {t.a = #b} { return } #d = 3 module attributes {t.d = #d} {}

// -----

// nor after a minus sign, in a shape, or in an array.
func.func @numbers(%v: vector<4 x [ // scalable
                                    2] x f32>) -> index {
  %0 = arith.constant -
    1 : index
  builtin.module attributes {t.a = array<i64 // : 0
    : 2, - 3>, t.b = array<i8>} {}
  return %0 : index
}

// -----

// Properties that an op with others does not declare are dropped, as in MLIR.
func.func @properties(%a: i32, %c: i1) -> i32 {
  %0 = "arith.addi"(%a, %a) <{overflowFlags = #arith.overflow<nsw>, other = 3 : i32}> : (i32, i32) -> i32
  cf.cond_br %c weights([]), ^bb1, ^bb1
^bb1:
  return %0 : i32
}
