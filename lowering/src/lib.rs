//! Gradus's lowerings: the edges between the languages that it knows.
//!
//! Each edge is one file, named `from_to`, and holds everything about that step: [`onnx_to_graph`] reads an ONNX model
//! as a program of the `graph` dialect. What belongs to a format rather than to an edge, such as the messages of an
//! ONNX file, is in a module named after the format.

pub mod onnx;
pub mod onnx_to_graph;
