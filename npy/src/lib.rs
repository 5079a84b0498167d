//! NumPy's `.npy` and `.npz` files, to and from tensors.
//!
//! Reader and writer are our own: the format is a one-line header and the elements. The `npyz` crate trusts headers (it
//! allocates by length fields and multiplies extents unchecked), and its `.npz` support builds C libraries. The `zip`
//! crate handles the archive of an `.npz`, with the default feature `npz`.
//!
//! Files are untrusted: a header that promises more data than the file holds is rejected before any allocation, and a
//! deflated entry may not promise more than deflate can express.

#[cfg(feature = "npz")]
mod archive;
mod error;

#[cfg(feature = "npz")]
pub use archive::{read_npz, write_npz};
pub use error::NpyError;

use gradus_ir::eval::{floats_to_tensor, ints_to_tensor};
use gradus_ir::tensor::{DType, Tensor};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum header size in bytes. NumPy writes a few hundred; from version 2 on, a file can claim 4 GiB.
const MAX_HEADER: usize = 1 << 16;

/// NumPy's limit on the rank.
const MAX_RANK: usize = 64;

/// Reads an `.npy` file. Booleans, integers and floats of either byte order are supported; arrays in Fortran order are
/// transposed to row-major.
///
/// # Errors
/// Names the file, the reason and, for the header, the byte: not an `.npy` file, an element type without a [`DType`]
/// (complex numbers, strings, dates, structures, objects), a payload shorter or longer than the header says, or a
/// boolean other than 0 and 1.
pub fn read_npy(path: &Path) -> Result<Tensor, NpyError> {
    let (file, size) = open(path)?;
    read_array(BufReader::new(file), size).map_err(|e| NpyError::new(path, &e))
}

/// Writes an `.npy` file. NumPy has no `bf16`: such tensors are written as `f4`, which is exact.
///
/// The file is written to a temporary name and renamed.
pub fn write_npy(path: &Path, t: &Tensor) -> Result<(), NpyError> {
    replace(path, |w| write_array(w, t))
}

/// Opens a regular file and returns its length. Pipes could block and devices never end.
fn open(path: &Path) -> Result<(File, u64), NpyError> {
    let meta = fs::metadata(path).map_err(|e| NpyError::new(path, &e))?;
    if !meta.is_file() {
        return Err(NpyError::new(path, &"not a regular file"));
    }
    Ok((File::open(path).map_err(|e| NpyError::new(path, &e))?, meta.len()))
}

/// Reads an array of `size` bytes including its header.
fn read_array(mut r: impl Read, size: u64) -> Result<Tensor, String> {
    let header = Header::read(&mut r)?;
    if size != header.end as u64 + header.bytes as u64 {
        let (end, bytes) = (header.end, header.bytes);
        return Err(format!("the header takes {end} bytes and promises {bytes} more, but the array has {size}"));
    }
    let mut data = Vec::new();
    data.try_reserve_exact(header.bytes).map_err(|e| e.to_string())?;
    r.by_ref().take(header.bytes as u64).read_to_end(&mut data).map_err(|e| e.to_string())?;
    if data.len() != header.bytes {
        return Err(format!("only {} of {} bytes of elements could be read", data.len(), header.bytes));
    }
    // Reading to the end makes the archive verify its checksum.
    if r.read(&mut [0]).map_err(|e| e.to_string())? != 0 {
        return Err("bytes follow the array".to_owned());
    }
    header.into_tensor(data)
}

/// The parsed header.
#[derive(Debug)]
struct Header {
    dtype: DType,
    big_endian: bool,
    fortran: bool,
    shape: Vec<usize>,
    /// Size of the elements in bytes, known not to overflow.
    bytes: usize,
    /// Offset of the elements.
    end: usize,
}

