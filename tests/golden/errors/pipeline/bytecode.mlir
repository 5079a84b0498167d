// RUN: gradus opt %s --emit-bytecode

// expected-error@unknown {{--emit-bytecode: MLIR's bytecode is not supported}}
module {
}
