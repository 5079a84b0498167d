// RUN: gradus opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{unknown attribute `tile` in dialect `layout`}}
func.func private @f() attributes {a = #layout.tile<"HWC">}

// -----

// expected-error@+1 {{expected '<'}}
func.func private @f() attributes {a = #layout.tiled}

// -----

// expected-error@+1 {{expected string attribute for parameter 'order'}}
func.func private @f() attributes {a = #layout.tiled<NCHW>}

// -----

// expected-error@+1 {{duplicate dimension 'C'}}
func.func private @f() attributes {a = #layout.tiled<"NCHWC">}

// -----

// expected-error@+1 {{a tile of 'K' without a dimension 'K'}}
func.func private @f() attributes {a = #layout.tiled<"NCHW8k">}

// -----

// expected-error@+1 {{expected a tile size before 'c'}}
func.func private @f() attributes {a = #layout.tiled<"NCHWc">}

// -----

// expected-error@+1 {{expected a small letter after the tile size, got 'C'}}
func.func private @f() attributes {a = #layout.tiled<"NCHW8C">}

// -----

// expected-error@+1 {{expected a letter after the tile size}}
func.func private @f() attributes {a = #layout.tiled<"NCHW8">}

// -----

// expected-error@+1 {{expected a letter for a dimension, got '?'}}
func.func private @f() attributes {a = #layout.tiled<"NCHW?">}

// -----

// expected-error@+1 {{a tile size must not start with 0}}
func.func private @f() attributes {a = #layout.tiled<"NCHW0c">}

// -----

// expected-error@+1 {{tile size is too large}}
func.func private @f() attributes {a = #layout.tiled<"NCHW100000000000000000000c">}

// -----

// expected-error@+1 {{the product of the tile sizes is too large}}
func.func private @f() attributes {a = #layout.tiled<"NCHW4000000000c4000000000w">}

// -----

// expected-error@+1 {{'layout.tiled' has no optional parameter 'fill'}}
func.func private @f() attributes {a = #layout.tiled<"NCHW8c", fill = 0>}

// -----

// expected-error@+1 {{expected a number or 'inf'}}
func.func private @f() attributes {a = #layout.tiled<"NCHW8c", pad = nan>}

// -----

// expected-error@+1 {{expected ','}}
func.func private @f() attributes {a = #layout.tiled<"NCHW8c" 0>}

// -----

// expected-error@+1 {{#layout.tiled has no type}}
func.func private @f() attributes {a = #layout.tiled<"NCHW8c"> : i32}
