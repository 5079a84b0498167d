//! Conversion of ONNX tensors.
//!
//! ONNX stores elements as raw little-endian bytes, in a typed field, or in another file. Raw bytes are the common case
//! and are not copied: the result is a slice of the decoded model, which stays in memory as long as any of its
//! constants.

use super::proto::{DataLocation, DataType, SparseTensorProto, TensorProto};
use bytes::Bytes;
use gradus_ir::tensor::{DType, Elem, Tensor};
use gradus_networks::graph::onnx_dtype;
use std::fmt;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

/// A tensor that cannot be converted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OnnxTensorError {
    /// The name of the tensor.
    pub tensor: String,
    /// The reason, with the field.
    pub reason: String,
}

impl fmt::Display for OnnxTensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tensor '{}': {}", self.tensor, self.reason)
    }
}

gradus_ir::declared_error!(OnnxTensorError);

/// Converts a tensor. External data is read from `dir`, the folder of the model; without it, tensors with external data
/// are rejected.
///
/// # Errors
/// An unsupported element type (strings, complex numbers), bad dimensions, a payload
/// of another size than the dimensions require, an element outside the range of its type, or inaccessible external
/// data.
pub fn to_tensor(t: &TensorProto, dir: Option<&Path>) -> Result<Tensor, OnnxTensorError> {
    convert(t, dir).map_err(|reason| OnnxTensorError { tensor: t.name.clone(), reason })
}

/// Largest size in bytes of a sparse tensor with its zeros.
const MAX_SPARSE: usize = 1 << 28;

/// Converts a sparse tensor to a dense one. `dir`: as for [`to_tensor`].
///
/// # Errors
/// As for [`to_tensor`]; indices that are not those of the shape; more than [`MAX_SPARSE`] bytes.
pub fn to_sparse(sparse: &SparseTensorProto, dir: Option<&Path>) -> Result<Tensor, OnnxTensorError> {
    let name = sparse.values.as_ref().map_or("", |values| &values.name);
    scatter(sparse, dir).map_err(|reason| OnnxTensorError { tensor: name.to_owned(), reason })
}

fn scatter(sparse: &SparseTensorProto, dir: Option<&Path>) -> Result<Tensor, String> {
    let values = convert(sparse.values.as_ref().ok_or("values: missing")?, dir)?;
    let indices = convert(sparse.indices.as_ref().ok_or("indices: missing")?, dir)?;
    let (shape, len) = shape(&sparse.dims, values.dtype())?;
    let size = values.dtype().size();
    if len.checked_mul(size).is_none_or(|bytes| bytes > MAX_SPARSE) {
        return Err(format!("dims: more than {MAX_SPARSE} bytes"));
    }
    let numbers = indices.to_i64().ok_or("indices: no integers")?;
    let depth = if indices.rank() == 2 { shape.len() } else { 1 };
    if indices.shape().first() != Some(&values.len()) || Some(numbers.len()) != values.len().checked_mul(depth) {
        return Err(format!("indices: {:?} for {} values", indices.shape(), values.len()));
    }
    let extents: &[usize] = if indices.rank() == 2 { &shape } else { &[len] };
    let mut out = vec![0; len * size];
    for i in 0..values.len() {
        let row = &numbers[i * depth..(i + 1) * depth];
        let position = row.iter().zip(extents).try_fold(0, |flat, (&at, &extent)| {
            let at = usize::try_from(at).ok().filter(|&at| at < extent)?;
            Some(flat * extent + at)
        });
        let first = position.ok_or_else(|| format!("indices: {row:?} is outside of {shape:?}"))? * size;
        out[first..first + size].copy_from_slice(&values.bytes()[i * size..(i + 1) * size]);
    }
    Tensor::new(values.dtype(), shape, out.into()).map_err(|e| e.to_string()).and_then(aligned)
}

/// Returns the element type for ONNX's `data_type`. Fails with the name of an unsupported type.
pub fn dtype(data_type: i32) -> Result<DType, String> {
    onnx_dtype(data_type.into()).ok_or_else(|| match DataType::try_from(data_type) {
        Ok(known) => format!("element type {known:?} is not supported"),
        Err(_) => format!("unknown element type {data_type}"),
    })
}

