// RUN: gradus opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Number of regions and successors, and parent ops.
// expected-error@+1 {{'builtin.module' op requires one region}}
"builtin.module"() ({
}, {
}) : () -> ()

// -----

func.func @successor() {
  // expected-error@+1 {{'func.return' op requires 0 successors but found 1}}
  "func.return"()[^next] : () -> ()
^next:
  return
}

// -----

module {
  // expected-error@+1 {{'func.return' op expects parent op 'func.func'}}
  "func.return"() : () -> ()
}
