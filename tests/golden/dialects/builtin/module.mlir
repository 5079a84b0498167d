// RUN: gradus opt %s

// The parser adds a module around top-level ops.
func.func private @bare()

// -----

module @named attributes {some.flag, some.number = 3 : i64} {
  module @inner {
    func.func private @deep()
  }
  module {
  }
}

// -----

"builtin.module"() <{sym_name = "generic", sym_visibility = "private"}> ({
  "func.func"() <{function_type = () -> (), sym_name = "f", sym_visibility = "private"}> ({
  }) : () -> ()
}) {x.y = "z"} : () -> ()
