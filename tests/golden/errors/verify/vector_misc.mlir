// RUN: gradus opt %s

func.func @f(%mv: memref<?xvector<4xf32>>) {
  // expected-error@+1 {{operand #0 must be , but got 'memref<?xvector<4xf32>>'}}
  vector.print %mv : memref<?xvector<4xf32>>
  return
}

// -----

func.func @f(%s: f32) {
  // expected-error@+1 {{failed to verify that `source` or `punctuation` are not set when printing strings}}
  vector.print %s : f32 str "abc"
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{expected one of: no_punctuation, newline, comma, open, close}}
  vector.print punctuation <foo>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %sc: vector<[4]xf32>) {
  // expected-error@+1 {{failed to verify that position is a multiple of the source length.}}
  %a = vector.scalable.insert %v4, %sc[2] : vector<4xf32> into vector<[4]xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{operand #1 must be  of ranks 1, but got 'vector<4xf32>'}}
  %a = vector.scalable.insert %v4, %v4[0] : vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%sc: vector<[4]xf32>) {
  // expected-error@+1 {{failed to verify that position is a multiple of the result length.}}
  %a = vector.scalable.extract %sc[2] : vector<4xf32> from vector<[4]xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{operand #0 must be  of ranks 1, but got 'vector<4xf32>'}}
  %a = vector.scalable.extract %v4[0] : vector<4xf32> from vector<4xf32>
  return
}

// -----

func.func @f(%sc: vector<[4]xf32>) {
  // expected-error@+1 {{failed to verify that all of {source, result} have same element type}}
  %a = vector.scalable.extract %sc[0] : vector<4xi32> from vector<[4]xf32>
  return
}
