//! Address tables as files of their own, which another process maps into memory and uses with its own data.
//!
//! The container is that of compiled [programs](crate::artifact): header, section entries, sections at multiples of 64, and
//! checksums. The header has the name `address tables` in place of a target, and [`VERSION`]. The first section has a
//! record of [`RECORD`] bytes per table, each other section is a list of `i32`. Equal lists are one section. All numbers are
//! little-endian, texts are followed by zeros.
//!
//! | byte | bytes | contents of a record |
//! |---|---|---|
//! | 0 | 64 | name of the op that reads through the table, or zeros |
//! | 64 | 32 | layout of the buffer, such as `NCHW4c` |
//! | 96 | 16 | element type of the buffer |
//! | 112 | 4 | op: 0 `addr.gemm`, 1 `addr.indirect_gemm`, 2 `addr.pool`, 3 `addr.depthwise` |
//! | 116 | 4 | accesses: 0 convolution, 1 windows of each channel, 2 rows of a matrix, 3 unknown |
//! | 120 | 4 | order of reduction points: 0 channel, row, column; 1 row, column, channel |
//! | 124 | 4 | encoding of offsets: 0 absolute, 1 running sum |
//! | 128 | 4 | number of groups, whose rows follow each other |
//! | 132 | 4 | number of sizes |
//! | 136 | 4 | number of windows |
//! | 140 | 4 | number of contiguous elements per run |
//! | 144 | 8 | number of elements of the buffer |
//! | 152 | 8 | number of rows of all groups |
//! | 160 | 8 | number of reduction points |
//! | 168 | 4 | section of the bases: `base`, or `bases` of an indirect table with one entry per row and run |
//! | 172 | 4 | section of the offsets; 0 for an indirect table |
//! | 176 | 5 x 8 | sizes of the buffer: batch, channels, image, or rows and columns |
//! | 216 | 3 x 40 | for each axis of the image: outputs, taps, stride, dilation, index of the first tap |
//! | 336 | 48 | zeros |

use crate::artifact::{Artifact, CompiledFor, TABLE_FILE, write_sections};
use bytes::Bytes;
use gradus_ir::{AttrData, Diagnostic, Loc, Module, Op, OpInfo};
use gradus_networks::addr::{self, GEOMETRY, Geometry, GeometryKind, StaticAccess};
use gradus_networks::layout::{
    AddressTable, Addressing, Derivation, Encoding, LayoutError, ReductionOrder, SlidingWindow,
};
use std::collections::HashMap;
use std::io::{self, Write};

/// The version of the contents.
pub const VERSION: u32 = 1;

/// Size in bytes of a record.
pub const RECORD: usize = 384;

/// The number for unknown accesses.
const UNKNOWN: u32 = GeometryKind::ALL.len() as u32;

const SIZES: usize = 5;
const WINDOWS: usize = 3;

/// The table of an op.
#[derive(Clone, PartialEq, Debug)]
pub struct TableRecord {
    /// The name that the op's location has; empty for none.
    pub name: String,
    /// The op: an index of [`addr::OPS`].
    pub op: usize,
    /// The element type of the buffer.
    pub element: String,
    /// Number of elements of the buffer.
    pub elements: u64,
    /// Number of groups, whose rows follow each other.
    pub groups: u32,
    /// The geometry from which the table was computed, if it is known.
    pub geometry: Option<Geometry>,
    /// The table.
    pub table: AddressTable<'static>,
}

impl TableRecord {
    /// Returns the table of an op; `None` if it has none that is constant, or its buffer is dynamic.
    pub fn of(m: &Module, op: Op) -> Option<TableRecord> {
        let access = StaticAccess::of(m, op).filter(|access| access.elements != i64::MAX)?;
        let (info, args) = (m.info(op)?, m.args(op)?);
        let name = match m.ctx.attr_data(m.loc(op).to_attr(&m.ctx)) {
            AttrData::LocName { name, .. } => m.ctx.text(*name).to_owned(),
            _ => String::new(),
        };
        let buffer = m.ctx.element_type(m.value_type(args.opt_operand("a")?));
        Some(TableRecord {
            name,
            op: addr::OPS.iter().position(|&other| std::ptr::eq(other, info))?,
            element: m.ctx.display_type(buffer).to_string(),
            elements: access.elements.cast_unsigned(),
            groups: u32::try_from(addr::groups(&args)?).ok()?,
            geometry: m.attr(op, m.ctx.str(GEOMETRY)).and_then(|attr| Geometry::from_attr(&m.ctx, attr)),
            table: access.table.into_owned(),
        })
    }

