// RUN: gradus opt %s --pass-pipeline='func.func(cse)' --verify-diagnostics

// expected-error@+1 {{the pipeline runs on 'func.func', but this is 'builtin.module'}}
module {
}
