// RUN: gradus opt %s --pass-pipeline=cse

// expected-error@unknown {{expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'}}
module {
}