impl Header {
    fn read(r: &mut impl Read) -> Result<Header, String> {
        let short = |e: std::io::Error| format!("header: {e}");
        let mut start = [0; 8];
        r.read_exact(&mut start).map_err(short)?;
        if !start.starts_with(b"\x93NUMPY") {
            return Err("byte 0: not an .npy array".to_owned());
        }
        let mut length = [0; 4];
        let width = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Err(format!("byte 6: unknown format version {version}")),
        };
        r.read_exact(&mut length[..width]).map_err(short)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_HEADER {
            return Err(format!("byte 8: a header of {length} bytes is refused"));
        }
        let mut text = vec![0; length];
        r.read_exact(&mut text).map_err(short)?;
        HeaderParser { text: &text, at: 0, base: 8 + width }.header()
    }

    /// Converts the elements to native byte order and row-major order.
    fn into_tensor(self, mut data: Vec<u8>) -> Result<Tensor, String> {
        if self.dtype == DType::Bool
            && let Some(i) = data.iter().position(|&b| b > 1)
        {
            return Err(format!("byte {}: {} is not a boolean", self.end + i, data[i]));
        }
        let width = self.dtype.size();
        if self.big_endian {
            data.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        if self.fortran && self.shape.len() > 1 {
            data = match width {
                1 => to_row_major::<1>(&data, &self.shape),
                2 => to_row_major::<2>(&data, &self.shape),
                4 => to_row_major::<4>(&data, &self.shape),
                _ => to_row_major::<8>(&data, &self.shape),
            };
        }
        Ok(Tensor::new(self.dtype, self.shape, data.into())?)
    }
}

/// Transposes elements of `W` bytes from column-major to row-major.
fn to_row_major<const W: usize>(data: &[u8], shape: &[usize]) -> Vec<u8> {
    let elements = data.as_chunks::<W>().0;
    let mut stride = vec![1; shape.len()];
    for d in 1..shape.len() {
        stride[d] = stride[d - 1] * shape[d - 1];
    }
    let (mut index, mut at) = (vec![0; shape.len()], 0);
    let mut out = Vec::with_capacity(data.len());
    for _ in 0..elements.len() {
        out.extend_from_slice(&elements[at]);
        for d in (0..shape.len()).rev() {
            index[d] += 1;
            at += stride[d];
            if index[d] < shape[d] {
                break;
            }
            at -= stride[d] * shape[d];
            index[d] = 0;
        }
    }
    out
}

/// A parser of the header, a Python dictionary with three keys and no nesting.
struct HeaderParser<'a> {
    text: &'a [u8],
    at: usize,
    /// Offset of the text in the file.
    base: usize,
}

impl<'a> HeaderParser<'a> {
    fn header(mut self) -> Result<Header, String> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.eat(b'}') {
            let key = self.string()?;
            self.expect(b':')?;
            let again = match key {
                b"descr" => descr.replace(self.element()?).is_some(),
                b"fortran_order" => fortran.replace(self.boolean()?).is_some(),
                b"shape" => shape.replace(self.shape()?).is_some(),
                _ => return self.fail("this key is unknown"),
            };
            if again {
                return self.fail("this key is given twice");
            }
            if !self.eat(b',') && self.peek() != Some(b'}') {
                return self.fail("expected ',' or '}'");
            }
        }
        if self.peek().is_some() {
            return self.fail("expected the end of the header");
        }
        let ((Some((dtype, big_endian)), Some(fortran)), Some(shape)) = ((descr, fortran), shape) else {
            return self.fail("one of 'descr', 'fortran_order' and 'shape' is missing");
        };
        // An extent of zero does not excuse overflow of the others, since strides are computed from each.
        let extents = || shape.iter().map(|&n: &usize| n.max(1));
        let room = extents().try_fold(dtype.size(), usize::checked_mul).and_then(|n| isize::try_from(n).ok());
        if room.is_none() {
            return self.fail("the array is too large to address");
        }
        let bytes = shape.iter().product::<usize>() * dtype.size();
        Ok(Header { dtype, big_endian, fortran, shape, bytes, end: self.base + self.text.len() })
    }

    /// Returns the element type and whether it is big-endian.
    fn element(&mut self) -> Result<(DType, bool), String> {
        if self.peek() == Some(b'[') {
            return self.fail("structured element types are not supported");
        }
        let descr = self.string()?;
        let dtype = match descr.get(1..) {
            Some(b"b1") => DType::Bool,
            Some(b"i1") => DType::I8,
            Some(b"i2") => DType::I16,
            Some(b"i4") => DType::I32,
            Some(b"i8") => DType::I64,
            Some(b"u1") => DType::U8,
            Some(b"u2") => DType::U16,
            Some(b"u4") => DType::U32,
            Some(b"u8") => DType::U64,
            Some(b"f2") => DType::F16,
            Some(b"f4") => DType::F32,
            Some(b"f8") => DType::F64,
            _ => return self.fail(&format!("element type '{}' is not supported", descr.escape_ascii())),
        };
        match descr[0] {
            b'<' => Ok((dtype, false)),
            b'>' => Ok((dtype, true)),
            b'|' if dtype.size() == 1 => Ok((dtype, false)),
            _ => self.fail(&format!("element type '{}' has no byte order", descr.escape_ascii())),
        }
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.blank();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        self.fail("expected True or False")
    }

    fn shape(&mut self) -> Result<Vec<usize>, String> {
        let mut shape = Vec::new();
        self.expect(b'(')?;
        while !self.eat(b')') {
            if shape.len() == MAX_RANK {
                return self.fail(&format!("more than {MAX_RANK} dimensions"));
            }
            shape.push(self.extent()?);
            if !self.eat(b',') && self.peek() != Some(b')') {
                return self.fail("expected ',' or ')'");
            }
        }
        Ok(shape)
    }

    fn extent(&mut self) -> Result<usize, String> {
        self.blank();
        let rest = &self.text[self.at..];
        let digits = &rest[..rest.iter().take_while(|b| b.is_ascii_digit()).count()];
        let Some(extent) = str::from_utf8(digits).ok().and_then(|s| s.parse().ok()) else {
            return self.fail("expected an extent that fits the address space");
        };
        self.at += digits.len();
        // Python 2 marked long integers, and such files still exist.
        self.eat(b'L');
        Ok(extent)
    }

    /// Returns a quoted string; keys and element types never contain escapes.
    fn string(&mut self) -> Result<&'a [u8], String> {
        let Some(quote @ (b'\'' | b'"')) = self.peek() else {
            return self.fail("expected a string");
        };
        let rest = &self.text[self.at + 1..];
        let Some(length) = rest.iter().position(|&b| b == quote) else {
            return self.fail("this string does not end");
        };
        self.at += length + 2;
        Ok(&rest[..length])
    }

    fn blank(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.blank();
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.eat(byte) { Ok(()) } else { self.fail(&format!("expected '{}'", char::from(byte))) }
    }

    fn fail<T>(&self, reason: &str) -> Result<T, String> {
        Err(format!("header, byte {}: {reason}", self.base + self.at))
    }
}