fn convert(t: &TensorProto, dir: Option<&Path>) -> Result<Tensor, String> {
    let dtype = dtype(t.data_type)?;
    let (shape, len) = shape(&t.dims, dtype)?;
    if t.segment.is_some() {
        return Err("segment: tensors stored in pieces are not supported".to_owned());
    }
    let data = match DataLocation::try_from(t.data_location) {
        Ok(DataLocation::External) => external(t, dir, stored_bytes(dtype, len))?,
        Ok(DataLocation::Default) if t.raw_data.is_empty() => return from_fields(t, dtype, &shape, len),
        // A copy, so that neither the file nor other constants stay in memory as long as this one.
        Ok(DataLocation::Default) => Bytes::copy_from_slice(&t.raw_data),
        Err(_) => return Err(format!("data_location: unknown location {}", t.data_location)),
    };
    if dtype.is_narrow() {
        if data.len() != stored_bytes(dtype, len) {
            return Err(format!("payload: {} bytes cannot be a {dtype} tensor of shape {shape:?}", data.len()));
        }
        return Ok(Tensor::from_bits(dtype, &shape, unpack(dtype, &data, len)));
    }
    let tensor = Tensor::new(dtype, shape, data).map_err(|e| format!("payload: {e}"))?;
    if dtype == DType::Bool
        && let Some(i) = tensor.bytes().iter().position(|&b| b > 1)
    {
        return Err(format!("payload: byte {i} is {}, not a boolean", tensor.bytes()[i]));
    }
    aligned(tensor)
}

/// Returns the size of `len` elements in a file, where elements below 8 bits are packed.
fn stored_bytes(dtype: DType, len: usize) -> usize {
    if dtype.is_narrow() { (len as u128 * u128::from(dtype.bits())).div_ceil(8) as usize } else { len * dtype.size() }
}

/// Unpacks a bit stream, least significant bits first, to one byte per element.
fn unpack(dtype: DType, data: &[u8], len: usize) -> Vec<u8> {
    let bits = dtype.bits() as usize;
    let byte = |i: usize| u16::from(data.get(i).copied().unwrap_or(0));
    // An element may span two bytes; excess bits are masked later.
    let element = |i: usize| (byte(i * bits / 8) | byte(i * bits / 8 + 1) << 8) >> (i * bits % 8);
    (0..len).map(|i| element(i) as u8).collect()
}

/// Returns the dimensions and the number of elements. An extent of zero does not excuse overflow of the others, since
/// strides are computed from each.
fn shape(dims: &[i64], dtype: DType) -> Result<(Vec<usize>, usize), String> {
    let mut shape = Vec::with_capacity(dims.len());
    let mut bytes = dtype.size();
    for (i, &dim) in dims.iter().enumerate() {
        let extent = usize::try_from(dim).map_err(|_| format!("dims[{i}]: {dim} is not an extent"))?;
        bytes = (bytes.checked_mul(extent.max(1)))
            .filter(|&n| isize::try_from(n).is_ok())
            .ok_or_else(|| format!("dims[{i}]: the tensor is too large to address"))?;
        shape.push(extent);
    }
    let len = shape.iter().product();
    Ok((shape, len))
}

/// Copies the elements if their address is not aligned, so that kernels can borrow them.
fn aligned(tensor: Tensor) -> Result<Tensor, String> {
    let data = tensor.bytes();
    // Alignment depends only on the width, so one integer type per width suffices.
    let copy = match tensor.dtype().size() {
        size if data.as_ptr().addr().is_multiple_of(size) => return Ok(tensor),
        2 => flat(data.as_chunks().0.iter().map(|&c| u16::from_ne_bytes(c)).collect()),
        4 => flat(data.as_chunks().0.iter().map(|&c| u32::from_ne_bytes(c)).collect()),
        _ => flat(data.as_chunks().0.iter().map(|&c| u64::from_ne_bytes(c)).collect()),
    };
    Ok(Tensor::new(tensor.dtype(), tensor.shape().to_vec(), copy)?)
}

/// Returns the bytes of `elements`, without a copy.
fn flat<T: Elem>(elements: Vec<T>) -> Bytes {
    Tensor::from_vec(&[elements.len()], elements).bytes().clone()
}

