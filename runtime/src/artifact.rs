//! Compiled programs as files, which are mapped into memory and used in place.
//!
//! | bytes | contents |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 4 | [`VERSION`] |
//! | 4 | number of sections |
//! | 8 | length of the file |
//! | 4 | checksum of the bytes from here to the end of the section entries |
//! | 4 | version of the target |
//! | 8 | hash of the machine description |
//! | 32 | name of the target, followed by zeros |
//! | 24 per section | offset, length, checksum, zeros |
//! | | the sections, each at a multiple of 64, with zeros between them |
//!
//! Numbers are little-endian; checksums are CRC-32. [`Artifact::open`] reads the header only, so that a program for another
//! target or machine is refused before anything is parsed. The first section is the program as text, in which
//! `dense_resource<c0>` is a constant whose elements are the second section, and so on. Instructions of simulated machines are constants
//! too: the bytes of their binaries. Tables and packed constants are
//! thus aligned for vectors and are read from the file on use.

#![allow(unsafe_code)]

use crate::stored_program::StoredProgram;
use bytes::Bytes;
use gradus_ir::{Context, Diagnostic, Loc, Module, Op};
use gradus_networks::addr::{StaticAccess, is_table_op};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The first bytes of a file.
pub const MAGIC: &[u8; 8] = b"\x89GRADUS\n";

/// The version of the format.
pub const VERSION: u32 = 2;

const CHECKSUM: usize = 24;
const CHECKED: usize = CHECKSUM + 4;
const NAME: Range<usize> = 40..72;
const HEADER: usize = NAME.end;
const ENTRY: usize = 24;
const ALIGNMENT: usize = 64;

/// The name in the header of files of address tables, in place of a target.
pub(crate) const TABLE_FILE: &str = "address tables";

/// The target for which a program was compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledFor {
    /// Name of the target, 1 to 32 bytes without zeros.
    pub target: String,
    /// Version of the target.
    pub version: u32,
    /// Hash of the machine description.
    pub machine: u64,
}

impl CompiledFor {
    /// The bytes of the header from [`CHECKED`] on.
    fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let name = self.target.as_bytes();
        if name.is_empty() || name.len() > NAME.len() || name.contains(&0) {
            let message = format!("the target's name '{}' does not have 1 to {} bytes", self.target, NAME.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let mut bytes = [&self.version.to_le_bytes()[..], &self.machine.to_le_bytes(), name].concat();
        bytes.resize(HEADER - CHECKED, 0);
        Ok(bytes)
    }
}

/// Writes a program.
///
/// # Errors
/// Any error of the writer, or the target's name is too long.
pub fn write(program: Module, compiled_for: &CompiledFor, out: &mut dyn Write) -> io::Result<()> {
    let StoredProgram { text, constants } = StoredProgram::of(program);
    let sections: Vec<Bytes> = std::iter::once(text.into()).chain(constants).collect();
    write_sections(&sections, compiled_for, out)
}

/// Writes a header and sections.
pub(crate) fn write_sections(sections: &[Bytes], compiled_for: &CompiledFor, out: &mut dyn Write) -> io::Result<()> {
    let (mut checked, mut at) = (compiled_for.to_bytes()?, HEADER + sections.len() * ENTRY);
    for section in sections {
        at = at.next_multiple_of(ALIGNMENT);
        checked.extend_from_slice(&(at as u64).to_le_bytes());
        checked.extend_from_slice(&(section.len() as u64).to_le_bytes());
        checked.extend_from_slice(&crc32fast::hash(section).to_le_bytes());
        checked.extend_from_slice(&[0; 4]);
        at += section.len();
    }
    out.write_all(MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    out.write_all(&(sections.len() as u32).to_le_bytes())?;
    out.write_all(&(at as u64).to_le_bytes())?;
    out.write_all(&crc32fast::hash(&checked).to_le_bytes())?;
    out.write_all(&checked)?;
    let mut written = CHECKED + checked.len();
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

/// A compiled program whose header has been read and checked, and nothing else.
pub struct Artifact {
    compiled_for: CompiledFor,
    name: String,
    bytes: Bytes,
    /// End of the section entries.
    behind: usize,
}

impl Artifact {
    /// Reads the header of a file named `name` and checks it: sizes and checksum.
    ///
    /// # Errors
    /// The error with its position.
    pub fn open(name: &str, bytes: Bytes) -> Result<Artifact, Vec<Diagnostic>> {
        let (compiled_for, behind) = header(&bytes).map_err(|error| invalid(name, error))?;
        Ok(Artifact { compiled_for, name: name.to_owned(), bytes, behind })
    }

    /// Returns the target for which the program was compiled.
    pub fn compiled_for(&self) -> &CompiledFor {
        &self.compiled_for
    }

    /// Whether the file has address tables and no program.
    pub fn is_table_file(&self) -> bool {
        self.compiled_for.target == TABLE_FILE
    }

    /// Returns the sections after checking them: sizes, positions and checksums.
    pub(crate) fn sections(&self) -> Result<Vec<Bytes>, Vec<Diagnostic>> {
        let ranges = sections(&self.bytes, self.behind).map_err(|error| invalid(&self.name, error))?;
        Ok(ranges.into_iter().map(|range| self.bytes.slice(range)).collect())
    }

    /// Reads the program and checks all of it: sections, checksums, the text, and that all addresses of its tables are in
    /// bounds.
    ///
    /// # Errors
    /// Each error with its position.
    pub fn read(&self, ctx: &Arc<Context>) -> Result<Module, Vec<Diagnostic>> {
        let mut sections = self.sections()?;
        let constants = sections.split_off(1);
        let text = std::str::from_utf8(&sections[0]).map_err(|e| {
            let start = self.behind.next_multiple_of(ALIGNMENT);
            invalid(&self.name, (start + e.valid_up_to(), "the text is not UTF-8".to_owned()))
        })?;
        let m = StoredProgram { text: text.to_owned(), constants }.into_module(ctx, &self.name)?;
        check_addresses(&m)?;
        Ok(m)
    }
}

/// Returns the diagnostic of an invalid file: the offset in bytes and the reason.
fn invalid(name: &str, (at, why): Invalid) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Loc::UNKNOWN, format!("'{name}' is not a compiled program: byte {at}: {why}"))]
}

