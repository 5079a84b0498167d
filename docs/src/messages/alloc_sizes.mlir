func.func @f(%n: index) -> memref<?x?xf32> {
  %0 = memref.alloc(%n) : memref<?x?xf32>
  return %0 : memref<?x?xf32>
}
