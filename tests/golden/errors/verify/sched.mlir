// RUN: gradus opt %s

// Types and offsets of `sched` ops.
func.func @outside() {
  %a = sched.arena "host" : memref<64xi8>
  // expected-error@+1 {{'sched.buffer' op ends at byte 68 of an arena of 64 bytes}}
  %b = sched.buffer %a[36] : memref<64xi8> to memref<8xf32>
  return
}

// -----

func.func @unaligned() {
  %a = sched.arena "host" : memref<64xi8>
  // expected-error@+1 {{'sched.buffer' op requires an offset that is a multiple of 4 bytes, the size of an element}}
  %b = sched.buffer %a[2] : memref<64xi8> to memref<8xf32>
  return
}

// -----

func.func @negative() {
  %a = sched.arena "host" : memref<64xi8>
  // expected-error@+1 {{'sched.buffer' op attribute 'offset' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %b = sched.buffer %a[-4] : memref<64xi8> to memref<8xf32>
  return
}

// -----

func.func @strided() {
  %a = sched.arena "host" : memref<64xi8>
  // expected-error@+1 {{'sched.buffer' op requires a row-major buffer}}
  %b = sched.buffer %a[0] : memref<64xi8> to memref<4xf32, strided<[2]>>
  return
}

// -----

func.func @size() {
  // expected-error@+1 {{'sched.arena' op requires a memref of static size}}
  %a = sched.arena "host" : memref<?xi8>
  return
}

// -----

func.func @number_of_arguments(%x: memref<4xf32>) {
  // expected-error@+1 {{'sched.step' op has 1 reads, but its region has 0 arguments}}
  sched.step reads(%x : memref<4xf32>) {
    sched.yield
  }
  return
}

// -----

func.func @type_of_argument(%x: memref<4xf32>) {
  // expected-error@+1 {{'sched.step' op argument 0 is tensor<5xf32>, but read 0 has tensor<4xf32>}}
  sched.step reads(%x : memref<4xf32>) {
  ^bb0(%0: tensor<5xf32>):
    sched.yield
  }
  return
}

// -----

func.func @number_of_results(%x: memref<4xf32>) {
  // expected-error@+1 {{'sched.step' op has 1 writes, but its region has 0 yielded tensors}}
  sched.step writes(%x : memref<4xf32>) {
    sched.yield
  }
  return
}

// -----

