// RUN: gradus opt %s --pass-pipeline='builtin.module(cse,,cse)'

// expected-error@unknown {{'' does not refer to a registered pass or pass pipeline}}
module {
}
