// RUN: gradus opt %s --cse=speed=9

// expected-error@unknown {{<Pass-Options-Parser>: no such option speed}}
module {
}
