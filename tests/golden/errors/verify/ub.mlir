// RUN: gradus opt %s

func.func @kind() -> i32 {
  // expected-error@+1 {{'ub.poison' op attribute 'value' failed to satisfy constraint: PoisonAttrInterface instance}}
  %0 = "ub.poison"() {value = 3 : i32} : () -> i32
  return %0 : i32
}

// -----

func.func @last() {
  // expected-error@+1 {{'ub.unreachable' op must be the last operation in the parent block}}
  ub.unreachable
  return
}
