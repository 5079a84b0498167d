// RUN: gradus opt %s --allow-unregistered-dialect

// Numbers count in the order of printing; equal contents stay apart.
"t.distinct"() {a = distinct[7]<42 : i32>, b = distinct[3]<42 : i32>, c = distinct[7]<42 : i32>, d = distinct[0]<>} : () -> ()