fn write_array(w: &mut impl Write, t: &Tensor) -> Result<(), String> {
    if t.rank() > MAX_RANK {
        return Err(format!("NumPy has no arrays of rank {}", t.rank()));
    }
    let t = &known_to_numpy(t);
    let descr = match t.dtype() {
        DType::Bool => "|b1",
        DType::I8 => "|i1",
        DType::U8 => "|u1",
        DType::I16 => "<i2",
        DType::U16 => "<u2",
        DType::F16 => "<f2",
        DType::I32 => "<i4",
        DType::U32 => "<u4",
        DType::F32 => "<f4",
        DType::I64 => "<i8",
        DType::U64 => "<u8",
        DType::F64 => "<f8",
        other => return Err(format!("NumPy has no arrays of {other}")),
    };
    let shape: String = t.shape().iter().map(|n| format!("{n},")).collect();
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // The elements start at a multiple of 64 bytes, for readers that map the file.
    let length = (10 + dict.len() + 1).next_multiple_of(64) - 10;
    let io = |e: std::io::Error| e.to_string();
    w.write_all(b"\x93NUMPY\x01\x00").map_err(io)?;
    let field = u16::try_from(length).map_err(|e| e.to_string())?;
    w.write_all(&field.to_le_bytes()).map_err(io)?;
    writeln!(w, "{dict:<0$}", length - 1).map_err(io)?;
    w.write_all(t.bytes()).map_err(io)
}

/// Converts to a type that NumPy has: `f32` for missing floats, a byte for narrow integers.
fn known_to_numpy(t: &Tensor) -> Tensor {
    match (t.dtype(), t.to_i64()) {
        (dtype, Some(values)) if dtype.is_narrow() => {
            ints_to_tensor(if dtype.is_signed() { DType::I8 } else { DType::U8 }, t.shape(), &values)
        }
        (dtype, None) if dtype.is_narrow() || dtype == DType::BF16 => {
            floats_to_tensor(DType::F32, t.shape(), t.to_f64())
        }
        _ => t.clone(),
    }
}

