// RUN: gradus opt %s --pass-pipeline='builtin.module(func.func(cse)'

// expected-error@unknown {{encountered unbalanced parentheses while parsing pipeline}}
module {
}
