// RUN: gradus opt %s --split-input-file --verify-diagnostics

// `affine.dma_start` and `affine.dma_wait`.
func.func @types(%a: memref<4xf32>, %t: memref<1xi32>, %n: index) {
  // expected-error@+1 {{custom op 'affine.dma_start' expected three types}}
  affine.dma_start %a[%n], %a[%n], %t[0], %n : memref<4xf32>, memref<4xf32>
  return
}

// -----

func.func @strides(%a: memref<4xf32>, %t: memref<1xi32>, %n: index) {
  // expected-error@+1 {{custom op 'affine.dma_start' expected two stride related operands}}
  affine.dma_start %a[%n], %a[%n], %t[0], %n, %n : memref<4xf32>, memref<4xf32>, memref<1xi32>
  return
}

// -----

func.func @source(%a: index, %b: memref<4xf32>, %t: memref<1xi32>, %n: index) {
  // expected-error@+1 {{expected DMA source to be of memref type}}
  "affine.dma_start"(%a, %n, %b, %n, %t, %n, %n) {dst_map = affine_map<(d0) -> (d0)>, src_map = affine_map<(d0) -> (d0)>, tag_map = affine_map<(d0) -> (d0)>} : (index, index, memref<4xf32>, index, memref<1xi32>, index, index) -> ()
  return
}

// -----

func.func @target(%a: index, %b: memref<4xf32>, %t: memref<1xi32>, %n: index) {
  // expected-error@+1 {{expected DMA destination to be of memref type}}
  "affine.dma_start"(%b, %n, %a, %n, %t, %n, %n) {dst_map = affine_map<(d0) -> (d0)>, src_map = affine_map<(d0) -> (d0)>, tag_map = affine_map<(d0) -> (d0)>} : (memref<4xf32>, index, index, index, memref<1xi32>, index, index) -> ()
  return
}

// -----

func.func @tag(%a: index, %b: memref<4xf32>, %n: index) {
  // expected-error@+1 {{expected DMA tag to be of memref type}}
  "affine.dma_start"(%b, %n, %b, %n, %a, %n, %n) {dst_map = affine_map<(d0) -> (d0)>, src_map = affine_map<(d0) -> (d0)>, tag_map = affine_map<(d0) -> (d0)>} : (memref<4xf32>, index, memref<4xf32>, index, index, index, index) -> ()
  return
}

// -----

func.func @index_type(%b: memref<4xf32>, %t: memref<1xi32>, %n: index, %i: i32) {
  // expected-error@+1 {{src index to dma_start must have 'index' type}}
  "affine.dma_start"(%b, %i, %b, %n, %t, %n, %n) {dst_map = affine_map<(d0) -> (d0)>, src_map = affine_map<(d0) -> (d0)>, tag_map = affine_map<(d0) -> (d0)>} : (memref<4xf32>, i32, memref<4xf32>, index, memref<1xi32>, index, index) -> ()
  return
}

// -----

func.func @source_index(%m: memref<4xindex>, %t: memref<1xi32>, %n: index) {
  affine.for %i = 0 to 4 {
    %j = affine.load %m[%i] : memref<4xindex>
    // expected-error@+1 {{src index must be a valid dimension or symbol identifier}}
    affine.dma_start %m[%j], %m[%i], %t[0], %n : memref<4xindex>, memref<4xindex>, memref<1xi32>
  }
  return
}

// -----

func.func @target_index(%m: memref<4xindex>, %t: memref<1xi32>, %n: index) {
  affine.for %i = 0 to 4 {
    %j = affine.load %m[%i] : memref<4xindex>
    // expected-error@+1 {{dst index must be a valid dimension or symbol identifier}}
    affine.dma_start %m[%i], %m[%j], %t[0], %n : memref<4xindex>, memref<4xindex>, memref<1xi32>
  }
  return
}

// -----

func.func @tag_index(%m: memref<4xindex>, %t: memref<4xi32>, %n: index) {
  affine.for %i = 0 to 4 {
    %j = affine.load %m[%i] : memref<4xindex>
    // expected-error@+1 {{tag index must be a valid dimension or symbol identifier}}
    affine.dma_start %m[%i], %m[%i], %t[%j], %n : memref<4xindex>, memref<4xindex>, memref<4xi32>
  }
  return
}

// -----

func.func @wait_types(%t: memref<1xi32>, %n: index) {
  // expected-error@+1 {{custom op 'affine.dma_wait' expected one type}}
  affine.dma_wait %t[0], %n : memref<1xi32>, memref<1xi32>
  return
}

// -----

func.func @wait_tag(%t: index, %n: index) {
  // expected-error@+1 {{expected DMA tag to be of memref type}}
  "affine.dma_wait"(%t, %n, %n) {tag_map = affine_map<(d0) -> (d0)>} : (index, index, index) -> ()
  return
}

// -----

func.func @wait_index(%m: memref<4xindex>, %t: memref<4xi32>, %n: index) {
  affine.for %i = 0 to 4 {
    %j = affine.load %m[%i] : memref<4xindex>
    // expected-error@+1 {{index must be a valid dimension or symbol identifier}}
    affine.dma_wait %t[%j], %n : memref<4xi32>
  }
  return
}