type Invalid = (usize, String);

/// Checks that the addresses of all products and pools are constant and in bounds.
fn check_addresses(m: &Module) -> Result<(), Vec<Diagnostic>> {
    let wrong = |op: Op| {
        let checked =
            StaticAccess::of(m, op).map_or_else(|| Err("its tables are not constant".into()), |reads| reads.check());
        Some(Diagnostic::error(m.loc(op), format!("'{}' {}", m.name_text(op), checked.err()?)))
    };
    let reads = m.ops_under(m.root()).into_iter().filter(|&op| is_table_op(m, op));
    let all: Vec<Diagnostic> = reads.filter_map(wrong).collect();
    if all.is_empty() { Ok(()) } else { Err(all) }
}

/// Reads a little-endian word of 4 bytes.
fn word(bytes: &[u8], at: usize) -> Result<u32, Invalid> {
    let word = bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    word.ok_or_else(|| (at, format!("the file ends after {} bytes", bytes.len())))
}

/// Reads a little-endian word of 8 bytes.
fn long(bytes: &[u8], at: usize) -> Result<u64, Invalid> {
    Ok(u64::from(word(bytes, at)?) | u64::from(word(bytes, at + 4)?) << 32)
}

/// Returns the target in the header, and the end of the section entries.
fn header(bytes: &[u8]) -> Result<(CompiledFor, usize), Invalid> {
    let (word, long) = (|at| word(bytes, at), |at| long(bytes, at));
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
    if crc32fast::hash(&bytes[CHECKED..behind]) != word(CHECKSUM)? {
        return Err((CHECKSUM, "the checksum of target and section entries does not match".into()));
    }
    let (version, machine) = (word(CHECKED)?, long(CHECKED + 4)?);
    let len = NAME.len() - bytes[NAME].iter().rev().take_while(|&&byte| byte == 0).count();
    let target = std::str::from_utf8(&bytes[NAME][..len]).ok().filter(|name| !name.is_empty() && !name.contains('\0'));
    let target = target.ok_or_else(|| (NAME.start, "the target has no name".to_owned()))?.to_owned();
    Ok((CompiledFor { target, version, machine }, behind))
}

/// Returns the byte ranges of the sections, whose entries end at `behind`.
fn sections(bytes: &[u8], behind: usize) -> Result<Vec<Range<usize>>, Invalid> {
    let (word, long) = (|at| word(bytes, at), |at| long(bytes, at));
    let (mut all, mut end) = (Vec::new(), behind);
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
