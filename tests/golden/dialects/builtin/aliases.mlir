// RUN: gradus opt %s --allow-unregistered-dialect --split-input-file | FileCheck %s
// NOTE: 'gradus update-checks' writes the directives in this file

// Aliases in the input are expanded at their uses; the printer creates aliases for affine maps, numbered by first use.
#map_of_mine = affine_map<(d0, d1) -> (d1, d0)>
#set = affine_set<(d0)[s0] : (d0 - s0 >= 0)>
#other = affine_map<(d0) -> (d0 + 1)>
!pair = tuple<i32, f32>
"t.use"() {b = #other, a = #map_of_mine, s = #set, again = #map_of_mine} : () -> !pair
// CHECK:       [[$MAP:#.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-NEXT:  [[$MAP1:#.*]] = affine_map<(d0) -> (d0 + 1)>
// CHECK-NEXT:  [[$SET:#.*]] = affine_set<(d0)[s0] : (d0 - s0 >= 0)>
// CHECK:       [[V0:%.*]] = "t.use"() {a = [[$MAP]], again = [[$MAP]], b = [[$MAP1]], s = [[$SET]]} : () -> tuple<i32, f32>

// -----

// Aliases of dialect attributes and types keep their names.
#note = #foo.note<"a" : i32>
!handle = !foo.handle<4, "x">
"t.use"() {a = #note, l = [#note, #note]} : () -> !handle
// CHECK:       [[$HANDLE:!.*]] = !foo.handle<4, "x">
// CHECK-NEXT:  [[$NOTE:#.*]] = #foo.note<"a" : i32>
// CHECK:       [[V0:%.*]] = "t.use"() {a = [[$NOTE]], l = [[[$NOTE]], [[$NOTE]]]} : () -> [[$HANDLE]]
