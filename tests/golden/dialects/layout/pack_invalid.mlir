// RUN: gradus opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<1x12x5x5xf32>) {
  // expected-error@+1 {{'layout.pack' op inferred type 'tensor<1x2x5x5x8xf32>' is incompatible with the result's type 'tensor<1x3x5x5x8xf32>'}}
  %0 = layout.pack %x into <"NCHW8c"> : tensor<1x12x5x5xf32> -> tensor<1x3x5x5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x12x5x5xf32>) {
  // expected-error@+1 {{the tensor has no dimension 'D'}}
  %0 = layout.pack %x into <"NCDHW8c"> : tensor<1x12x5x5xf32> -> tensor<1x2x5x5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x12x5xf32>) {
  // expected-error@+1 {{4 letters or indices for 3 dimensions}}
  %0 = layout.pack %x into <"NCHW8c"> : tensor<1x12x5xf32> -> tensor<1x2x5x5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x12x5x5xi8>) {
  // expected-error@+1 {{padding 300 is not a value of 'i8'}}
  %0 = layout.pack %x into <"NCHW8c", pad = 300> : tensor<1x12x5x5xi8> -> tensor<1x2x5x5x8xi8>
  return
}

// -----

func.func @f(%x: tensor<1x2x5x5x8xf32>) {
  // expected-error@+1 {{'tensor<1x17x5x5xf32>' packs into 'tensor<1x3x5x5x8xf32>', not 'tensor<1x2x5x5x8xf32>'}}
  %0 = layout.unpack %x from <"NCHW8c"> : tensor<1x2x5x5x8xf32> -> tensor<1x17x5x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x12x5x5xf32>) {
  // expected-error@+1 {{duplicate dimension 'C'}}
  %0 = layout.pack %x into <"NCCW8c"> : tensor<1x12x5x5xf32> -> tensor<1x2x5x5x8xf32>
  return
}
