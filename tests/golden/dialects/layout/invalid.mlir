// RUN: gradus opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{unknown attribute `tile` in dialect `layout`}}
func.func private @f() attributes {a = #layout.tile<"HWC">}

// -----

// expected-error@+1 {{expected '<'}}
func.func private @f() attributes {a = #layout.tiled}

// -----

// expected-error@+1 {{expected a layout string such as "NCHW8c"}}
func.func private @f() attributes {a = #layout.tiled<NCHW>}

// -----

// expected-error@+1 {{dimension 'C' is there twice}}
func.func private @f() attributes {a = #layout.tiled<"NCHWC">}

// -----

// expected-error@+1 {{a tile of 'K' without a dimension 'K'}}
func.func private @f() attributes {a = #layout.tiled<"NCHW8k">}

// -----

// expected-error@+1 {{expected the size of the tile before 'c'}}
func.func private @f() attributes {a = #layout.tiled<"NCHWc">}

// -----

// expected-error@+1 {{expected a small letter after the size of a tile, got 'C'}}
func.func private @f() attributes {a = #layout.tiled<"NCHW8C">}

// -----

// expected-error@+1 {{expected a letter after the size of a tile}}
func.func private @f() attributes {a = #layout.tiled<"NCHW8">}

// -----

// expected-error@+1 {{expected a letter for a dimension, got '?'}}
func.func private @f() attributes {a = #layout.tiled<"NCHW?">}

// -----

// expected-error@+1 {{the size of a tile begins with a digit that is not zero}}
func.func private @f() attributes {a = #layout.tiled<"NCHW0c">}

// -----

// expected-error@+1 {{the size of a tile is too large}}
func.func private @f() attributes {a = #layout.tiled<"NCHW100000000000000000000c">}

// -----

// expected-error@+1 {{the tiles hold more elements than can be addressed}}
func.func private @f() attributes {a = #layout.tiled<"NCHW4000000000c4000000000w">}

// -----

// expected-error@+1 {{expected 'pad'}}
func.func private @f() attributes {a = #layout.tiled<"NCHW8c", fill = 0>}

// -----

// expected-error@+1 {{expected a number or 'inf' as padding}}
func.func private @f() attributes {a = #layout.tiled<"NCHW8c", pad = nan>}

// -----

// expected-error@+1 {{expected ','}}
func.func private @f() attributes {a = #layout.tiled<"NCHW8c" 0>}

// -----

// expected-error@+1 {{#layout.tiled has no type}}
func.func private @f() attributes {a = #layout.tiled<"NCHW8c"> : i32}
