// RUN: gradus opt %s --convert-graph-to-addr=winograd-strip=0

// expected-error@unknown {{for the --winograd-strip option: 0 is not positive}}
module {
}