/// Writes to a temporary file in the same folder and renames it to `path`.
fn replace(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> Result<(), String>) -> Result<(), NpyError> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let unique = format!(".gradus-{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let temporary = path.with_file_name(unique);
    let mut w = BufWriter::new(File::create_new(&temporary).map_err(|e| NpyError::new(path, &e))?);
    let written = write(&mut w).and_then(|()| {
        let file = w.into_inner().map_err(|e| e.to_string())?;
        file.sync_all().and_then(|()| fs::rename(&temporary, path)).map_err(|e| e.to_string())
    });
    written.map_err(|e| {
        // The first error is reported; a leftover temporary file does not change it.
        let _ = fs::remove_file(&temporary);
        NpyError::new(path, &e)
    })
}

#[cfg(all(test, feature = "npz"))]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A folder that is removed at the end of the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let dir = std::env::temp_dir().join(format!("gradus-npy-{}-{name}", std::process::id()));
            fs::create_dir_all(&dir).unwrap();
            Scratch(dir)
        }
        fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
            let path = self.0.join(name);
            fs::write(&path, bytes).unwrap();
            path
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Returns a tensor of `dtype` with distinct elements other than NaN.
    fn sample(dtype: DType, shape: &[usize]) -> Tensor {
        let len = shape.iter().product::<usize>() * dtype.size();
        let byte = |i: usize| if dtype == DType::Bool { u8::from(i.is_multiple_of(3)) } else { (i * 7 % 100) as u8 };
        Tensor::new(dtype, shape.to_vec(), (0..len).map(byte).collect::<Vec<_>>().into()).unwrap()
    }

    fn npy(header: &str, data: &[u8]) -> Vec<u8> {
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        out.extend(header.as_bytes());
        out.extend(data);
        out
    }

    fn read(bytes: &[u8]) -> Result<Tensor, String> {
        read_array(bytes, bytes.len() as u64)
    }

    fn error(header: &str, data: &[u8]) -> String {
        read(&npy(header, data)).unwrap_err()
    }

    const ALL: [DType; 12] = [
        DType::Bool,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::F16,
        DType::F32,
        DType::F64,
    ];

    #[test]
    fn every_type_survives_npy_and_npz() {
        let dir = Scratch::new("all");
        let shapes: [&[usize]; 4] = [&[], &[5], &[2, 3, 4], &[3, 0]];
        let mut all = Vec::new();
        for (dtype, shape) in ALL.into_iter().flat_map(|d| shapes.map(|s| (d, s))) {
            let (t, path) = (sample(dtype, shape), dir.0.join("t.npy"));
            write_npy(&path, &t).unwrap();
            assert_eq!(read_npy(&path).unwrap(), t);
            assert_eq!(fs::metadata(&path).unwrap().len() % 64, t.bytes().len() as u64 % 64);
            all.push((format!("{dtype}/{}", shape.len()), t));
        }
        all.dedup_by(|a, b| a.0 == b.0);
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|(name, _)| seen.insert(name.clone()));
        let path = dir.0.join("t.npz");
        write_npz(&path, &all).unwrap();
        assert_eq!(read_npz(&path).unwrap(), all);
        let left: Vec<_> = fs::read_dir(&dir.0).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "temporary files remain: {left:?}");
    }

    #[test]
    fn bf16_becomes_f4() {
        let dir = Scratch::new("bf16");
        let t = Tensor::new(DType::BF16, vec![2], vec![0x80, 0x3f, 0x20, 0xc0].into()).unwrap();
        write_npy(&dir.0.join("t.npy"), &t).unwrap();
        assert_eq!(read_npy(&dir.0.join("t.npy")).unwrap(), Tensor::from_vec(&[2], vec![1.0f32, -2.5]));
    }

    #[test]
    fn foreign_layouts_are_converted() {
        let data = [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6];
        let big = npy("{'descr':'>u2','fortran_order':False,'shape':(2,3)}", &data);
        assert_eq!(read(&big).unwrap(), Tensor::from_vec(&[2, 3], vec![1u16, 2, 3, 4, 5, 6]));
        let both = npy("{ \"shape\" : ( 2L , 3L, ), 'fortran_order': True, 'descr': '>u2' ,} \n", &data);
        assert_eq!(read(&both).unwrap(), Tensor::from_vec(&[2, 3], vec![1u16, 3, 5, 2, 4, 6]));
        let cube = npy("{'descr':'|u1','fortran_order':True,'shape':(2,2,2)}", &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(read(&cube).unwrap(), Tensor::from_vec(&[2, 2, 2], vec![0u8, 4, 2, 6, 1, 5, 3, 7]));
        let empty = npy("{'descr':'<f4','fortran_order':True,'shape':(2,0,3)}", &[]);
        assert_eq!(read(&empty).unwrap(), Tensor::from_vec::<f32>(&[2, 0, 3], vec![]));
    }

    #[test]
    fn hostile_headers_are_refused() {
        let with = |descr: &str, shape: &str| {
            error(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"), &[2; 8])
        };
        assert_eq!(with("'<f4'", "(3,)"), "the header takes 65 bytes and promises 12 more, but the array has 73");
        assert!(with("'<f4'", "(1,)").contains("promises 4 more"));
        assert!(with("'<f4'", "(1000000000000,)").contains("promises 4000000000000 more"));
        assert!(with("'<f4'", "(4294967296, 4294967296)").contains("too large"));
        assert!(with("'<f4'", "(0, 4294967296, 4294967296)").contains("too large"));
        assert!(with("'<f4'", "(99999999999999999999,)").contains("byte 61: expected an extent"));
        assert!(with("'<f4'", "(-1,)").contains("expected an extent"));
        assert!(with("'<f4'", &format!("({})", "1,".repeat(65))).contains("more than 64"));
        assert!(with("'<f4'", &"(".repeat(9000)).contains("expected an extent"));
        assert!(with("'<c8'", "(1,)").contains("'<c8' is not supported"));
        assert!(with("'|O'", "(1,)").contains("not supported"));
        assert!(with("''", "(1,)").contains("not supported"));
        assert!(with("'|f4'", "(2,)").contains("no byte order"));
        assert!(with("[('a', '<f4')]", "(2,)").contains("structured"));
        assert!(with("'|b1'", "(8,)").contains("byte 65: 2 is not a boolean"));
        assert!(error("{'descr': '<f4'}", &[]).contains("missing"));
        assert!(error("{'shape': (), 'shape': ()}", &[]).contains("twice"));
        assert!(error("{'color': 1}", &[]).contains("unknown"));
        assert!(error("{'descr", &[]).contains("does not end"));
        assert!(error("", &[]).contains("byte 10: expected '{'"));
        assert!(read(b"\x93NUMPY\x02\x00\xff\xff\xff\xff").unwrap_err().contains("is refused"));
        assert!(read(b"\x93NUMPY\x04\x00\x00\x00").unwrap_err().contains("version 4"));
        assert!(read(b"PK\x03\x04\x00\x00\x00\x00\x00\x00").unwrap_err().contains("not an .npy"));
    }

    #[test]
    fn every_truncation_and_flip_is_an_error_or_a_tensor() {
        let dir = Scratch::new("flip");
        let tensors = [("a".to_owned(), sample(DType::I16, &[2, 3])), ("b".to_owned(), sample(DType::Bool, &[4]))];
        write_npz(&dir.0.join("t.npz"), &tensors).unwrap();
        write_npy(&dir.0.join("t.npy"), &tensors[0].1).unwrap();
        let (archive, array) = (fs::read(dir.0.join("t.npz")).unwrap(), fs::read(dir.0.join("t.npy")).unwrap());
        for at in 0..array.len() {
            read(&array[..at]).unwrap_err();
            for value in [0, b'(', b'9', 0xff] {
                let mut bytes = array.clone();
                bytes[at] = value;
                let _ = read(&bytes);
            }
        }
        for at in 0..archive.len() {
            read_npz(&dir.file("cut.npz", &archive[..at])).unwrap_err();
            let mut bytes = archive.clone();
            bytes[at] ^= 0xff;
            let _ = read_npz(&dir.file("flip.npz", &bytes));
        }
    }

    #[test]
    fn names_and_kinds_of_files_are_checked() {
        let dir = Scratch::new("names");
        let t = Tensor::scalar(1.0f32);
        let twice = [("a".to_owned(), t.clone()), ("a".to_owned(), t.clone())];
        assert!(write_npz(&dir.0.join("t.npz"), &twice).unwrap_err().to_string().contains("array 'a'"));
        assert!(
            write_npz(&dir.0.join("t.npz"), &[(String::new(), t.clone())])
                .unwrap_err()
                .to_string()
                .contains("not a name")
        );
        assert!(fs::read_dir(&dir.0).unwrap().next().is_none(), "a failed write leaves nothing");
        assert!(read_npy(&dir.0).unwrap_err().to_string().contains("not a regular file"));
        assert!(read_npy(&dir.0.join("missing")).unwrap_err().to_string().contains("missing"));
        assert!(write_npy(&dir.0.join("no/such/folder.npy"), &t).is_err());
    }
}
