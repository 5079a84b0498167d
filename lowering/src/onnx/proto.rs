//! The ONNX messages an importer needs, as plain structs for [`prost`].
//!
//! They are written by hand, so that building Gradus needs neither `protoc` nor a build script. Field numbers are those
//! of `onnx.proto3`; what is absent here (training info, device placement, sharding, per-value metadata, quantization
//! annotations) carries no meaning for inference and is skipped while decoding.
//!
//! Decoding is safe on hostile bytes: prost limits the nesting to 100 messages and never believes a length that the
//! buffer cannot hold. Memory stays within a constant factor of the input, which is large in the worst case (an empty
//! message costs two bytes of input and its whole struct in memory), so the rarely used parts of [`AttributeProto`] are
//! boxed. Payloads are [`Bytes`]: slices of the buffer that was decoded, not copies.

use bytes::{Buf, Bytes};
use prost::{Enumeration, Message, Oneof};
use std::fmt;

/// Bytes that are not an ONNX message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecodeError {
    /// The message that was read: `model` or `tensor`.
    pub message: &'static str,
    /// Roughly the byte at which decoding stopped.
    pub offset: usize,
    /// Number of bytes.
    pub total: usize,
    /// The reason, with the path of the field.
    pub reason: prost::DecodeError,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DecodeError { message, offset, total, reason } = self;
        write!(f, "invalid ONNX {message} near byte {offset} of {total}: {reason}")
    }
}

gradus_ir::declared_error!(DecodeError);

/// Decodes a model. The payloads of its tensors share `bytes`.
///
/// # Errors
/// The bytes are no model. Only the encoding is checked, not whether the model makes sense: no bytes at all are a model
/// without a graph.
pub fn decode_model(bytes: Bytes) -> Result<ModelProto, DecodeError> {
    decode(bytes, "model")
}

/// Decodes a lone tensor, as ONNX's test data stores one per `.pb` file. Errors as [`decode_model`] does.
pub fn decode_tensor(bytes: Bytes) -> Result<TensorProto, DecodeError> {
    decode(bytes, "tensor")
}

fn decode<M: Message + Default>(mut bytes: Bytes, message: &'static str) -> Result<M, DecodeError> {
    let total = bytes.len();
    let mut decoded = M::default();
    match decoded.merge(&mut bytes) {
        Ok(()) => Ok(decoded),
        Err(reason) => Err(DecodeError { message, offset: total - bytes.remaining(), total, reason }),
    }
}

/// The file: a graph, the operator sets it is written against, and functions it may call.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// Version of the file format, not of the operators.
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    /// One entry per operator domain that the model uses.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// The tool that wrote the file.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// The version of that tool.
    #[prost(string, tag = "3")]
    pub producer_version: String,
    /// Reverse-DNS namespace of the model.
    #[prost(string, tag = "4")]
    pub domain: String,
    /// Version of the model itself.
    #[prost(int64, tag = "5")]
    pub model_version: i64,
    /// Free text.
    #[prost(string, tag = "6")]
    pub doc_string: String,
    /// The computation.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// Free key-value pairs.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
    /// Functions local to the model, which nodes call like operators.
    #[prost(message, repeated, tag = "25")]
    pub functions: Vec<FunctionProto>,
}

/// An operator domain and the version of it that is meant.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSetIdProto {
    /// The domain; empty and `ai.onnx` both mean the standard operators.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// The version of the domain's operator set.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// A graph of nodes in topological order.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// The nodes; each uses only values defined before it.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// Name of the graph.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Constants, by the name of the value they define.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// Sparse constants; the name is that of the `values` tensor.
    #[prost(message, repeated, tag = "15")]
    pub sparse_initializer: Vec<SparseTensorProto>,
    /// Free text.
    #[prost(string, tag = "10")]
    pub doc_string: String,
    /// Inputs; one that is also an initializer merely has a default.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// Outputs.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
    /// Types of values in between, as far as the producer knew them.
    #[prost(message, repeated, tag = "13")]
    pub value_info: Vec<ValueInfoProto>,
}