func.func @captured(%x: memref<4xf32>, %t: tensor<4xf32>) {
  // expected-error@+1 {{'sched.step' op 'graph.relu' uses a value from outside the step that is neither read nor constant}}
  sched.step writes(%x : memref<4xf32>) {
    %0 = graph.relu %t : tensor<4xf32>
    sched.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @effects(%x: memref<4xf32>, %t: tensor<4xf32>) {
  // expected-error@+1 {{'sched.step' op requires a region without memory effects, but has 'memref.alloc'}}
  sched.step {
    %0 = memref.alloc() : memref<4xf32>
    sched.yield
  }
  return
}

// -----

// Hazards: each read must find the bytes that were written to its buffer.
func.func @never_written(%x: memref<4xf32>) {
  // expected-error@+1 {{'sched.arena' op 'memref.copy' (access 0) reads bytes 0 to 16 of the arena, not all of which are written}}
  %a = sched.arena "host" : memref<64xi8>
  %b = sched.buffer %a[0] : memref<64xi8> to memref<4xf32>
  memref.copy %b, %x : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func @one_column_missing(%x: memref<4x2xf32>, %y: memref<4x3xf32>) {
  // expected-error@+1 {{'sched.arena' op step 'all' reads bytes 0 to 48 of the arena, not all of which are written}}
  %a = sched.arena "host" : memref<64xi8>
  %b = sched.buffer %a[0] : memref<64xi8> to memref<4x3xf32>
  %left = memref.subview %b[0, 0] [4, 2] [1, 1] : memref<4x3xf32> to memref<4x2xf32, strided<[3, 1]>>
  memref.copy %x, %left : memref<4x2xf32> to memref<4x2xf32, strided<[3, 1]>>
  sched.step "all" reads(%b : memref<4x3xf32>) writes(%y : memref<4x3xf32>) {
  ^bb0(%0: tensor<4x3xf32>):
    sched.yield %0 : tensor<4x3xf32>
  }
  return
}

// -----

func.func @overlap(%x: memref<4xf32>) {
  // expected-error@+1 {{'sched.arena' op step 'sum' reads bytes 0 to 16 of the arena, which step 'second' has overwritten, writing bytes 12 to 28 of the arena}}
  %a = sched.arena "host" : memref<64xi8>
  %b = sched.buffer %a[0] : memref<64xi8> to memref<4xf32>
  %c = sched.buffer %a[12] : memref<64xi8> to memref<4xf32>
  memref.copy %x, %b : memref<4xf32> to memref<4xf32>
  sched.step "second" reads(%x : memref<4xf32>) writes(%c : memref<4xf32>) {
  ^bb0(%0: tensor<4xf32>):
    sched.yield %0 : tensor<4xf32>
  }
  sched.step "sum" reads(%b, %c : memref<4xf32>, memref<4xf32>) writes(%x : memref<4xf32>) {
  ^bb0(%0: tensor<4xf32>, %1: tensor<4xf32>):
    %2 = graph.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    sched.yield %2 : tensor<4xf32>
  }
  return
}

// -----

// All arenas of a block are checked in one walk, which reports the first error.
func.func @second_arena(%x: memref<4xf32>) {
  // expected-error@+1 {{'sched.arena' op 'memref.copy' (access 2) reads bytes 0 to 16 of the arena, not all of which are written}}
  %a = sched.arena "host" : memref<64xi8>
  %b = sched.buffer %a[0] : memref<64xi8> to memref<4xf32>
  memref.copy %x, %b : memref<4xf32> to memref<4xf32>
  memref.copy %b, %x : memref<4xf32> to memref<4xf32>
  %c = sched.arena "sram" : memref<64xi8>
  %d = sched.buffer %c[0] : memref<64xi8> to memref<4xf32>
  memref.copy %d, %x : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func @outside_of_the_buffer(%x: memref<2xf32>) {
  // expected-error@+1 {{'sched.arena' op 'memref.copy' (access 0) accesses bytes outside of bytes 0 to 16 of the arena}}
  %a = sched.arena "host" : memref<64xi8>
  %b = sched.buffer %a[0] : memref<64xi8> to memref<4xf32>
  %c = memref.reinterpret_cast %b to offset: [3], sizes: [2], strides: [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 3>>
  memref.copy %x, %c : memref<2xf32> to memref<2xf32, strided<[1], offset: 3>>
  return
}

// -----

// The hazard check is bounded on hostile schedules.
func.func @too_many_parts(%x: memref<16777217xf32>) {
  // expected-error@+1 {{'sched.arena' op 'memref.copy' (access 0) accesses too many separate parts}}
  %a = sched.arena "host" : memref<268435456xi8>
  %b = sched.buffer %a[0] : memref<268435456xi8> to memref<33554434xf32>
  %c = memref.reinterpret_cast %b to offset: [0], sizes: [16777217], strides: [2] : memref<33554434xf32> to memref<16777217xf32, strided<[2]>>
  memref.copy %x, %c : memref<16777217xf32> to memref<16777217xf32, strided<[2]>>
  return
}

// -----

func.func @another_memory() {
  %a = sched.arena "sram" : memref<64xi8, "sram">
  // expected-error@+1 {{'sched.buffer' op requires a buffer in the memory space of its arena}}
  %b = sched.buffer %a[0] : memref<64xi8, "sram"> to memref<8xf32>
  return
}

// -----

// A transpose reads elements that it has overwritten.
func.func @transposed_in_place(%x: memref<4x4xf32>) {
  // expected-error@+1 {{'sched.arena' op step 'swap' reads bytes 0 to 64 of the arena and overwrites them, writing bytes 0 to 64 of the arena: only a step of elementwise ops may, where an element is read and written at the same byte}}
  %a = sched.arena "host" : memref<64xi8>
  %b = sched.buffer %a[0] : memref<64xi8> to memref<4x4xf32>
  memref.copy %x, %b : memref<4x4xf32> to memref<4x4xf32>
  sched.step "swap" reads(%b : memref<4x4xf32>) writes(%b : memref<4x4xf32>) {
  ^bb0(%0: tensor<4x4xf32>):
    %1 = graph.transpose %0 {perm = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    sched.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

// The same bytes, but not the same elements.
func.func @transposed_view(%x: memref<4x4xf32>) {
  // expected-error@+1 {{'sched.arena' op step 'neg' reads bytes 0 to 64 of the arena and overwrites them}}
  %a = sched.arena "host" : memref<64xi8>
  %b = sched.buffer %a[0] : memref<64xi8> to memref<4x4xf32>
  memref.copy %x, %b : memref<4x4xf32> to memref<4x4xf32>
  %c = memref.reinterpret_cast %b to offset: [0], sizes: [4, 4], strides: [1, 4] : memref<4x4xf32> to memref<4x4xf32, strided<[1, 4]>>
  sched.step "neg" reads(%c : memref<4x4xf32, strided<[1, 4]>>) writes(%b : memref<4x4xf32>) {
  ^bb0(%0: tensor<4x4xf32>):
    %1 = graph.neg %0 : tensor<4x4xf32>
    sched.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @shifted_in_place(%x: memref<4xf32>) {
  // expected-error@+1 {{'sched.arena' op step 'neg' reads bytes 0 to 16 of the arena and overwrites them, writing bytes 4 to 20 of the arena}}
  %a = sched.arena "host" : memref<64xi8>
  %b = sched.buffer %a[0] : memref<64xi8> to memref<4xf32>
  %c = sched.buffer %a[4] : memref<64xi8> to memref<4xf32>
  memref.copy %x, %b : memref<4xf32> to memref<4xf32>
  sched.step "neg" reads(%b : memref<4xf32>) writes(%c : memref<4xf32>) {
  ^bb0(%0: tensor<4xf32>):
    %1 = graph.neg %0 : tensor<4xf32>
    sched.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// The row that is broadcast is read again after the first row of the result is written.
func.func @broadcast_in_place(%x: memref<1x4xf32>, %y: memref<2x4xf32>) {
  // expected-error@+1 {{'sched.arena' op step 'add' reads bytes 0 to 16 of the arena and overwrites them}}
  %a = sched.arena "host" : memref<64xi8>
  %b = sched.buffer %a[0] : memref<64xi8> to memref<1x4xf32>
  %c = sched.buffer %a[0] : memref<64xi8> to memref<2x4xf32>
  memref.copy %x, %b : memref<1x4xf32> to memref<1x4xf32>
  sched.step "add" reads(%b, %y : memref<1x4xf32>, memref<2x4xf32>) writes(%c : memref<2x4xf32>) {
  ^bb0(%0: tensor<1x4xf32>, %1: tensor<2x4xf32>):
    %2 = graph.add %0, %1 : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    sched.yield %2 : tensor<2x4xf32>
  }
  return
}

// -----

func.func @two_results_in_one_place(%x: memref<4xf32>) {
  // expected-error@+1 {{'sched.arena' op step 'both' writes bytes 0 to 16 of the arena and bytes 8 to 24 of the arena, which overlap}}
  %a = sched.arena "host" : memref<64xi8>
  %b = sched.buffer %a[0] : memref<64xi8> to memref<4xf32>
  %c = sched.buffer %a[8] : memref<64xi8> to memref<4xf32>
  sched.step "both" reads(%x : memref<4xf32>) writes(%b, %c : memref<4xf32>, memref<4xf32>) {
  ^bb0(%0: tensor<4xf32>):
    sched.yield %0, %0 : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

func.func @read_before_the_wait(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error@+1 {{'sched.arena' op step 'early' reads bytes that 'sched.transfer' (access 0) writes until its wait}}
  %a = sched.arena "sram" : memref<64xi8, "sram">
  %b = sched.buffer %a[0] : memref<64xi8, "sram"> to memref<4xf32, "sram">
  %t = sched.transfer %x to %b : memref<4xf32> to memref<4xf32, "sram">
  sched.step "early" reads(%b : memref<4xf32, "sram">) writes(%y : memref<4xf32>) {
  ^bb0(%0: tensor<4xf32>):
    sched.yield %0 : tensor<4xf32>
  }
  sched.wait %t : !sched.token
  return
}

// -----

// The buffers need not be in an arena.
func.func @source_written_before_the_wait(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error@+1 {{'sched.transfer' op 'memref.copy' (access 1) writes bytes that 'sched.transfer' (access 0) reads until its wait}}
  %t = sched.transfer %x to %y : memref<4xf32> to memref<4xf32>
  %z = memref.alloc() : memref<4xf32>
  memref.copy %z, %x : memref<4xf32> to memref<4xf32>
  sched.wait %t : !sched.token
  return
}

// -----

func.func @no_wait(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error@+1 {{'sched.transfer' op 'sched.transfer' (access 0) is never waited for}}
  %t = sched.transfer %x to %y : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func @waits_twice(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error@+1 {{'sched.transfer' op 'sched.wait' (access 2) waits for a transfer a second time}}
  %t = sched.transfer %x to %y : memref<4xf32> to memref<4xf32>
  sched.wait %t : !sched.token
  sched.wait %t : !sched.token
  return
}

// -----

func.func @unknown_token(%t: !sched.token) {
  // expected-error@+1 {{'sched.wait' op requires tokens of transfers}}
  sched.wait %t : !sched.token
  return
}

// -----

func.func @transfer_of_another_shape(%x: memref<4xf32>, %y: memref<5xf32>) {
  // expected-error@+1 {{'sched.transfer' op requires a source and a target of the same shape and element type}}
  %t = sched.transfer %x to %y : memref<4xf32> to memref<5xf32>
  sched.wait %t : !sched.token
  return
}

// -----

func.func @transfer_of_unknown_size(%x: memref<?xf32>, %y: memref<?xf32>) {
  // expected-error@+1 {{'sched.transfer' op requires memrefs of static shape, offset and strides}}
  %t = sched.transfer %x to %y : memref<?xf32> to memref<?xf32>
  sched.wait %t : !sched.token
  return
}

// -----

func.func @launch_of_nothing(%x: memref<4xf32>) {
  // expected-error@+1 {{'sched.launch' op 'program' does not reference a valid function}}
  sched.launch @program reads(%x : memref<4xf32>)
  return
}

// -----

func.func private @program(memref<4xf32>)
func.func @launch_of_another_type(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error@+1 {{'sched.launch' op requires that '@program' takes the buffers that it reads and those that it writes, and returns nothing}}
  sched.launch @program reads(%x : memref<4xf32>) writes(%y : memref<4xf32>)
  return
}

// -----

func.func private @program(%in: memref<4xf32>, %out: memref<4xf32>) {
  memref.copy %out, %in : memref<4xf32> to memref<4xf32>
  return
}
func.func @launch_that_writes_an_input(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error@+1 {{'sched.launch' op '@program' writes its argument 0, which is only read here}}
  sched.launch @program reads(%x : memref<4xf32>) writes(%y : memref<4xf32>)
  return
}

// -----

func.func private @program(%in: memref<4xf32>, %out: memref<4xf32>) {
  memref.copy %in, %out : memref<4xf32> to memref<4xf32>
  return
}
func.func @launch_reads_before_it_is_written(%x: memref<4xf32>) {
  // expected-error@+1 {{'sched.arena' op launch of '@program' (access 0) reads bytes 0 to 16 of the arena, not all of which are written}}
  %a = sched.arena "host" : memref<64xi8>
  %b = sched.buffer %a[0] : memref<64xi8> to memref<4xf32>
  sched.launch @program reads(%b : memref<4xf32>) writes(%x : memref<4xf32>)
  return
}

// -----

func.func @f(%m: memref<2xmemref<i32>>) {
  // expected-error@+1 {{result type matches tensor equivalent of 'buffer'}}
  %0 = "sched.to_tensor"(%m) : (memref<2xmemref<i32>>) -> tensor<2xi32>
  return
}
