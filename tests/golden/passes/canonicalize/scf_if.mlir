// RUN: gradus opt %s --canonicalize

func.func @known(%a: i32, %b: i32, %c: i1) -> i32 {
  %true = arith.constant true
  %false = arith.constant false
  %0 = scf.if %true -> i32 {
    cf.assert %c, "then"
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  %1 = scf.if %false -> i32 {
    scf.yield %a : i32
  } else {
    cf.assert %c, "else"
    %2 = arith.addi %0, %b : i32
    scf.yield %2 : i32
  }
  scf.if %false {
    cf.assert %c, "never"
  }
  return %1 : i32
}

func.func @condition_inside(%c: i1, %d: i1, %e: i1) -> i1 {
  %0 = scf.if %c -> i1 {
    cf.assert %d, "then"
    scf.if %c {
      cf.assert %e, "then then"
    }
    %1 = arith.andi %d, %c : i1
    scf.yield %1 : i1
  } else {
    scf.if %c {
      cf.assert %e, "never"
    }
    cf.assert %d, "else"
    scf.yield %c : i1
  }
  return %0 : i1
}

func.func @select(%c: i1, %d: i1, %a: i32, %b: i32) -> (i32, i32, i1, i1) {
  %true = arith.constant true
  %false = arith.constant false
  %0:4 = scf.if %c -> (i32, i32, i1, i1) {
    cf.assert %d, "then"
    %1 = arith.muli %a, %b : i32
    scf.yield %a, %1, %true, %false : i32, i32, i1, i1
  } else {
    scf.yield %b, %a, %false, %true : i32, i32, i1, i1
  }
  return %0#0, %0#1, %0#2, %0#3 : i32, i32, i1, i1
}

func.func @select_all(%c: i1, %a: i32, %b: i32) -> i32 {
  %0 = scf.if %c -> i32 {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  return %0 : i32
}

func.func @empty_else(%c: i1, %d: i1) {
  scf.if %c {
    cf.assert %d, "then"
  } else {
  }
  return
}

func.func @empty_then(%c: i1, %d: i1) {
  scf.if %c {
  } else {
    cf.assert %d, "else"
  }
  return
}

func.func @negated(%c: i1, %d: i1) {
  %true = arith.constant true
  %not = arith.xori %c, %true : i1
  scf.if %not {
    cf.assert %d, "if not"
  } else {
    cf.assert %d, "if so"
  }
  return
}

func.func @negated_without_else(%c: i1, %d: i1) {
  %true = arith.constant true
  %not = arith.xori %c, %true : i1
  scf.if %not {
    cf.assert %d, "if not"
  }
  return
}

// Two consecutive `scf.if` on one condition are merged; the second uses results of the first.
func.func @combine(%c: i1, %d: i1, %a: i32, %b: i32) -> (i32, i32) {
  %0 = scf.if %c -> i32 {
    cf.assert %d, "first then"
    %1 = arith.addi %a, %b : i32
    scf.yield %1 : i32
  } else {
    scf.yield %b : i32
  }
  %2 = scf.if %c -> i32 {
    cf.assert %d, "second then"
    %3 = arith.muli %0, %0 : i32
    scf.yield %3 : i32
  } else {
    cf.assert %d, "second else"
    %4 = arith.muli %0, %a : i32
    scf.yield %4 : i32
  }
  return %0, %2 : i32, i32
}

func.func @combine_opposite(%c: i1, %d: i1, %a: i32, %b: i32) -> i32 {
  %true = arith.constant true
  %not = arith.xori %c, %true : i1
  %0 = scf.if %c -> i32 {
    cf.assert %d, "first then"
    %1 = arith.addi %a, %b : i32
    scf.yield %1 : i32
  } else {
    scf.yield %b : i32
  }
  scf.if %not {
    cf.assert %d, "second then"
    %2 = arith.cmpi eq, %0, %a : i32
    cf.assert %2, "with what the first results in"
  }
  return %0 : i32
}

func.func @combine_without_results(%c: i1, %d: i1, %e: i1) {
  scf.if %c {
    cf.assert %d, "first then"
  }
  scf.if %c {
    cf.assert %e, "second then"
  } else {
    cf.assert %d, "second else"
  }
  return
}

func.func @nested(%c: i1, %d: i1, %e: i1) {
  scf.if %c {
    scf.if %d {
      cf.assert %e, "both"
    }
  }
  return
}

func.func @nested_with_results(%c: i1, %d: i1, %e: i1, %a: i32, %b: i32) -> i32 {
  %0 = scf.if %c -> i32 {
    %1 = scf.if %d -> i32 {
      cf.assert %e, "both"
      %2 = arith.muli %a, %b : i32
      scf.yield %2 : i32
    } else {
      scf.yield %b : i32
    }
    scf.yield %1 : i32
  } else {
    scf.yield %b : i32
  }
  return %0 : i32
}

// Not merged: the else branches yield different values.
func.func @nested_but_different(%c: i1, %d: i1, %e: i1, %a: i32, %b: i32) -> i32 {
  %0 = scf.if %c -> i32 {
    %1 = scf.if %d -> i32 {
      cf.assert %e, "both"
      %2 = arith.muli %a, %b : i32
      scf.yield %2 : i32
    } else {
      scf.yield %a : i32
    }
    scf.yield %1 : i32
  } else {
    scf.yield %b : i32
  }
  return %0 : i32
}
