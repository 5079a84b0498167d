// RUN: gradus opt %s

// A module around the contents, even when the text has none.
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
