// RUN: gradus opt %s

// `memref.dma_start` and `memref.dma_wait`.
func.func @four(%m: memref<f32>) {
  // expected-error@+1 {{'memref.dma_start' op expected at least 4 operands}}
  "memref.dma_start"(%m) : (memref<f32>) -> ()
  return
}

// -----

func.func @source(%m: f32, %i: index) {
  // expected-error@+1 {{'memref.dma_start' op expected source to be of memref type}}
  "memref.dma_start"(%m, %i, %i, %i) : (f32, index, index, index) -> ()
  return
}

// -----

func.func @source_count(%m: memref<4x4xf32>, %i: index) {
  // expected-error@+1 {{'memref.dma_start' op expected at least 6 operands}}
  "memref.dma_start"(%m, %i, %i, %i) : (memref<4x4xf32>, index, index, index) -> ()
  return
}

// -----

func.func @source_index(%m: memref<4xf32>, %i: index, %f: f32) {
  // expected-error@+1 {{'memref.dma_start' op expected source indices to be of index type}}
  "memref.dma_start"(%m, %f, %m, %i, %i, %m, %i) : (memref<4xf32>, f32, memref<4xf32>, index, index, memref<4xf32>, index) -> ()
  return
}

// -----

func.func @target(%m: memref<f32>, %i: index) {
  // expected-error@+1 {{'memref.dma_start' op expected destination to be of memref type}}
  "memref.dma_start"(%m, %i, %i, %i) : (memref<f32>, index, index, index) -> ()
  return
}

// -----

func.func @target_count(%m: memref<4xf32>, %i: index) {
  // expected-error@+1 {{'memref.dma_start' op expected at least 6 operands}}
  "memref.dma_start"(%m, %i, %m, %i, %i) : (memref<4xf32>, index, memref<4xf32>, index, index) -> ()
  return
}

// -----

func.func @target_index(%m: memref<4xf32>, %i: index, %f: f32) {
  // expected-error@+1 {{'memref.dma_start' op expected destination indices to be of index type}}
  "memref.dma_start"(%m, %i, %m, %f, %i, %m, %i) : (memref<4xf32>, index, memref<4xf32>, f32, index, memref<4xf32>, index) -> ()
  return
}

// -----

func.func @count(%m: memref<f32>, %f: f32) {
  // expected-error@+1 {{'memref.dma_start' op expected num elements to be of index type}}
  "memref.dma_start"(%m, %m, %f, %m) : (memref<f32>, memref<f32>, f32, memref<f32>) -> ()
  return
}

// -----

func.func @tag(%m: memref<f32>, %i: index) {
  // expected-error@+1 {{'memref.dma_start' op expected tag to be of memref type}}
  "memref.dma_start"(%m, %m, %i, %i) : (memref<f32>, memref<f32>, index, index) -> ()
  return
}

// -----

func.func @tag_count(%m: memref<f32>, %t: memref<4xi32>, %i: index) {
  // expected-error@+1 {{'memref.dma_start' op expected at least 5 operands}}
  "memref.dma_start"(%m, %m, %i, %t) : (memref<f32>, memref<f32>, index, memref<4xi32>) -> ()
  return
}

// -----

func.func @tag_index(%m: memref<f32>, %t: memref<4xi32>, %i: index, %f: f32) {
  // expected-error@+1 {{'memref.dma_start' op expected tag indices to be of index type}}
  "memref.dma_start"(%m, %m, %i, %t, %f) : (memref<f32>, memref<f32>, index, memref<4xi32>, f32) -> ()
  return
}

// -----

func.func @odd(%m: memref<f32>, %i: index) {
  // expected-error@+1 {{'memref.dma_start' op incorrect number of operands}}
  "memref.dma_start"(%m, %m, %i, %m, %i) : (memref<f32>, memref<f32>, index, memref<f32>, index) -> ()
  return
}

// -----

func.func @stride(%m: memref<f32>, %i: index, %f: f32) {
  // expected-error@+1 {{'memref.dma_start' op expected stride and num elements per stride to be of type index}}
  "memref.dma_start"(%m, %m, %i, %m, %i, %f) : (memref<f32>, memref<f32>, index, memref<f32>, index, f32) -> ()
  return
}

// -----

func.func @wait(%t: memref<4xi32>, %i: index) {
  // expected-error@+1 {{'memref.dma_wait' op expected tagIndices to have the same number of elements as the tagMemRef rank, expected 1, but got 0}}
  memref.dma_wait %t[], %i : memref<4xi32>
  return
}

// -----

func.func @one_stride(%m: memref<f32>, %i: index) {
  // expected-error@+1 {{expected two stride related operands}}
  memref.dma_start %m[], %m[], %i, %m[], %i : memref<f32>, memref<f32>, memref<f32>
  return
}

// -----

func.func @types(%m: memref<f32>, %i: index) {
  // expected-error@+1 {{fewer/more types expected}}
  memref.dma_start %m[], %m[], %i, %m[] : memref<f32>, memref<f32>
  return
}
