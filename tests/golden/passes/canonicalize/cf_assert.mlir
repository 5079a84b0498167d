// RUN: gradus opt %s --canonicalize

func.func @holds(%c: i1) {
  %true = arith.constant true
  %false = arith.constant false
  cf.assert %true, "dropped"
  cf.assert %c, "kept"
  cf.assert %c, "kept, too"
  cf.assert %false, "always fails"
  return
}
