// RUN: gradus opt %s --split-input-file --apply-rules=rules=subtract_itself --verify-diagnostics

// expected-error@+1 {{there are no rules: name a file with '--rules', or put 'rewrite.rule' into the program}}
module {
}

// -----

// expected-error@+1 {{unknown rule 'subtract_itself'; did you mean 'subtract_itsef'?}}
module {
  rewrite.rule @subtract_itsef {
    %x = value
    %difference = op "arith.subi"(%x, %x)
    match %difference
    %zero = number 0.0
    replace %zero
  }
}