/// One operation.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// Names of the operands; an empty name is an optional operand left out.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Names of the results; an empty name is a result left out.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Name of the node, for diagnostics.
    #[prost(string, tag = "3")]
    pub name: String,
    /// The operator or function.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// The domain of the operator; empty for the standard ones.
    #[prost(string, tag = "7")]
    pub domain: String,
    /// Which overload of a function is meant.
    #[prost(string, tag = "8")]
    pub overload: String,
    /// Compile-time parameters.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// Free text.
    #[prost(string, tag = "6")]
    pub doc_string: String,
}

/// A named compile-time parameter. `type` says which of the other fields holds it.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    /// Name of the parameter.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Inside a function: the caller's attribute that supplies the value. Empty when the value is here.
    #[prost(string, tag = "21")]
    pub ref_attr_name: String,
    /// Free text.
    #[prost(string, tag = "13")]
    pub doc_string: String,
    /// Which field holds the value.
    #[prost(enumeration = "AttributeType", tag = "20")]
    pub r#type: i32,
    /// The value of a `Float`.
    #[prost(float, tag = "2")]
    pub f: f32,
    /// The value of an `Int`.
    #[prost(int64, tag = "3")]
    pub i: i64,
    /// The value of a `String`; nominally UTF-8.
    #[prost(bytes = "bytes", tag = "4")]
    pub s: Bytes,
    /// The value of a `Tensor`.
    #[prost(message, optional, boxed, tag = "5")]
    pub t: Option<Box<TensorProto>>,
    /// The value of a `Graph`, as the bodies of `If`, `Loop` and `Scan`.
    #[prost(message, optional, boxed, tag = "6")]
    pub g: Option<Box<GraphProto>>,
    /// The value of a `SparseTensor`.
    #[prost(message, optional, boxed, tag = "22")]
    pub sparse_tensor: Option<Box<SparseTensorProto>>,
    /// The value of a `TypeProto`.
    #[prost(message, optional, boxed, tag = "14")]
    pub tp: Option<Box<TypeProto>>,
    /// The value of `Floats`.
    #[prost(float, repeated, tag = "7")]
    pub floats: Vec<f32>,
    /// The value of `Ints`.
    #[prost(int64, repeated, tag = "8")]
    pub ints: Vec<i64>,
    /// The value of `Strings`.
    #[prost(bytes = "bytes", repeated, tag = "9")]
    pub strings: Vec<Bytes>,
    /// The value of `Tensors`.
    #[prost(message, repeated, tag = "10")]
    pub tensors: Vec<TensorProto>,
    /// The value of `Graphs`.
    #[prost(message, repeated, tag = "11")]
    pub graphs: Vec<GraphProto>,
    /// The value of `SparseTensors`.
    #[prost(message, repeated, tag = "23")]
    pub sparse_tensors: Vec<SparseTensorProto>,
    /// The value of `TypeProtos`.
    #[prost(message, repeated, tag = "15")]
    pub type_protos: Vec<TypeProto>,
}

/// The kind of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
#[allow(missing_docs, reason = "each is named after the field that it selects")]
pub enum AttributeType {
    Undefined = 0,
    Float = 1,
    Int = 2,
    String = 3,
    Tensor = 4,
    Graph = 5,
    SparseTensor = 11,
    TypeProto = 13,
    Floats = 6,
    Ints = 7,
    Strings = 8,
    Tensors = 9,
    Graphs = 10,
    SparseTensors = 12,
    TypeProtos = 14,
}

