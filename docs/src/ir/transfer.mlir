func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32, "sram">
  %b = memref.alloc() : memref<8xf32, "sram">
  %t = sched.transfer %x to %a : memref<8xf32> to memref<8xf32, "sram">
  sched.wait %t : !sched.token
  sched.launch @program reads(%a : memref<8xf32, "sram">) writes(%b : memref<8xf32, "sram">)
  %u = sched.transfer %b to %y : memref<8xf32, "sram"> to memref<8xf32>
  sched.wait %u : !sched.token
  return
}

func.func private @program(%from: memref<8xf32, "sram">, %to: memref<8xf32, "sram">) {
  sched.step reads(%from : memref<8xf32, "sram">) writes(%to : memref<8xf32, "sram">) {
  ^bb0(%0: tensor<8xf32>):
    %1 = graph.exp %0 : tensor<8xf32>
    sched.yield %1 : tensor<8xf32>
  }
  return
}
