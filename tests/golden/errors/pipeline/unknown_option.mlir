// RUN: gradus opt %s --cse=speed=9 --verify-diagnostics

// expected-error@unknown {{<Pass-Options-Parser>: no such option speed}}
module {
}
