// RUN: gradus opt %s --apply-rules="target=scalar rules=fast-inverse-sqrt" --verify-diagnostics

// expected-error@+1 {{rule 'fast-inverse-sqrt' is approximate: it needs floats=approx}}
module {
}
