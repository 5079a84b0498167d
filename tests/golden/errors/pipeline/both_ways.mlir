// RUN: gradus opt %s --cse --pass-pipeline='builtin.module(cse)'

// expected-error@unknown {{'-pass-pipeline' option can't be used with individual pass options}}
module {
}
