// RUN: gradus opt %s --canonicalize --allow-unregistered-dialect

// The scope ends with its parent op and with the function, so that allocations can be hoisted.
func.func @hoist(%n: index) {
  "t.if"() ({
    memref.alloca_scope {
      %a = memref.alloca() : memref<4xi32>
      %b = memref.alloca(%n) : memref<?xi32>
      "t.use"(%a, %b) : (memref<4xi32>, memref<?xi32>) -> ()
    }
    "t.end"() : () -> ()
  }) : () -> ()
  return
}

// Not hoisted: allocations whose operands are defined inside, and allocations in a scope that ops follow.
func.func @stay() {
  "t.if"() ({
    %n = "t.size"() : () -> index
    memref.alloca_scope {
      %b = memref.alloca(%n) : memref<?xi32>
      "t.use"(%b) : (memref<?xi32>) -> ()
    }
    "t.end"() : () -> ()
  }) : () -> ()
  return
}

func.func @more() {
  "t.if"() ({
    memref.alloca_scope {
      %b = memref.alloca() : memref<4xi32>
      "t.use"(%b) : (memref<4xi32>) -> ()
    }
    "t.end"() : () -> ()
  }) : () -> ()
  "t.more"() : () -> ()
  return
}

// Through several enclosing ops.
func.func @nested() {
  "t.if"() ({
    "t.if"() ({
      memref.alloca_scope {
        %a = memref.alloca() : memref<4xi32>
        "t.use"(%a) : (memref<4xi32>) -> ()
      }
      "t.end"() : () -> ()
    }) : () -> ()
    "t.end"() : () -> ()
  }) : () -> ()
  return
}
