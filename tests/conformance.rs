//! External programs and models; `conformance/README.md` lists their sources.
//!
//! The corpora are read from their archives into memory. A test runs all its cases, on all cores, and lists the
//! failures.

#![allow(clippy::print_stdout, reason = "counts, which the harness shows with --nocapture or a failure")]

mod arith;
mod corpus;
mod hostile;
mod mlir;
mod onnx;
mod onnx_coverage;
mod onnx_cpu;
