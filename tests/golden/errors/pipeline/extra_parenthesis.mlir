// RUN: gradus opt %s --pass-pipeline='builtin.module(cse))'

// expected-error@unknown {{encountered extra closing ')' creating unbalanced parentheses while parsing pipeline}}
module {
}
