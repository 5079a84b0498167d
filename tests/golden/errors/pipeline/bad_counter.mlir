// RUN: gradus opt %s --cse --mlir-debug-counter=foo=1

// expected-error@unknown {{expected DebugCounter counter name to end with either `-skip` or `-count`, but got`foo`}}
module {
}
