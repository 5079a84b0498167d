// RUN: gradus opt %s --allow-unregistered-dialect

// A module's body is a graph: values may be used before they are defined.
"t.use"(%later) : (i32) -> ()
%later = "t.make"() : () -> i32
"t.region"() ({
  "t.use"(%x) : (i8) -> ()
  %x = "t.make"() : () -> i8
}) : () -> ()
