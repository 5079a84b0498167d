// RUN: gradus opt %s --scf-parallel-loop-tiling=parallel-loop-tile-sizes=2,0

// expected-error@unknown {{tile size cannot be 0}}
module {
}
