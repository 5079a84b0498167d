// RUN: gradus opt %s --cse=speed=9 --verify-diagnostics

// expected-error@unknown {{pass 'cse' has no option 'speed'}}
module {
}
