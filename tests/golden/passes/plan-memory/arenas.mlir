// RUN: gradus opt %s --plan-memory=alignment=32 --plan-memory="arena=sram alignment=32"

// Each pass plans one memory. A buffer of a transfer is live until the wait.
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  sched.step "first" reads(%x : memref<8xf32>) writes(%a : memref<8xf32>) {
  ^bb0(%0: tensor<8xf32>):
    %1 = graph.relu %0 : tensor<8xf32>
    sched.yield %1 : tensor<8xf32>
  }
  %b = memref.alloc() : memref<8xf32, "sram">
  %t = sched.transfer %a to %b : memref<8xf32> to memref<8xf32, "sram">
  %c = memref.alloc() : memref<8xf32>
  sched.step "beside" reads(%x : memref<8xf32>) writes(%c : memref<8xf32>) {
  ^bb0(%0: tensor<8xf32>):
    %1 = graph.neg %0 : tensor<8xf32>
    sched.yield %1 : tensor<8xf32>
  }
  sched.wait %t : !sched.token
  %d = memref.alloc() : memref<8xf32, "sram">
  sched.launch @program reads(%b : memref<8xf32, "sram">) writes(%d : memref<8xf32, "sram">)
  %e = memref.alloc() : memref<8xf32>
  %u = sched.transfer %d to %e : memref<8xf32, "sram"> to memref<8xf32>
  sched.wait %u : !sched.token
  sched.step "last" reads(%c, %e : memref<8xf32>, memref<8xf32>) writes(%y : memref<8xf32>) {
  ^bb0(%0: tensor<8xf32>, %1: tensor<8xf32>):
    %2 = graph.add %0, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    sched.yield %2 : tensor<8xf32>
  }
  return
}

func.func private @program(%in: memref<8xf32, "sram">, %out: memref<8xf32, "sram">) {
  sched.step reads(%in : memref<8xf32, "sram">) writes(%out : memref<8xf32, "sram">) {
  ^bb0(%0: tensor<8xf32>):
    %1 = graph.exp %0 : tensor<8xf32>
    sched.yield %1 : tensor<8xf32>
  }
  return
}
