// RUN: gradus opt %s --pass-pipeline='func.func(cse)' --verify-diagnostics

// expected-error@+1 {{can't run 'func.func' pass manager on 'builtin.module' op}}
module {
}
