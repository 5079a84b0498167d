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
