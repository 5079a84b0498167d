func.func @sum(%x: vector<4xi32>, %acc: vector<4xi32>) -> vector<4xi32> {
  %r = vector.multi_reduction <add>, %x, %acc [] : vector<4xi32> to vector<4xi32>
  return %r : vector<4xi32>
}
