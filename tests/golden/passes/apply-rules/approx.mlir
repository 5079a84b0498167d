// RUN: gradus opt %s --apply-rules="target=scalar rules=fast-inverse-sqrt" --verify-diagnostics

// expected-error@+1 {{the rules of group 'fast-inverse-sqrt' are approximate: they need floats=approx}}
module {
}
