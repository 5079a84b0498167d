// RUN: gradus opt %s

func.func @ints(%a: i8, %b: i8) -> (i1, i1, i1, i1, i1, i1, i1, i1, i1, i1) {
  %0 = arith.cmpi eq, %a, %b : i8
  %1 = arith.cmpi ne, %a, %b : i8
  %2 = arith.cmpi slt, %a, %b : i8
  %3 = arith.cmpi sle, %a, %b : i8
  %4 = arith.cmpi sgt, %a, %b : i8
  %5 = arith.cmpi sge, %a, %b : i8
  %6 = arith.cmpi ult, %a, %b : i8
  %7 = arith.cmpi ule, %a, %b : i8
  %8 = arith.cmpi ugt, %a, %b : i8
  %9 = arith.cmpi uge, %a, %b : i8
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : i1, i1, i1, i1, i1, i1, i1, i1, i1, i1
}
func.func @floats(%a: f32, %b: f32) -> (i1, i1, i1, i1, i1, i1, i1, i1) {
  %0 = arith.cmpf oeq, %a, %b : f32
  %1 = arith.cmpf ogt, %a, %b : f32
  %2 = arith.cmpf ole, %a, %b fastmath<nnan> : f32
  %3 = arith.cmpf one, %a, %b : f32
  %4 = arith.cmpf ord, %a, %b : f32
  %5 = arith.cmpf une, %a, %b : f32
  %6 = arith.cmpf uno, %a, %b : f32
  %7 = arith.cmpf true, %a, %b : f32
  return %0, %1, %2, %3, %4, %5, %6, %7 : i1, i1, i1, i1, i1, i1, i1, i1
}
func.func @select(%c: i1, %a: f32, %b: f32, %v: vector<2xi1>, %x: vector<2xi8>, %y: vector<2xi8>)
    -> (f32, vector<2xi8>, vector<2xi8>) {
  %0 = arith.select %c, %a, %b : f32
  %1 = arith.select %v, %x, %y : vector<2xi1>, vector<2xi8>
  %2 = arith.select %c, %x, %y : vector<2xi8>
  return %0, %1, %2 : f32, vector<2xi8>, vector<2xi8>
}
