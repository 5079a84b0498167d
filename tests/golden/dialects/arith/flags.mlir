// RUN: gradus opt %s
// Flags are printed in the order of their declaration, each once.

func.func @overflow(%a: i32) -> i32 {
  %0 = arith.addi %a, %a overflow<nuw, nsw> : i32
  %1 = arith.muli %0, %a overflow<nsw,nsw> : i32
  %2 = "arith.subi"(%1, %a) <{overflowFlags = #arith.overflow<nuw,nsw>}> : (i32, i32) -> i32
  return %2 : i32
}

func.func @fastmath(%a: f32) -> f32 {
  %0 = arith.addf %a, %a fastmath<nnan, reassoc> : f32
  %1 = arith.addf %0, %a fastmath<contract,arcp,none> : f32
  %2 = arith.addf %1, %a fastmath<reassoc,nnan,ninf,nsz,arcp,contract,afn> : f32
  %3 = arith.addf %2, %a fastmath<nnan,fast> : f32
  return %3 : f32
}
