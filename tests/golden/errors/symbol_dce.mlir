// RUN: gradus opt %s --symbol-dce --allow-unregistered-dialect
func.func private @f() {
  return
}
// expected-error@+1 {{operation contains potentially unknown symbol table, meaning that we can't reliable compute symbol uses}}
"foreign.table"() ({
}) : () -> ()
