// RUN: gradus opt %s --affine-loop-unroll=unroll-factor=0

// expected-error@unknown {{Invalid option: 'unroll-factor' should be greater than 0 or equal to -1}}
module {
}
