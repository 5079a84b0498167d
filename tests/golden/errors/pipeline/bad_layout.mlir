// RUN: gradus opt %s --convert-graph-to-addr=layout=NC8

// expected-error@unknown {{for the --layout option: 'NC8' is not a layout: expected a letter after the tile size}}
module {
}
