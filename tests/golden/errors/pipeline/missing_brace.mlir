// RUN: gradus opt %s --pass-pipeline='builtin.module(canonicalize{max-iterations=3)'

// expected-error@unknown {{missing closing '}' while processing pass options}}
module {
}
