// RUN: gradus opt %s --pass-pipeline='builtin.module(func.func(cze))' --verify-diagnostics

// expected-error@unknown {{'cze' does not refer to a registered pass or pass pipeline; did you mean 'cse'?}}
module {
}
