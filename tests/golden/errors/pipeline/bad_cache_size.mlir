// RUN: gradus opt %s --affine-loop-tile=cache-size=0

// expected-error@unknown {{for the --cache-size option: the size must be positive}}
module {
}