/// Converts elements that are stored in the field for their type.
fn from_fields(t: &TensorProto, dtype: DType, shape: &[usize], len: usize) -> Result<Tensor, String> {
    if dtype.is_narrow() {
        return narrow_from_field(t, dtype, shape, len);
    }
    let (field, found) = match dtype {
        DType::F32 => ("float_data", t.float_data.len()),
        DType::F64 => ("double_data", t.double_data.len()),
        DType::I64 => ("int64_data", t.int64_data.len()),
        DType::U32 | DType::U64 => ("uint64_data", t.uint64_data.len()),
        _ => ("int32_data", t.int32_data.len()),
    };
    if found != len {
        return Err(format!("{field}: {found} elements cannot be a {dtype} tensor of shape {shape:?}"));
    }
    let bad = |i: usize, v: &dyn fmt::Display| format!("{field}[{i}]: {v} is not a value of type {dtype}");
    /// Narrows each element, or reports the first that does not fit.
    macro_rules! narrow {
        ($from:expr => $to:ty) => {
            ($from.iter().enumerate())
                .map(|(i, v)| <$to>::try_from(*v).map_err(|_| bad(i, v)))
                .collect::<Result<Vec<$to>, String>>()?
        };
    }
    let data = match dtype {
        DType::F32 => flat(t.float_data.clone()),
        DType::F64 => flat(t.double_data.clone()),
        DType::I64 => flat(t.int64_data.clone()),
        DType::U64 => flat(t.uint64_data.clone()),
        DType::U32 => flat(narrow!(t.uint64_data => u32)),
        DType::I32 => flat(t.int32_data.clone()),
        DType::I16 => flat(narrow!(t.int32_data => i16)),
        DType::I8 => flat(narrow!(t.int32_data => i8)),
        DType::U8 => flat(narrow!(t.int32_data => u8)),
        // Narrow floats are stored as bit patterns, as in tensors.
        DType::U16 | DType::F16 | DType::BF16 => flat(narrow!(t.int32_data => u16)),
        DType::Bool => match t.int32_data.iter().position(|v| !matches!(v, 0 | 1)) {
            Some(i) => return Err(bad(i, &t.int32_data[i])),
            None => flat(narrow!(t.int32_data => u8)),
        },
        other => return Err(format!("{field}: elements of type {other} have no field")),
    };
    Ok(Tensor::new(dtype, shape.to_vec(), data)?)
}

/// Converts elements of at most 8 bits: each entry of the field has 8 or 6 bits, or is a byte of packed smaller ones.
fn narrow_from_field(t: &TensorProto, dtype: DType, shape: &[usize], len: usize) -> Result<Tensor, String> {
    let packed = 8 % dtype.bits() == 0;
    let (wanted, found) = (if packed { stored_bytes(dtype, len) } else { len }, t.int32_data.len());
    if found != wanted {
        return Err(format!("int32_data: {found} entries cannot be a {dtype} tensor of shape {shape:?}"));
    }
    // Packed signed elements may have been written as a signed byte.
    let byte = |(i, &v): (usize, &i32)| match v {
        -128..=255 => Ok(v as u8),
        _ => Err(format!("int32_data[{i}]: {v} is not a byte")),
    };
    let bytes = t.int32_data.iter().enumerate().map(byte).collect::<Result<Vec<u8>, String>>()?;
    Ok(Tensor::from_bits(dtype, shape, if packed { unpack(dtype, &bytes, len) } else { bytes }))
}

/// Reads `want` bytes of external data.
fn external(t: &TensorProto, dir: Option<&Path>, want: usize) -> Result<Bytes, String> {
    let value = |key: &str| t.external_data.iter().find(|e| e.key == key).map(|e| e.value.as_str());
    let number = |key: &str| match value(key).map(str::parse::<u64>) {
        None => Ok(None),
        Some(Ok(n)) => Ok(Some(n)),
        Some(Err(_)) => Err(format!("external_data: {key} '{}' is not a number", value(key).unwrap_or_default())),
    };
    let location = value("location").ok_or("external_data: no location")?;
    let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?.unwrap_or(want as u64));
    if length != want as u64 {
        return Err(format!("external_data: {length} bytes of data, but the dimensions require {want}"));
    }
    let dir = dir.ok_or_else(|| {
        format!("external_data: '{location}' cannot be found, since the model was not read from a file")
    })?;
    let path = resolve(dir, location)?;
    read_range(&path, offset, want).map_err(|e| format!("external_data: '{location}': {e}"))
}

/// Returns the path of `location` in `dir`. A model must not read files elsewhere, by `..` or by a link.
fn resolve(dir: &Path, location: &str) -> Result<PathBuf, String> {
    let refuse = |why: &str| Err(format!("external_data: location '{location}' {why}"));
    // Backslashes and colons are special on Windows; a model must denote the same file everywhere.
    let inside = Path::new(location).components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
    if location.is_empty() || !inside || location.contains(['\\', ':', '\0']) {
        return refuse("is not a path inside the model's folder");
    }
    // A bare file name has the empty path as its parent.
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let real = |p: &Path| fs::canonicalize(p).map_err(|e| format!("external_data: '{}': {e}", p.display()));
    let (root, path) = (real(dir)?, real(&dir.join(location))?);
    if !path.starts_with(&root) {
        return refuse("is a link that leaves the model's folder");
    }
    Ok(path)
}

