// RUN: gradus opt %s --canonicalize=region-simplify=x

// expected-error@unknown {{for the --region-simplify option: Cannot find option named 'x'!}}
module {
}
