// RUN: gradus opt %s --canonicalize

// Blocks that only branch are skipped, also those that become so during canonicalization.
func.func @dead_loads(%c: i1, %m: memref<f32>) {
  %0 = memref.load %m[] : memref<f32>
  cf.cond_br %c, ^then, ^end
^then:
  %1 = memref.load %m[] : memref<f32>
  cf.br ^end
^end:
  %2 = memref.load %m[] : memref<f32>
  return
}

func.func @constants_inside(%c: i1) -> i32 {
  cf.cond_br %c, ^then, ^else
^then:
  %a = arith.constant 3 : i32
  cf.br ^end(%a : i32)
^else:
  %b = arith.constant 4 : i32
  cf.br ^end(%b : i32)
^end(%x: i32):
  return %x : i32
}
