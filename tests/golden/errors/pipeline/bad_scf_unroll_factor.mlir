// RUN: gradus opt %s --scf-for-loop-unroll=unroll-factor=-2

// expected-error@unknown {{Invalid option: 'unroll-factor' should be greater than 0 or equal to -1}}
module {
}
