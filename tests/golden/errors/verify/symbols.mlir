// RUN: gradus opt %s --verify-diagnostics

// Symbol names are unique in their table.
// expected-note@+1 {{see existing symbol definition here}}
func.func private @twice()
// expected-error@+1 {{redefinition of symbol named 'twice'}}
func.func private @twice()
