// RUN: gradus opt %s

// `memref.global` and `memref.get_global`.
// expected-error@+1 {{type should be static shaped memref, but got 'memref<?xf32>'}}
memref.global @g : memref<?xf32>

// -----

// expected-error@+1 {{type should be static shaped memref, but got 'i32'}}
memref.global @g : i32 = 5

// -----

// expected-error@+1 {{initial value should be a unit or elements attribute}}
memref.global @g : memref<4xf32> = "text"

// -----

// expected-error@+1 {{expected valid '@'-identifier for symbol name}}
memref.global "private" "public" @g : memref<4xf32>

// -----

// expected-error@+1 {{expected valid '@'-identifier for symbol name}}
memref.global constant "private" @g : memref<4xf32>

// -----

// expected-error@+1 {{'memref.global' op type should be static shaped memref, but got 'memref<?xf32>'}}
"memref.global"() <{sym_name = "g", type = memref<?xf32>}> : () -> ()

// -----

// expected-error@+1 {{'memref.global' op attribute 'type' failed to satisfy constraint: memref type attribute}}
"memref.global"() <{sym_name = "g", type = f32}> : () -> ()

// -----

// expected-error@+1 {{'memref.global' op initial value should be a unit or elements attribute, but got 1 : i32}}
"memref.global"() <{initial_value = 1 : i32, sym_name = "g", type = memref<4xf32>}> : () -> ()

// -----

// expected-error@+1 {{'memref.global' op initial value element expected to be of type 'f32', but was of type 'i32'}}
"memref.global"() <{initial_value = dense<1> : tensor<4xi32>, sym_name = "g", type = memref<4xf32>}> : () -> ()

// -----

// expected-error@+1 {{'memref.global' op initial value shape expected to be 2, 4 but was 2, 3}}
"memref.global"() <{initial_value = dense<1.0> : tensor<2x3xf32>, sym_name = "g", type = memref<2x4xf32>}> : () -> ()

// -----

// expected-error@+1 {{'memref.global' op attribute 'alignment' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive and whose value is a power of two > 0}}
"memref.global"() <{alignment = 63 : i64, sym_name = "g", type = memref<4xf32>}> : () -> ()

// -----

// expected-error@+1 {{'memref.global' op visibility expected to be one of ["public", "private", "nested"], but got "secret"}}
memref.global "secret" @g : memref<4xf32>

// -----

func.func @missing() {
  // expected-error@+1 {{'memref.get_global' op 'g' does not reference a valid global memref}}
  %0 = memref.get_global @g : memref<4xf32>
  return
}

// -----

func.func @not_a_global() {
  // expected-error@+1 {{'memref.get_global' op 'not_a_global' does not reference a valid global memref}}
  %0 = memref.get_global @not_a_global : memref<4xf32>
  return
}

// -----

memref.global @g : memref<4xf32>
func.func @type() {
  // expected-error@+1 {{'memref.get_global' op result type 'memref<4xi32>' does not match type 'memref<4xf32>' of the global memref @g}}
  %0 = memref.get_global @g : memref<4xi32>
  return
}

// -----

func.func @open() {
  // expected-error@+1 {{'memref.get_global' op result #0 must be statically shaped memref of any type values, but got 'memref<?xf32>'}}
  %0 = memref.get_global @g : memref<?xf32>
  return
}
