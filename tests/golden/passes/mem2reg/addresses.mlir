// RUN: gradus opt %s --mem2reg

// The slot that holds an address is promoted first, then the slot at that address.
func.func @address(%a: i64) -> i64 {
  %outer = memref.alloca() : memref<memref<memref<i64>>>
  %middle = memref.alloca() : memref<memref<i64>>
  %inner = memref.alloca() : memref<i64>
  memref.store %a, %inner[] : memref<i64>
  memref.store %inner, %middle[] : memref<memref<i64>>
  memref.store %middle, %outer[] : memref<memref<memref<i64>>>
  %0 = memref.load %outer[] : memref<memref<memref<i64>>>
  %1 = memref.load %0[] : memref<memref<i64>>
  %2 = memref.load %1[] : memref<i64>
  return %2 : i64
}

// The cases of a switch pass the slot's value; the segment sizes are updated.
func.func @switch(%flag: i32, %a: i32, %b: i32) -> i32 {
  %slot = memref.alloca() : memref<i32>
  memref.store %a, %slot[] : memref<i32>
  cf.switch %flag : i32, [
    default: ^end,
    1: ^store(%b : i32),
    2: ^end,
    3: ^store(%flag : i32)
  ]
^store(%x: i32):
  memref.store %x, %slot[] : memref<i32>
  cf.br ^end
^end:
  %0 = memref.load %slot[] : memref<i32>
  return %0 : i32
}
