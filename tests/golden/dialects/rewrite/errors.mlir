// RUN: gradus opt %s --split-input-file --verify-diagnostics

rewrite.rule @unknown_op {
  %x = value
  // expected-error@+1 {{'rewrite.op' op no op 'arith.adid'; did you mean 'arith.addi'?}}
  %0 = op "arith.adid"(%x, %x)
  match %0
  replace %x
}

// -----

rewrite.rule @unknown_attribute {
  %x = value
  // expected-error@+1 {{'rewrite.op' op 'arith.addi' has no attribute 'overflowFlag'; did you mean 'overflowFlags'?}}
  %0 = op "arith.addi"(%x, %x) {overflowFlag = #arith.overflow<nsw>}
  match %0
  replace %x
}

// -----

rewrite.rule @wrong_attribute {
  %x = value
  // expected-error@+1 {{attribute 'overflowFlags' of 'arith.addi' failed to satisfy constraint: Integer overflow arith flags}}
  %0 = op "arith.addi"(%x, %x) {overflowFlags = 3 : i64}
  match %0
  replace %x
}

// -----

rewrite.rule @operands {
  %x = value
  // expected-error@+1 {{'arith.addi' has at least 2 operands, not 1}}
  %0 = op "arith.addi"(%x)
  match %0
  replace %x
}

// -----

rewrite.rule @unknown_condition {
  %x = value
  %0 = op "arith.addi"(%x, %x)
  // expected-error@+1 {{no condition 'not_i'; did you mean 'not_i1'?}}
  where "not_i"(%x)
  match %0
  replace %x
}

// -----

rewrite.rule @condition_on_the_wrong {
  %x = value
  %0 = op "arith.addi"(%x, %x)
  // expected-error@+1 {{'zero' takes (attribute or constant)}}
  where "zero"(%x)
  match %0
  replace %x
}

// -----

rewrite.rule @no_parameters {
  %x = value
  %0 = op "arith.addi"(%x, %x)
  // expected-error@+1 {{'not_i1' has no parameter 'above'}}
  where "not_i1"(%x) with {above = 1 : i64}
  match %0
  replace %x
}

// -----

rewrite.rule @computation_is_no_condition {
  %x = value
  %0 = op "arith.addi"(%x, %x)
  // expected-error@+1 {{no condition 'log2'}}
  where "log2"(%x)
  match %0
  replace %x
}

// -----

rewrite.rule @value_after_match {
  %x = value
  %0 = op "arith.addi"(%x, %x)
  match %0
  // expected-error@+1 {{must precede 'rewrite.match', which ends the pattern}}
  %y = value
  replace %y
}

// -----

rewrite.rule @new_constant {
  %x = value
  %0 = op "arith.addi"(%x, %x)
  match %0
  // expected-error@+1 {{needs an attribute as value after 'rewrite.match', where constants are created}}
  %y = constant
  replace %y
}

// -----

// expected-error@+1 {{has no matched op that uses the result of its 'rewrite.value'}}
rewrite.rule @unused {
  %x = value
  %y = value
  %0 = op "arith.addi"(%x, %x)
  match %0
  replace %y
}

// -----

// expected-error@+1 {{2 values replace the 1 results of 1 ops}}
rewrite.rule @too_many {
  %x = value
  %0 = op "arith.addi"(%x, %x)
  match %0
  replace %x, %x
}

// -----

// expected-error@+1 {{a replacement must not use the root that it replaces}}
rewrite.rule @itself {
  %x = value
  %0 = op "arith.addi"(%x, %x)
  match %0
  %1 = op "arith.muli"(%0, %0)
  replace %1
}

// -----

// expected-error@+1 {{the roots have nothing in common: each must use or define a value of those before it}}
rewrite.rule @apart {
  %x = value
  %y = value
  %0 = op "arith.addi"(%x, %x)
  %1 = op "arith.addi"(%y, %y)
  match %0, %1
  replace %x, %y
}

// -----

// expected-error@+1 {{needs a 'rewrite.match'}}
rewrite.rule @no_match {
  %x = value
  replace %x
}

// -----

rewrite.rule @twice {
  %x = value
  // expected-error@+1 {{duplicate attribute 'overflowFlags'}}
  %0 = op "arith.addi"(%x, %x) {overflowFlags = #arith.overflow<nsw>, overflowFlags = #arith.overflow<nsw>}
  // expected-error@+1 {{the type of this value is not known here: it is used before its definition}}
  match %0
  replace %x
}

// -----

rewrite.rule @parameter {
  %x = constant
  %0 = op "arith.addi"(%x, %x)
  // expected-error@+1 {{'at_least' has no parameter 'limits'; did you mean 'limit'?}}
  where "at_least"(%x) with {limits = 1 : i64}
  match %0
  replace %x
}

// -----

rewrite.rule @no_parameter {
  %x = constant
  %0 = op "arith.addi"(%x, %x)
  // expected-error@+1 {{'at_least' needs the parameter 'limit'}}
  where "at_least"(%x)
  match %0
  replace %x
}

// -----

// expected-error@+1 {{must end with 'rewrite.replace'}}
rewrite.rule @no_end {
  %x = value
  %0 = op "arith.addi"(%x, %x)
  match %0
  ub.unreachable
}
