// RUN: gradus opt %s --allow-unregistered-dialect

// The body of a module is a graph region: a use may precede its definition.
"t.use"(%later) : (i32) -> ()
%later = "t.make"() : () -> i32
"t.region"() ({
  "t.use"(%x) : (i8) -> ()
  %x = "t.make"() : () -> i8
}) : () -> ()
