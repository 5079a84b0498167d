//! MiniMalloc's CSV form: columns `id`, `lower`, `upper`, `size`, and optionally `alignment` and `offset`, in any order.

use crate::problem::Buffer;
use std::fmt;

/// The buffers of a file, and what is needed to write it again.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    /// The buffers, in the order of the rows. A column `offset` gives the fixed offset of its non-empty cells.
    pub buffers: Vec<Buffer>,
    /// The `id` of each row.
    pub ids: Vec<&'a str>,
    /// The columns that are kept but not read, as messages at their names.
    pub unread: Vec<CsvMessage>,
    header: &'a str,
    rows: Vec<&'a str>,
    offset_column: Option<usize>,
}

/// An error or a warning at a place of a CSV file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CsvMessage {
    /// Line, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
    /// The violated rule, or the fact to know.
    pub message: String,
}

impl fmt::Display for CsvMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for CsvMessage {}

/// The columns that are read, in the order of [`Columns`]; the first four are required.
const NAMES: [&str; 6] = ["id", "lower", "upper", "size", "alignment", "offset"];

/// For each of [`NAMES`], the position of its column.
type Columns = [Option<usize>; 6];

impl<'a> Table<'a> {
    /// Reads a file. Lifetimes are half-open, `lower..upper`; other columns are kept, and listed in [`Table::unread`]. With
    /// `are_offsets_fixed`, a column `offset` gives fixed offsets, otherwise it is ignored.
    pub fn parse(text: &'a str, are_offsets_fixed: bool) -> Result<Table<'a>, CsvMessage> {
        let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
        let blank = |line: &str| line.trim().is_empty();
        let error = |line, column, message: String| CsvMessage { line, column, message };
        let Some((number, header)) = lines.by_ref().find(|(_, line)| !blank(line)) else {
            return Err(error(1, 1, "the file has no header 'id,lower,upper,size'".to_owned()));
        };
        let mark = if header.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let header = &header[mark..];
        let columns = columns(header).map_err(|(column, message)| error(number, mark + column, message))?;
        let width = header.split(',').count();
        let offset_column = columns[5];
        let unread = unread(header).map(|(column, message)| error(number, mark + column, message)).collect();
        let mut table = Table { buffers: Vec::new(), ids: Vec::new(), unread, header, rows: Vec::new(), offset_column };
        for (number, row) in lines.filter(|(_, line)| !blank(line)) {
            let parsed = parse_row(row, &columns, width, are_offsets_fixed);
            let (id, buffer) = parsed.map_err(|(column, message)| error(number, column, message))?;
            table.ids.push(id);
            table.buffers.push(buffer);
            table.rows.push(row);
        }
        Ok(table)
    }

    /// Writes the rows again with the column `offset`, which replaces an existing one or is the last.
    pub fn with_offsets(&self, offsets: &[u64]) -> String {
        let mut text = String::with_capacity(self.rows.iter().map(|row| row.len() + 12).sum());
        let replaced = |row: &str, cell: &str| match self.offset_column {
            None => format!("{row},{cell}\n"),
            Some(at) => {
                let cells = row.split(',').enumerate().map(|(i, old)| if i == at { cell } else { old });
                cells.collect::<Vec<_>>().join(",") + "\n"
            }
        };
        text.push_str(&replaced(self.header, "offset"));
        for (row, offset) in self.rows.iter().zip(offsets) {
            text.push_str(&replaced(row, &offset.to_string()));
        }
        text
    }
}

/// Returns the names of the header, with the columns in bytes at which they begin and their position among [`NAMES`].
fn names(header: &str) -> impl Iterator<Item = (usize, &str, Option<usize>)> {
    header.split(',').scan(1, |next, cell| {
        let at = std::mem::replace(next, *next + cell.len() + 1);
        Some((at, cell.trim(), NAMES.iter().position(|name| *name == cell.trim())))
    })
}

/// Returns a message for each column that is not among [`NAMES`], with its column in bytes.
fn unread(header: &str) -> impl Iterator<Item = (usize, String)> {
    let message = |name: &str| {
        let shown: String = name.chars().take(30).collect();
        format!("column '{shown}' is not read; the columns are {}", NAMES.join(", "))
    };
    names(header).filter(|(.., known)| known.is_none()).map(move |(at, name, _)| (at, message(name)))
}

/// Finds the columns in the header. An error has its column in bytes.
fn columns(header: &str) -> Result<Columns, (usize, String)> {
    let mut columns = Columns::default();
    for (i, (at, name, known)) in names(header).enumerate() {
        if known.is_some_and(|known| columns[known].replace(i).is_some()) {
            return Err((at, format!("there are two columns '{name}'")));
        }
    }
    match columns[..4].iter().position(Option::is_none) {
        Some(missing) => Err((1, format!("the header has no column '{}'", NAMES[missing]))),
        None => Ok(columns),
    }
}

/// Reads a row with `width` cells. An error has its column in bytes.
fn parse_row<'a>(
    row: &'a str,
    columns: &Columns,
    width: usize,
    are_offsets_fixed: bool,
) -> Result<(&'a str, Buffer), (usize, String)> {
    let (mut id, mut numbers, mut starts, mut count, mut at) = ("", [0, 0, 0, 1, 0], [1; 5], 0, 1);
    let mut has_offset = false;
    for (i, cell) in row.split(',').enumerate() {
        let trimmed = cell.trim();
        match columns.iter().position(|column| *column == Some(i)) {
            Some(0) => id = trimmed,
            Some(5) if trimmed.is_empty() || !are_offsets_fixed => {}
            Some(known) => {
                numbers[known - 1] = number(trimmed).map_err(|rule| (at, format!("{} {rule}", NAMES[known])))?;
                starts[known - 1] = at;
                has_offset |= known == 5;
            }
            None => {}
        }
        at += cell.len() + 1;
        count += 1;
    }
    if count != width {
        return Err((1, format!("the row has {count} cells, the header {width}")));
    }
    let [start, end, bytes, alignment, offset] = numbers;
    let bytes = u64::try_from(bytes).map_err(|_| (starts[2], format!("size {bytes} is negative")))?;
    let alignment = u64::try_from(alignment).map_err(|_| (starts[3], format!("alignment {alignment} is negative")))?;
    let offset = u64::try_from(offset).map_err(|_| (starts[4], format!("offset {offset} is negative")))?;
    match () {
        () if start >= end => Err((starts[1], format!("upper {end} is not after lower {start}"))),
        () if alignment == 0 => Err((starts[3], "alignment 0 divides no offset".to_owned())),
        () if has_offset && offset % alignment != 0 => {
            Err((starts[4], format!("offset {offset} is not a multiple of the alignment {alignment}")))
        }
        () => Ok((id, Buffer { start, end, bytes, alignment, fixed: has_offset.then_some(offset), pools: 1 })),
    }
}

/// Reads a decimal integer of 64 bits. An error continues the sentence that begins with the column's name.
fn number(cell: &str) -> Result<i64, String> {
    let shown = || cell.chars().take(30).collect::<String>();
    cell.parse().map_err(|e: std::num::ParseIntError| match e.kind() {
        std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
            format!("'{}' does not fit into 64 bits", shown())
        }
        _ => format!("'{}' is not an integer", shown()),
    })
}
