// RUN: gradus opt %s --allow-unregistered-dialect

// Aliases are expanded where they were used; affine maps get names of their own, in the order of their first use.
#map_of_mine = affine_map<(d0, d1) -> (d1, d0)>
#set = affine_set<(d0)[s0] : (d0 - s0 >= 0)>
#other = affine_map<(d0) -> (d0 + 1)>
!pair = tuple<i32, f32>
"t.use"() {b = #other, a = #map_of_mine, s = #set, again = #map_of_mine} : () -> !pair

// -----

// An alias of a dialect's own attribute or type keeps its name.
#note = #foo.note<"a" : i32>
!handle = !foo.handle<4, "x">
"t.use"() {a = #note, l = [#note, #note]} : () -> !handle
