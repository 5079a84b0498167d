// RUN: gradus opt %s --affine-loop-tile=cache-size=0

// expected-error@unknown {{for the --cache-size option: no size of a cache}}
module {
}
