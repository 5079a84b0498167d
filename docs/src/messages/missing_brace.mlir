func.func @f(%x: i32) -> i32 {
  %c = arith.cmpi slt, %x, %x : i32
  scf.if %c {
    func.call @g() : () -> ()
  return %x : i32
}
func.func private @g()
