// RUN: gradus opt %s

func.func @results(%c: i1, %x: i32, %y: i32) -> (i32, i32) {
  %0:2 = scf.if %c -> (i32, i32) {
    %1 = arith.divsi %x, %y : i32
    scf.yield %1, %x : i32, i32
  } else {
    %2 = arith.muli %x, %y : i32
    scf.yield %2, %y : i32, i32
  } {note = "kept"}
  return %0#0, %0#1 : i32, i32
}

func.func @one_result_type(%c: i1, %x: i32) -> i32 {
  %0 = scf.if %c -> i32 {
    %1 = arith.addi %x, %x : i32
    scf.yield %1 : i32
  } else {
    scf.yield %x : i32
  }
  return %0 : i32
}

func.func @no_results(%c: i1, %d: i1) {
  scf.if %c {
    cf.assert %d, "then"
  }
  scf.if %c {
    cf.assert %d, "then"
    scf.yield
  } else {
    cf.assert %d, "else"
  }
  scf.if %d {
  } else {
    cf.assert %c, "else only"
  }
  return
}

func.func @generic(%c: i1, %x: i32) -> i32 {
  %0 = "scf.if"(%c) ({
    "scf.yield"(%x) : (i32) -> ()
  }, {
    %c1 = arith.constant 1 : i32
    "scf.yield"(%c1) : (i32) -> ()
  }) : (i1) -> i32
  "scf.if"(%c) ({
    scf.yield
  }, {
  }) : (i1) -> ()
  return %0 : i32
}