    /// Returns the declaration of the op.
    pub fn info(&self) -> &'static OpInfo {
        addr::OPS[self.op]
    }

    /// Whether the table is the one that [coordinates](Derivation::Coordinates) yield for its geometry; `None` without a
    /// geometry.
    pub fn agrees_with_geometry(&self) -> Option<bool> {
        let geometry = self.geometry.as_ref()?;
        let rows = geometry.access().and_then(|access| access.num_outputs());
        let may_agree = rows == Ok(self.table.rows() as u64);
        let again = || geometry.table(Derivation::Coordinates).map(|table| table.with_encoding(self.table.encoding()));
        Some(may_agree && again().is_ok_and(|table| table == self.table))
    }

    fn to_bytes(&self, [base, relative]: [u32; 2]) -> io::Result<Vec<u8>> {
        let (mut out, geometry) = (Vec::with_capacity(RECORD), self.geometry.as_ref());
        text(&mut out, 64, &shortened(&self.name, 63))?;
        text(&mut out, 32, &geometry.map_or(String::new(), |g| g.layout.order()))?;
        text(&mut out, 16, &self.element)?;
        let run = u32::try_from(self.table.run()).map_err(|_| invalid_input("a run is too long"))?;
        let sizes = geometry.map_or(&[][..], |g| &g.sizes);
        let windows = geometry.map_or(&[][..], |g| &g.windows);
        let kind = geometry.map_or(UNKNOWN, |g| g.kind as u32);
        let order = geometry.map_or(0, |g| g.order as u32);
        let encoding = self.table.encoding() as u32;
        let counts = [sizes.len() as u32, windows.len() as u32, run];
        for word in [self.op as u32, kind, order, encoding, self.groups].into_iter().chain(counts) {
            out.extend(word.to_le_bytes());
        }
        for long in [self.elements, self.table.rows() as u64, self.table.depth() as u64] {
            out.extend(long.to_le_bytes());
        }
        [base, relative].into_iter().for_each(|section| out.extend(section.to_le_bytes()));
        let zero = SlidingWindow { outputs: 0, taps: 0, stride: 0, dilation: 0, start: 0 };
        let sizes = sizes.iter().copied().chain(std::iter::repeat(0)).take(SIZES);
        let windows = windows.iter().copied().chain(std::iter::repeat(zero)).take(WINDOWS);
        let numbers = |w: SlidingWindow| {
            [w.outputs, w.taps, w.stride, w.dilation].map(u64::cast_signed).into_iter().chain([w.start])
        };
        sizes.chain(windows.flat_map(numbers)).for_each(|number| out.extend(number.to_le_bytes()));
        out.resize(RECORD, 0);
        Ok(out)
    }
}

/// Writes tables.
///
/// # Errors
/// Any error of the writer, or a text or number that does not fit into its field.
pub fn write(records: &[TableRecord], out: &mut dyn Write) -> io::Result<()> {
    let (mut sections, mut known) = (vec![Bytes::new()], HashMap::new());
    let mut section = |list: &[i32]| {
        let bytes: Bytes = list.iter().flat_map(|at| at.to_le_bytes()).collect::<Vec<u8>>().into();
        *known.entry(bytes).or_insert_with_key(|bytes| {
            sections.push(bytes.clone());
            sections.len() as u32 - 1
        })
    };
    let mut directory = Vec::new();
    for record in records {
        let table = &record.table;
        let lists = match table.addressing() {
            Addressing::Separable { base, relative } => [section(base), section(&table.encoding().encode(relative))],
            Addressing::Indirect { bases, .. } => [section(bases), 0],
        };
        directory.extend(record.to_bytes(lists)?);
    }
    sections[0] = directory.into();
    write_sections(&sections, &CompiledFor { target: TABLE_FILE.to_owned(), version: VERSION, machine: 0 }, out)
}

/// Reads the tables of a file and checks all of them: sections, checksums, sizes, and that all addresses are inside the
/// declared buffers.
///
/// # Errors
/// The error, with the number of its table.
pub fn read(artifact: &Artifact) -> Result<Vec<TableRecord>, Vec<Diagnostic>> {
    let invalid = |why: String| vec![Diagnostic::error(Loc::UNKNOWN, format!("not a file of address tables: {why}"))];
    if !artifact.is_table_file() {
        return Err(invalid("it is a compiled program".into()));
    }
    let version = artifact.compiled_for().version;
    if version != VERSION {
        return Err(invalid(format!("version {version}, but this tool reads version {VERSION}")));
    }
    let sections = artifact.sections()?;
    let (records, rest) = sections[0].as_chunks::<RECORD>();
    if !rest.is_empty() {
        return Err(invalid(format!("{} bytes are not whole records of {RECORD}", sections[0].len())));
    }
    let read = |(i, bytes)| Record(bytes).read(&sections).map_err(|why| invalid(format!("table {i}: {why}")));
    records.iter().enumerate().map(read).collect()
}

/// The bytes of a record.
struct Record<'a>(&'a [u8; RECORD]);

