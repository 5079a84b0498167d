// RUN: gradus opt %s

func.func @never() {
  ub.unreachable
}

func.func @sometimes(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^never, ^always
^never:
  ub.unreachable {note}
^always:
  return %x : i32
}
