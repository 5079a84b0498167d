// RUN: gradus opt %s

// Two transfers run beside each other and beside a step; a device program works in a memory of its own.
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %host = sched.arena "host" : memref<64xi8>
  %sram = sched.arena "sram" : memref<96xi8, "sram">
  %in = sched.to_buffer %x : tensor<2x4xf32> to memref<2x4xf32>
  %a = sched.buffer %host[0] : memref<64xi8> to memref<2x4xf32>
  %b = sched.buffer %sram[0] : memref<96xi8, "sram"> to memref<2x4xf32, "sram">
  %c = sched.buffer %sram[32] : memref<96xi8, "sram"> to memref<2x4xf32, "sram">
  %t = sched.transfer %in to %b : memref<2x4xf32> to memref<2x4xf32, "sram">
  sched.step "beside" reads(%in : memref<2x4xf32>) writes(%a : memref<2x4xf32>) {
  ^bb0(%0: tensor<2x4xf32>):
    %1 = graph.relu %0 : tensor<2x4xf32>
    sched.yield %1 : tensor<2x4xf32>
  }
  %u = sched.transfer %a to %c {note} : memref<2x4xf32> to memref<2x4xf32, "sram">
  sched.wait %t, %u : !sched.token, !sched.token
  %d = sched.buffer %sram[64] : memref<96xi8, "sram"> to memref<2x4xf32, "sram">
  sched.launch @sum reads(%b, %c : memref<2x4xf32, "sram">, memref<2x4xf32, "sram">) writes(%d : memref<2x4xf32, "sram">)
  %e = sched.buffer %host[32] : memref<64xi8> to memref<2x4xf32>
  %v = sched.transfer %d to %e : memref<2x4xf32, "sram"> to memref<2x4xf32>
  sched.wait %v : !sched.token
  %y = sched.to_tensor %e : memref<2x4xf32> to tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

func.func private @sum(%a: memref<2x4xf32, "sram">, %b: memref<2x4xf32, "sram">, %to: memref<2x4xf32, "sram">) {
  sched.step reads(%a, %b : memref<2x4xf32, "sram">, memref<2x4xf32, "sram">) writes(%to : memref<2x4xf32, "sram">) {
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<2x4xf32>):
    %2 = graph.add %0, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    sched.yield %2 : tensor<2x4xf32>
  }
  return
}
