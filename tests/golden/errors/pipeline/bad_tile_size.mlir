// RUN: gradus opt %s --affine-loop-tile=tile-sizes=2,0

// expected-error@unknown {{for the --tile-sizes option: '0' is not a tile size}}
module {
}