/// Reads `len` bytes at `offset`, after a check of the file's size.
fn read_range(path: &Path, offset: u64, len: usize) -> Result<Bytes, String> {
    let text = |e: std::io::Error| e.to_string();
    // Checked before opening, since opening a pipe waits for a writer.
    let meta = fs::metadata(path).map_err(text)?;
    if !meta.is_file() {
        return Err("not a regular file".to_owned());
    }
    if offset.checked_add(len as u64).is_none_or(|end| end > meta.len()) {
        return Err(format!("{len} bytes at {offset} are beyond the end, at {}", meta.len()));
    }
    let mut file = File::open(path).map_err(text)?;
    file.seek(SeekFrom::Start(offset)).map_err(text)?;
    let mut data = Vec::new();
    data.try_reserve_exact(len).map_err(|e| e.to_string())?;
    file.take(len as u64).read_to_end(&mut data).map_err(text)?;
    if data.len() != len {
        return Err(format!("only {} of {len} bytes could be read", data.len()));
    }
    Ok(data.into())
}

#[cfg(test)]
mod tests {
    use super::super::proto::{Segment, StringStringEntryProto};
    use super::*;

    fn raw(data_type: DataType, dims: &[i64], data: impl Into<Bytes>) -> TensorProto {
        let (data_type, dims, raw_data) = (data_type as i32, dims.to_vec(), data.into());
        TensorProto { name: "w".to_owned(), data_type, dims, raw_data, ..TensorProto::default() }
    }

    fn error(t: &TensorProto) -> String {
        to_tensor(t, None).unwrap_err().to_string()
    }

    #[test]
    fn raw_data_is_aligned() {
        let buffer = Bytes::from((0..32).collect::<Vec<u8>>());
        for at in 0..4 {
            let slice = buffer.slice(at..at + 8);
            let t = to_tensor(&raw(DataType::Int32, &[2], slice.clone()), None).unwrap();
            assert_eq!(t.bytes(), &slice);
            assert!(matches!(t.as_slice::<i32>(), std::borrow::Cow::Borrowed(_)));
        }
    }

    #[test]
    fn fields_are_converted_and_checked() {
        let mut t = raw(DataType::Float16, &[2], vec![]);
        t.int32_data = vec![0x3c00, 0xc000];
        assert_eq!(to_tensor(&t, None).unwrap().to_f64(), [1.0, -2.0]);
        t.data_type = DataType::Int8 as i32;
        assert_eq!(error(&t), "tensor 'w': int32_data[0]: 15360 is not a value of type i8");
        t.int32_data = vec![-128, 127];
        assert_eq!(to_tensor(&t, None).unwrap().to_i64().unwrap(), [-128, 127]);
        t.data_type = DataType::Bool as i32;
        assert!(error(&t).contains("-128 is not a value of type i1"));
        t.data_type = DataType::Uint32 as i32;
        assert!(error(&t).contains("uint64_data: 0 elements cannot be"));
        t.uint64_data = vec![7, 1 << 32];
        assert!(error(&t).contains("uint64_data[1]"));
    }

    #[test]
    fn small_elements_are_unpacked() {
        let four = to_tensor(&raw(DataType::Int4, &[3], vec![0x8f, 0x07]), None).unwrap();
        assert_eq!(four.to_i64().unwrap(), [-1, -8, 7]);
        let two = to_tensor(&raw(DataType::Uint2, &[4], vec![0b11_10_01_00]), None).unwrap();
        assert_eq!(two.to_i64().unwrap(), [0, 1, 2, 3]);
        let six = to_tensor(&raw(DataType::Float6e3m2, &[4], vec![0x0c, 0xc3, 0x30]), None).unwrap();
        assert_eq!(six.to_f64(), [1.0; 4]);
        let mut t = raw(DataType::Uint4, &[3], vec![]);
        t.int32_data = vec![0x21, 0x03];
        assert_eq!(to_tensor(&t, None).unwrap().to_i64().unwrap(), [1, 2, 3]);
        t.data_type = DataType::Float8e5m2 as i32;
        assert!(error(&t).contains("int32_data: 2 entries cannot be a f8E5M2 tensor"));
        t.int32_data = vec![0x3c, 0xbc, 256];
        assert!(error(&t).contains("int32_data[2]: 256 is not a byte"));
    }

