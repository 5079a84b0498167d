// RUN: gradus opt %s

func.func @assert(%c: i1, %x: i32) -> i32 {
  cf.assert %c, "c must hold"
  cf.assert %c, "with \22quotes\22" {note = "kept"}
  return %x : i32
}
