// RUN: gradus opt %s --split-input-file --verify-diagnostics

// `affine.apply`, `affine.min`, `affine.max`, and `affine.delinearize_index`.
func.func @apply_dims(%n: index) {
  // expected-error@+1 {{custom op 'affine.apply' dimension or symbol index mismatch}}
  %0 = affine.apply affine_map<(d0) -> (d0)>(%n, %n)
  return
}

// -----

func.func @apply_symbols(%n: index) {
  // expected-error@+1 {{custom op 'affine.apply' dimension or symbol index mismatch}}
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%n)
  return
}

// -----

func.func @apply_operands(%n: index) {
  // expected-error@+1 {{operand count and affine map dimension and symbol count must match}}
  %0 = "affine.apply"(%n) <{map = affine_map<(d0, d1) -> (d0 + d1)>}> : (index) -> index
  return
}

// -----

func.func @apply_results(%n: index) {
  // expected-error@+1 {{mapping must produce one value}}
  %0 = affine.apply affine_map<(d0) -> (d0, d0)>(%n)
  return
}

// -----

func.func @apply_symbol() {
  affine.for %i = 0 to 5 {
    // expected-error@+1 {{dimensional operand cannot be used as a symbol}}
    %0 = affine.apply affine_map<()[s0] -> (s0)>()[%i]
  }
  return
}

// -----

func.func @apply_no_map(%n: index) {
  // expected-error@+1 {{invalid kind of attribute specified}}
  %0 = affine.apply affine_set<(d0) : (d0 >= 0)>(%n)
  return
}

// -----

func.func @apply_missing(%n: index) {
  // expected-error@+1 {{requires attribute 'map'}}
  %0 = "affine.apply"(%n) : (index) -> index
  return
}

// -----

func.func @min_operands(%n: index) {
  // expected-error@+1 {{operand count and affine map dimension and symbol count must match}}
  %0 = affine.min affine_map<(d0) -> (d0)>(%n, %n)
  return
}

// -----

func.func @max_operands(%n: index) {
  // expected-error@+1 {{operand count and affine map dimension and symbol count must match}}
  %0 = affine.max affine_map<(d0)[s0] -> (d0 + s0)>(%n)
  return
}

// -----

func.func @min_results() {
  // expected-error@+1 {{affine map expect at least one result}}
  %0 = affine.min affine_map<() -> ()>()
  return
}

// -----

func.func @max_results(%n: index) {
  // expected-error@+1 {{affine map expect at least one result}}
  %0 = affine.max affine_map<(d0) -> ()>(%n)
  return
}

// -----

func.func @delinearize_count(%n: index) {
  // expected-error@+1 {{should return an index for each basis element and up to one extra index}}
  %0:3 = "affine.delinearize_index"(%n) <{static_basis = array<i64: 2>}> : (index) -> (index, index, index)
  return
}

// -----

func.func @delinearize_many(%n: index) {
  // expected-error@+1 {{should return an index for each basis element and up to one extra index}}
  %0 = affine.delinearize_index %n into (2, 3) : index
  return
}

// -----

func.func @delinearize_zero(%n: index) {
  // expected-error@+1 {{no basis element may be statically non-positive}}
  %0:2 = affine.delinearize_index %n into (2, 0) : index, index
  return
}

// -----

func.func @delinearize_dynamic(%n: index) {
  // expected-error@+1 {{mismatch between dynamic and static basis (kDynamic marker but no corresponding dynamic basis entry) -- this can only happen due to an incorrect fold/rewrite}}
  %0:2 = "affine.delinearize_index"(%n, %n) <{static_basis = array<i64: 2, 3>}> : (index, index) -> (index, index)
  return
}

// -----

func.func @linearize_count(%n: index) {
  // expected-error@+1 {{should be passed a basis element for each index except possibly the first}}
  %0 = affine.linearize_index [%n, %n, %n] by (2) : index
  return
}

// -----

func.func @linearize_many(%n: index) {
  // expected-error@+1 {{should be passed a basis element for each index except possibly the first}}
  %0 = affine.linearize_index [%n] by (2, 3) : index
  return
}

// -----

func.func @linearize_dynamic(%n: index) {
  // expected-error@+1 {{mismatch between dynamic and static basis (kDynamic marker but no corresponding dynamic basis entry) -- this can only happen due to an incorrect fold/rewrite}}
  %0 = "affine.linearize_index"(%n, %n, %n) <{operandSegmentSizes = array<i32: 2, 1>, static_basis = array<i64: 2, 3>}> : (index, index, index) -> index
  return
}
