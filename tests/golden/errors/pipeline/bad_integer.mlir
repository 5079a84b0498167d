// RUN: gradus opt %s --canonicalize=max-iterations=x

// expected-error@unknown {{for the --max-iterations option: 'x' value invalid for long argument!}}
module {
}
