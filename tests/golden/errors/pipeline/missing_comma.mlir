// RUN: gradus opt %s --pass-pipeline='builtin.module(cse{}x)'

// expected-error@unknown {{expected ',' after parsing pipeline}}
module {
}