/// A function: a named, reusable list of nodes.
#[derive(Clone, PartialEq, Message)]
pub struct FunctionProto {
    /// The op type of nodes that call it, together with the domain and the overload.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Names of the parameters.
    #[prost(string, repeated, tag = "4")]
    pub input: Vec<String>,
    /// Names of the results.
    #[prost(string, repeated, tag = "5")]
    pub output: Vec<String>,
    /// Names of the attributes that a caller must give.
    #[prost(string, repeated, tag = "6")]
    pub attribute: Vec<String>,
    /// Attributes that have a default.
    #[prost(message, repeated, tag = "11")]
    pub attribute_proto: Vec<AttributeProto>,
    /// The body.
    #[prost(message, repeated, tag = "7")]
    pub node: Vec<NodeProto>,
    /// Free text.
    #[prost(string, tag = "8")]
    pub doc_string: String,
    /// The operator sets that the body is written against.
    #[prost(message, repeated, tag = "9")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// The domain of the function.
    #[prost(string, tag = "10")]
    pub domain: String,
    /// Distinguishes overloads: functions of the same name.
    #[prost(string, tag = "13")]
    pub overload: String,
    /// Types of values in the body, as far as the producer knew them.
    #[prost(message, repeated, tag = "12")]
    pub value_info: Vec<ValueInfoProto>,
}

/// A key and a value, both free text.
#[derive(Clone, PartialEq, Message)]
pub struct StringStringEntryProto {
    /// The key.
    #[prost(string, tag = "1")]
    pub key: String,
    /// The value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// A dense tensor. `tensor::to_tensor` turns it into one to compute with.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    /// The extents, outermost first; none for a scalar.
    #[prost(int64, repeated, tag = "1")]
    pub dims: Vec<i64>,
    /// The element type: a [`DataType`], or a number that is newer than this file.
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    /// Set when the tensor is stored in pieces, which no producer does.
    #[prost(message, optional, tag = "3")]
    pub segment: Option<Segment>,
    /// Elements of `Float` and halves of `Complex64`.
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    /// Elements of all integers up to 32 bits but `Uint32`, of `Bool`, and bit patterns of the narrow floats.
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    /// Elements of `String`.
    #[prost(bytes = "bytes", repeated, tag = "6")]
    pub string_data: Vec<Bytes>,
    /// Elements of `Int64`.
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    /// The value that an initializer defines.
    #[prost(string, tag = "8")]
    pub name: String,
    /// Free text.
    #[prost(string, tag = "12")]
    pub doc_string: String,
    /// The elements, row-major and little-endian: an alternative to the typed fields.
    #[prost(bytes = "bytes", tag = "9")]
    pub raw_data: Bytes,
    /// Where external data lies: `location`, `offset`, `length`, `checksum`.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntryProto>,
    /// Whether the elements are here or in another file.
    #[prost(enumeration = "DataLocation", tag = "14")]
    pub data_location: i32,
    /// Elements of `Double` and halves of `Complex128`.
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
    /// Elements of `Uint64` and `Uint32`.
    #[prost(uint64, repeated, tag = "11")]
    pub uint64_data: Vec<u64>,
}

/// Which part of a tensor that is stored in pieces this is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct Segment {
    /// Index of the first element.
    #[prost(int64, tag = "1")]
    pub begin: i64,
    /// Index after the last element.
    #[prost(int64, tag = "2")]
    pub end: i64,
}

/// Where the elements of a tensor are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum DataLocation {
    /// In the message.
    Default = 0,
    /// In another file, as `external_data` says.
    External = 1,
}

/// The element types of ONNX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
#[allow(missing_docs, reason = "the names are ONNX's own")]
pub enum DataType {
    Undefined = 0,
    Float = 1,
    Uint8 = 2,
    Int8 = 3,
    Uint16 = 4,
    Int16 = 5,
    Int32 = 6,
    Int64 = 7,
    String = 8,
    Bool = 9,
    Float16 = 10,
    Double = 11,
    Uint32 = 12,
    Uint64 = 13,
    Complex64 = 14,
    Complex128 = 15,
    Bfloat16 = 16,
    Float8e4m3fn = 17,
    Float8e4m3fnuz = 18,
    Float8e5m2 = 19,
    Float8e5m2fnuz = 20,
    Uint4 = 21,
    Int4 = 22,
    Float4e2m1 = 23,
    Float8e8m0 = 24,
    Uint2 = 25,
    Int2 = 26,
    Float6e2m3 = 27,
    Float6e3m2 = 28,
}

