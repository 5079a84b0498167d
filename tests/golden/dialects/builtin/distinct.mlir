// RUN: gradus opt %s --allow-unregistered-dialect

// Distinct attributes are numbered in print order; those with equal contents stay distinct.
"t.distinct"() {a = distinct[7]<42 : i32>, b = distinct[3]<42 : i32>, c = distinct[7]<42 : i32>, d = distinct[0]<>} : () -> ()