impl Record<'_> {
    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|i| self.0[at + i]))
    }

    fn long(&self, at: usize) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|i| self.0[at + i]))
    }

    fn text(&self, at: usize, len: usize) -> Result<String, String> {
        let field = &self.0[at..at + len];
        let end = field.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let text = std::str::from_utf8(&field[..end]).ok().filter(|text| !text.contains('\0'));
        text.map(str::to_owned).ok_or_else(|| format!("the text at byte {at} is not UTF-8 followed by zeros"))
    }

    fn count(&self, at: usize, most: usize) -> Result<usize, String> {
        let count = self.word(at) as usize;
        if count <= most { Ok(count) } else { Err(format!("{count} entries at byte {at}, of at most {most}")) }
    }

    /// Returns the list in the section whose number is at a byte.
    fn list(&self, at: usize, sections: &[Bytes]) -> Result<Vec<i32>, String> {
        let number = self.word(at) as usize;
        let section = sections.get(number).filter(|_| number > 0).ok_or_else(|| format!("no section {number}"))?;
        let (words, rest) = section.as_chunks::<4>();
        if rest.is_empty() {
            Ok(words.iter().map(|&word| i32::from_le_bytes(word)).collect())
        } else {
            Err(format!("section {number} is not a list of 32-bit numbers"))
        }
    }

    fn read(&self, sections: &[Bytes]) -> Result<TableRecord, String> {
        let record = TableRecord {
            name: self.text(0, 64)?,
            op: self.count(112, addr::OPS.len() - 1)?,
            element: self.text(96, 16)?,
            elements: self.long(144),
            groups: self.word(128),
            geometry: self.geometry()?,
            table: self.table(sections)?,
        };
        let [rows, depth] = [record.table.rows(), record.table.depth()].map(|n| n as u64);
        if [rows, depth] != [self.long(152), self.long(160)] {
            return Err(format!("the lists are for {rows} rows of {depth} points, the record says otherwise"));
        }
        if record.groups == 0 || !rows.is_multiple_of(record.groups.into()) {
            return Err(format!("{} groups do not divide {rows} rows", record.groups));
        }
        record.table.check(i64::try_from(record.elements).map_err(|_| "the buffer is too large")?)?;
        Ok(record)
    }

    fn table(&self, sections: &[Bytes]) -> Result<AddressTable<'static>, String> {
        let bases = self.list(168, sections)?;
        let encoding = match self.count(124, 1)? {
            0 => Encoding::Absolute,
            _ => Encoding::Running,
        };
        let run = self.word(140) as usize;
        if self.word(172) != 0 {
            let relative = encoding.decode(self.list(172, sections)?.into()).into_owned();
            let table = AddressTable::separable(bases, relative).with_encoding(encoding);
            let has_runs = table.run() == run;
            return if has_runs { Ok(table) } else { Err(format!("the runs do not have {run} elements")) };
        }
        let number = |at| usize::try_from(self.long(at)).map_err(|_| "a table is too large");
        let (rows, depth) = (number(152)?, number(160)?);
        Ok(AddressTable::indirect(bases, [rows, depth.checked_div(run).ok_or("runs are empty")?], run)?)
    }

    fn geometry(&self) -> Result<Option<Geometry>, String> {
        let Some(&kind) = GeometryKind::ALL.get(self.count(116, GeometryKind::ALL.len())?) else { return Ok(None) };
        let (sizes, windows) = (self.count(132, SIZES)?, self.count(136, WINDOWS)?);
        let window = |i: usize| {
            let long = |n: usize| self.long(216 + 40 * i + 8 * n);
            let [outputs, taps, stride, dilation] = std::array::from_fn(long);
            SlidingWindow { outputs, taps, stride, dilation, start: long(4).cast_signed() }
        };
        let message = |error: LayoutError| error.to_string();
        let geometry = Geometry {
            kind,
            layout: self.text(64, 32)?.parse().map_err(message)?,
            sizes: (0..sizes).map(|i| self.long(176 + 8 * i).cast_signed()).collect(),
            groups: self.word(128).into(),
            windows: (0..windows).map(window).collect(),
            order: ReductionOrder::ALL[self.count(120, ReductionOrder::ALL.len() - 1)?],
        };
        let size = geometry.placed().map_err(message)?.size();
        geometry.access().map_err(message)?;
        match size == self.long(144) {
            true => Ok(Some(geometry)),
            false => Err(format!("the geometry has a buffer of {size} elements, the record says otherwise")),
        }
    }
}

/// Appends a text, followed by zeros.
fn text(out: &mut Vec<u8>, len: usize, text: &str) -> io::Result<()> {
    if text.len() > len {
        return Err(invalid_input(&format!("the text '{text}' has more than {len} bytes")));
    }
    out.extend_from_slice(text.as_bytes());
    out.resize(out.len() + len - text.len(), 0);
    Ok(())
}

/// Returns the beginning of a text, of at most `len` bytes.
fn shortened(text: &str, len: usize) -> String {
    let end = (0..=len.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    text[..end].to_owned()
}

fn invalid_input(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
