func.func @sum(%v: vector<1x1xi32>, %acc: vector<1xi32>, %m: vector<1x1xi1>) -> vector<1xi32> {
  %0 = vector.mask %m { vector.multi_reduction <add>, %v, %acc [1] : vector<1x1xi32> to vector<1xi32> } : vector<1x1xi1> -> vector<1xi32>
  return %0 : vector<1xi32>
}
