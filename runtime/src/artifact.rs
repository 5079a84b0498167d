//! Compiled programs as files, which are mapped into memory and used in place.
//!
//! | bytes | contents |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 4 | [`VERSION`] |
//! | 4 | number of sections |
//! | 8 | length of the file |
//! | 4 | checksum of the section entries |
//! | 4 | zeros |
//! | 24 per section | offset, length, checksum, zeros |
//! | | the sections, each at a multiple of 64, with zeros between them |
//!
//! Numbers are little-endian; checksums are CRC-32. The first section is the program as text, in which
//! `dense_resource<c0>` is a constant whose elements are the second section, and so on. Tables and packed constants are
//! thus aligned for vectors and are read from the file on use.

#![allow(unsafe_code)]

use bytes::Bytes;
use gradus_dialects::addr::{StaticAccess, is_table_op};
use gradus_ir::{
    Attr, AttrData, Context, DType, Diagnostic, Loc, Module, Op, ParseOptions, Tensor, parse_module, verify,
};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The first bytes of a file.
pub const MAGIC: &[u8; 8] = b"\x89GRADUS\n";

/// The version of the format.
pub const VERSION: u32 = 1;

const HEADER: usize = 32;
const ENTRY: usize = 24;
const ALIGNMENT: usize = 64;

/// Minimum size in bytes of constants with a section of their own; smaller ones are in the text.
const MIN_BYTES: usize = 64;

/// Writes a program.
///
/// # Errors
/// Any error of the writer.
pub fn write(mut program: Module, out: &mut dyn Write) -> io::Result<()> {
    let mut sections = vec![Bytes::new()];
    for op in program.ops_under(program.root()) {
        let Some((attr, data)) = constant(&program, op).filter(|(_, data)| data.len() >= MIN_BYTES) else { continue };
        let key = program.ctx.str(&format!("c{}", sections.len() - 1));
        let Some(ty) = program.ctx.attr_type(attr) else { continue };
        let resource = program.ctx.attr(AttrData::DenseResource { key, ty });
        program.set_attr(op, VALUE, Some(resource));
        sections.push(data);
    }
    sections[0] = program.to_text(Default::default()).into_bytes().into();
    write_sections(&sections, out)
}

/// Name of the attribute of constants.
const VALUE: &str = "value";

/// Returns a constant and its elements, if they are available.
fn constant(m: &Module, op: Op) -> Option<(Attr, Bytes)> {
    let attr = m.inherent_attr(op, VALUE)?;
    match m.ctx.attr_data(attr) {
        AttrData::Dense(dense) if !dense.splat => Some((attr, dense.data())),
        _ => None,
    }
}