    #[test]
    fn hostile_tensors_are_refused() {
        assert!(error(&raw(DataType::Float, &[-1], vec![])).contains("dims[0]: -1 is not an extent"));
        assert!(error(&raw(DataType::Float, &[1 << 40, 1 << 40], vec![])).contains("dims[1]: the tensor is too large"));
        assert!(error(&raw(DataType::Float, &[0, 1 << 40, 1 << 40], vec![])).contains("dims[2]: the tensor"));
        assert!(error(&raw(DataType::Float, &[1 << 40], vec![])).contains("float_data: 0 elements"));
        assert!(error(&raw(DataType::Float, &[2], vec![0; 7])).contains("payload: 7 bytes cannot be"));
        assert!(error(&raw(DataType::Bool, &[2], vec![1, 2])).contains("byte 1 is 2, not a boolean"));
        assert!(error(&raw(DataType::Int4, &[3], vec![0])).contains("1 bytes cannot be a i4 tensor"));
        assert!(error(&raw(DataType::Complex64, &[], vec![0; 8])).contains("element type Complex64 is not supported"));
        assert!(error(&raw(DataType::String, &[], vec![])).contains("element type String is not supported"));
        let unknown = TensorProto { data_type: 99, ..TensorProto::default() };
        assert!(error(&unknown).contains("unknown element type 99"));
        let place = TensorProto { data_location: 7, ..raw(DataType::Bool, &[], vec![1]) };
        assert!(error(&place).contains("unknown location 7"));
        let piece = TensorProto { segment: Some(Segment::default()), ..raw(DataType::Bool, &[], vec![1]) };
        assert!(error(&piece).contains("segment"));
    }

    #[test]
    fn external_data_stays_in_its_folder() {
        let root = std::env::temp_dir().join(format!("gradus-onnx-external-{}", std::process::id()));
        let dir = root.join("model");
        fs::create_dir_all(dir.join("sub")).unwrap();
        fs::write(root.join("secret"), [0; 16]).unwrap();
        fs::write(dir.join("sub/w.bin"), (0..16).collect::<Vec<u8>>()).unwrap();
        let read = |entries: &[(&str, &str)], dir: Option<&Path>| {
            let entry = |&(k, v): &(&str, &str)| StringStringEntryProto { key: k.to_owned(), value: v.to_owned() };
            let mut t = raw(DataType::Uint16, &[2], vec![]);
            t.data_location = DataLocation::External as i32;
            t.external_data = entries.iter().map(entry).collect();
            to_tensor(&t, dir)
        };
        let fails = |entries: &[(&str, &str)], why: &str| {
            let e = read(entries, Some(&dir)).unwrap_err();
            assert!(e.reason.contains(why), "{e}");
        };
        let good = [("location", "sub/w.bin"), ("offset", "12"), ("length", "4")];
        assert_eq!(read(&good, Some(&dir)).unwrap().to_i64().unwrap(), [0x0d0c, 0x0f0e]);
        assert_eq!(read(&good[..1], Some(&dir)).unwrap().to_i64().unwrap(), [0x0100, 0x0302]);
        assert!(read(&good, None).unwrap_err().reason.contains("cannot be found"));
        fails(&[("location", "../secret")], "is not a path inside");
        fails(&[("location", root.join("secret").to_str().unwrap())], "is not a path inside");
        fails(&[("location", "sub/../sub/w.bin")], "is not a path inside");
        fails(&[("location", "a\0b")], "is not a path inside");
        fails(&[("location", "")], "is not a path inside");
        fails(&[("location", "sub")], "not a regular file");
        fails(&[("location", "gone")], "gone");
        fails(&[], "no location");
        fails(&[("location", "sub/w.bin"), ("offset", "13")], "beyond the end");
        fails(&[("location", "sub/w.bin"), ("offset", "18446744073709551615")], "beyond the end");
        fails(&[("location", "sub/w.bin"), ("offset", "-1")], "is not a number");
        fails(&[("location", "sub/w.bin"), ("length", "5")], "5 bytes of data");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("secret"), dir.join("link")).unwrap();
            fails(&[("location", "link")], "is a link that leaves");
        }
        fs::remove_dir_all(&root).unwrap();
    }
}
