// RUN: gradus opt %s --convert-graph-to-addr=column-panel=0

// expected-error@unknown {{for the --column-panel option: 0 is not positive}}
module {
}