fn write_sections(sections: &[Bytes], out: &mut dyn Write) -> io::Result<()> {
    let (mut entries, mut at) = (Vec::with_capacity(sections.len() * ENTRY), HEADER + sections.len() * ENTRY);
    for section in sections {
        at = at.next_multiple_of(ALIGNMENT);
        entries.extend_from_slice(&(at as u64).to_le_bytes());
        entries.extend_from_slice(&(section.len() as u64).to_le_bytes());
        entries.extend_from_slice(&crc32fast::hash(section).to_le_bytes());
        entries.extend_from_slice(&[0; 4]);
        at += section.len();
    }
    out.write_all(MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    out.write_all(&(sections.len() as u32).to_le_bytes())?;
    out.write_all(&(at as u64).to_le_bytes())?;
    out.write_all(&crc32fast::hash(&entries).to_le_bytes())?;
    out.write_all(&[0; 4])?;
    out.write_all(&entries)?;
    let mut written = HEADER + entries.len();
    for section in sections {
        out.write_all(&[0; ALIGNMENT][..written.next_multiple_of(ALIGNMENT) - written])?;
        out.write_all(section)?;
        written = written.next_multiple_of(ALIGNMENT) + section.len();
    }
    out.flush()
}

/// Whether a file starts with [`MAGIC`]. Only regular files are opened, so that pipes are not consumed.
pub fn is_artifact(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut start = [0; MAGIC.len()];
    let file = std::fs::File::open(path);
    file.and_then(|mut file| io::Read::read_exact(&mut file, &mut start)).is_ok() && start == *MAGIC
}

/// Maps a file into memory.
///
/// # Errors
/// Any error of opening or mapping.
pub fn map(path: &Path) -> io::Result<Bytes> {
    let file = std::fs::File::open(path)?;
    // SAFETY: a mapped file must not be modified while it is used; Gradus replaces files and never writes them in
    // place. Memory safety does not depend on it: tables are copied before they are checked.
    let map = unsafe { memmap2::Mmap::map(&file)? };
    Ok(Bytes::from_owner(map))
}

/// Reads a program and checks all of it: sizes, checksums, the text, and that all addresses of its tables are in
/// bounds.
///
/// # Errors
/// Each error with its position.
pub fn read(ctx: &Arc<Context>, name: &str, bytes: &Bytes) -> Result<Module, Vec<Diagnostic>> {
    let at = |(at, message): (usize, String)| {
        vec![Diagnostic::error(Loc::UNKNOWN, format!("'{name}' is not a compiled program: byte {at}: {message}"))]
    };
    let sections = sections(bytes).map_err(at)?;
    let text = std::str::from_utf8(&bytes[sections[0].clone()]);
    let text = text.map_err(|e| at((sections[0].start + e.valid_up_to(), "the text is not UTF-8".into())))?;
    let mut m = parse_module(ctx, name, text.to_owned(), ParseOptions::default())?;
    for op in m.ops_under(m.root()) {
        if let Some(attr) = m.inherent_attr(op, VALUE)
            && let &AttrData::DenseResource { key, ty } = m.ctx.attr_data(attr)
        {
            let number = m.ctx.text(key).strip_prefix('c').and_then(|n| n.parse::<usize>().ok());
            let range = number.and_then(|n| sections.get(n.checked_add(1)?));
            let wrong = |message| vec![Diagnostic::error(m.loc(op), message)];
            let range = range.ok_or_else(|| wrong(format!("there is no section '{}'", m.ctx.text(key))))?;
            let tensor = tensor(&m.ctx, ty, bytes.slice(range.clone())).map_err(wrong)?;
            let attr = m.ctx.dense_attr(ty, &tensor);
            m.set_attr(op, VALUE, Some(attr));
        }
    }
    verify(&m)?;
    check_addresses(&m)?;
    Ok(m)
}

/// Returns the elements of a constant.
fn tensor(ctx: &Context, ty: gradus_ir::Type, data: Bytes) -> Result<Tensor, String> {
    let shape = ctx.static_shape(ty).ok_or("a constant of unknown extents")?;
    let shape: Vec<usize> =
        shape.iter().map(|&d| usize::try_from(d)).collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    let dtype = ctx.dtype(ctx.element_type(ty)).ok_or("a constant whose element type has no run-time values")?;
    let bits = match dtype {
        DType::Bool => 1,
        _ if dtype.is_narrow() => dtype.bits(),
        _ => 8,
    };
    if bits < 8 && data.iter().any(|&byte| byte >> bits != 0) {
        return Err(format!("a constant whose bytes are not elements of type {dtype}"));
    }
    Ok(Tensor::new(dtype, shape, data)?)
}

/// Checks that the addresses of all products and pools are constant and in bounds.
fn check_addresses(m: &Module) -> Result<(), Vec<Diagnostic>> {
    let wrong = |op: Op| {
        let checked = StaticAccess::of(m, op)
            .map_or_else(|| Err("its tables are not constant".to_owned()), |reads| reads.check());
        Some(Diagnostic::error(m.loc(op), format!("'{}' {}", m.name_text(op), checked.err()?)))
    };
    let reads = m.ops_under(m.root()).into_iter().filter(|&op| is_table_op(m, op));
    let all: Vec<Diagnostic> = reads.filter_map(wrong).collect();
    if all.is_empty() { Ok(()) } else { Err(all) }
}

/// Returns the byte ranges of the sections.
fn sections(bytes: &[u8]) -> Result<Vec<Range<usize>>, (usize, String)> {
    let cut = |at: usize| (at, format!("the file ends after {} bytes", bytes.len()));
    let word = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).ok_or(cut(at));
    let long = |at: usize| Ok(u64::from(word(at)?) | u64::from(word(at + 4)?) << 32);
    if bytes.get(..MAGIC.len()) != Some(MAGIC) {
        return Err((0, "the file does not start with the magic number".into()));
    }
    if word(8)? != VERSION {
        return Err((8, format!("version {}, but this tool reads version {VERSION}", word(8)?)));
    }
    let count = word(12)? as usize;
    if long(16)? != bytes.len() as u64 {
        return Err((16, format!("the file should have {} bytes, and has {}", long(16)?, bytes.len())));
    }
    let behind = count.checked_mul(ENTRY).and_then(|n| n.checked_add(HEADER)).filter(|&n| n <= bytes.len());
    let behind =
        behind.filter(|_| count > 0).ok_or_else(|| (12, format!("{count} sections do not fit into the file")))?;
    if word(28)? != 0 || crc32fast::hash(&bytes[HEADER..behind]) != word(24)? {
        return Err((24, "the checksum of the section entries does not match".into()));
    }
    let (mut all, mut end) = (Vec::with_capacity(count), behind);
    for entry in (HEADER..behind).step_by(ENTRY) {
        let (start, len) = (long(entry)?, long(entry + 8)?);
        let range = usize::try_from(start).ok().zip(start.checked_add(len).and_then(|end| usize::try_from(end).ok()));
        let range = range.filter(|&(start, stop)| start == end.next_multiple_of(ALIGNMENT) && stop <= bytes.len());
        let (start, stop) = range.ok_or_else(|| (entry, "the section does not follow the previous one".into()))?;
        if bytes[end..start].iter().any(|&b| b != 0) || word(entry + 20)? != 0 {
            return Err((end, "there are nonzero bytes between sections".into()));
        }
        if crc32fast::hash(&bytes[start..stop]) != word(entry + 16)? {
            return Err((start, format!("the checksum of the {} bytes from here on does not match", stop - start)));
        }
        all.push(start..stop);
        end = stop;
    }
    if end == bytes.len() { Ok(all) } else { Err((end, "there are bytes after the last section".into())) }
}
