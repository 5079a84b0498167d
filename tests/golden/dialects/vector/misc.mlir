// RUN: gradus opt %s

func.func @print(%v: vector<4xf32>, %s: i32) {
  vector.print %v : vector<4xf32>
  vector.print %s : i32 punctuation <comma>
  vector.print punctuation <open>
  vector.print
  vector.print str "sum: "
  vector.print %v : vector<4xf32> {note}
  return
}
func.func @machine(%v: vector<[8]xf32>, %p: vector<4xf32>) -> (vector<[4]xf32>, vector<[8]xf32>, index) {
  %0 = vector.scalable.extract %v[4] : vector<[4]xf32> from vector<[8]xf32>
  %1 = vector.scalable.insert %p, %v[4] : vector<4xf32> into vector<[8]xf32>
  %2 = vector.vscale
  return %0, %1, %2 : vector<[4]xf32>, vector<[8]xf32>, index
}
func.func @scaled() -> (index, index) {
  %c8 = arith.constant 8 : index
  %vscale = vector.vscale
  %c8_vscale = arith.muli %vscale, %c8 : index
  %c8_vscale_0 = arith.muli %c8, %vscale : index
  return %c8_vscale, %c8_vscale_0 : index, index
}
