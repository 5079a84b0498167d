//! External programs and models; `conformance/README.md` lists their sources.
//!
//! The corpora are read from their archives into memory. A test runs all its cases, on all cores, and lists the
//! failures.

#![allow(clippy::print_stdout, reason = "counts, which the harness shows with --nocapture or a failure")]

#[path = "conformance/arith.rs"]
mod arith;
#[path = "conformance/corpus.rs"]
mod corpus;
#[path = "conformance/hostile.rs"]
mod hostile;
#[path = "conformance/mlir.rs"]
mod mlir;
#[path = "conformance/onnx.rs"]
mod onnx;
#[path = "conformance/onnx_coverage.rs"]
mod onnx_coverage;
#[path = "conformance/onnx_cpu.rs"]
mod onnx_cpu;
mod support;