/// A sparse tensor: the elements that are not zero, and where they are.
#[derive(Clone, PartialEq, Message)]
pub struct SparseTensorProto {
    /// The elements, of rank 1; its name is the sparse tensor's.
    #[prost(message, optional, tag = "1")]
    pub values: Option<TensorProto>,
    /// Either linear indices (rank 1) or one row of coordinates per element (rank 2).
    #[prost(message, optional, tag = "2")]
    pub indices: Option<TensorProto>,
    /// The extents of the dense tensor.
    #[prost(int64, repeated, tag = "3")]
    pub dims: Vec<i64>,
}

/// A value's name and type.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    /// The name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The type.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
    /// Free text.
    #[prost(string, tag = "3")]
    pub doc_string: String,
}

/// The dimensions of a tensor type, each static or unknown.
#[derive(Clone, PartialEq, Message)]
pub struct TensorShapeProto {
    /// The dimensions, outermost first.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// One dimension.
#[derive(Clone, PartialEq, Message)]
pub struct Dimension {
    /// The extent; `None` when nothing is known.
    #[prost(oneof = "DimensionValue", tags = "1, 2")]
    pub value: Option<DimensionValue>,
    /// The role of the dimension, such as `DATA_BATCH`.
    #[prost(string, tag = "3")]
    pub denotation: String,
}

/// The extent of a dimension.
#[derive(Clone, PartialEq, Eq, Hash, Oneof)]
pub enum DimensionValue {
    /// A number. Some producers write a negative one for an unknown extent.
    #[prost(int64, tag = "1")]
    DimValue(i64),
    /// A symbol; equal symbols are equal extents.
    #[prost(string, tag = "2")]
    DimParam(String),
}

/// The type of a value.
#[derive(Clone, PartialEq, Message)]
pub struct TypeProto {
    /// The kind of type; `None` for one that is not listed here (opaque) or was not given.
    #[prost(oneof = "TypeValue", tags = "1, 4, 5, 8, 9")]
    pub value: Option<TypeValue>,
    /// The role of the value, such as `IMAGE`.
    #[prost(string, tag = "6")]
    pub denotation: String,
}

/// The kinds of types.
#[derive(Clone, PartialEq, Oneof)]
pub enum TypeValue {
    /// A dense tensor.
    #[prost(message, tag = "1")]
    Tensor(TensorType),
    /// A list.
    #[prost(message, tag = "4")]
    Sequence(ElementType),
    /// A dictionary.
    #[prost(message, tag = "5")]
    Map(MapType),
    /// A sparse tensor.
    #[prost(message, tag = "8")]
    SparseTensor(TensorType),
    /// A value or nothing.
    #[prost(message, tag = "9")]
    Optional(ElementType),
}

/// A tensor type.
#[derive(Clone, PartialEq, Message)]
pub struct TensorType {
    /// A [`DataType`].
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    /// The extents; `None` when not even the rank is known.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// The element type of a sequence or an optional.
#[derive(Clone, PartialEq, Message)]
pub struct ElementType {
    /// The type of the elements.
    #[prost(message, optional, boxed, tag = "1")]
    pub elem_type: Option<Box<TypeProto>>,
}

/// A dictionary type.
#[derive(Clone, PartialEq, Message)]
pub struct MapType {
    /// A [`DataType`]: an integer or a string.
    #[prost(int32, tag = "1")]
    pub key_type: i32,
    /// The type of the values.
    #[prost(message, optional, boxed, tag = "2")]
    pub value_type: Option<Box<TypeProto>>,
}
