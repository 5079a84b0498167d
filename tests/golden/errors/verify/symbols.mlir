// RUN: gradus opt %s --verify-diagnostics

// The names of a symbol table are unique.
// expected-note@+1 {{see existing symbol definition here}}
func.func private @twice()
// expected-error@+1 {{redefinition of symbol named 'twice'}}
func.func private @twice()
