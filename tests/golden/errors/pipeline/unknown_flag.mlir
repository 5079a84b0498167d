// RUN: not gradus opt %s --cze 2>&1 | FileCheck %s

// CHECK: error: unexpected argument '--cze' found
// CHECK: tip: a similar argument exists: '--cse'
module {
}
