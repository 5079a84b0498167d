//! Records as text: one per line, the function and the fields by name. `cluster 0` begins the records of a cluster.
//!
//! ```text
//! cluster 0
//! fetch transfer = {from = {offset = 0, row = 0, pixel = 0}, to = {...}, rows = 1, cols = 1, bytes = 64}, clusters = 3, event = 0
//! wait event = 0, count = 1
//! map task = 0, input = {...}, output = {...}, stages = [{kind = clamp, low = 0.0, high = 6.0}]
//! cluster 1
//! ```
//!
//! Fields are in the order of their declaration. `#` begins a comment.

use super::FUNCTIONS;
use super::{MAX_CLUSTERS, Record};
use crate::fields::text::{FieldTextParser, Printer, TextError, lines};
use std::fmt::{self, Write};

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::default();
        let Ok(()) = { *self }.visit_fields(&mut printer);
        write!(f, "{} {}", FUNCTIONS[self.function()], printer.text)
    }
}

impl std::str::FromStr for Record {
    type Err = String;

    /// Reads one record.
    fn from_str(text: &str) -> Result<Record, String> {
        let mut parser = FieldTextParser::new(text);
        let name = parser.name().to_owned();
        let function = FUNCTIONS.iter().position(|&function| function == name);
        let mut record = function.and_then(Record::blank).ok_or_else(|| format!("'{name}' is no function"))?;
        record.visit_fields(&mut parser)?;
        if parser.rest.is_empty() { Ok(record) } else { Err(format!("'{}' after the last field", parser.rest)) }
    }
}

/// Returns the text of the records of each cluster.
pub fn disassemble(clusters: &[Vec<Record>]) -> String {
    let mut text = String::new();
    for (i, records) in clusters.iter().enumerate() {
        let _ = writeln!(text, "cluster {i}");
        for record in records {
            let _ = writeln!(text, "{record}");
        }
    }
    text
}

/// Reads the records of each cluster.
///
/// # Errors
/// The first line that is neither a record nor the begin of the next cluster.
pub fn assemble(text: &str) -> Result<Vec<Vec<Record>>, TextError> {
    let mut clusters: Vec<Vec<Record>> = Vec::new();
    for (line, content) in lines(text) {
        let fail = |reason| TextError { line, reason };
        if let Some(number) = content.strip_prefix("cluster ") {
            let next = clusters.len();
            if number.trim() != next.to_string() || next >= MAX_CLUSTERS {
                return Err(fail(format!("expected 'cluster {next}', at most {MAX_CLUSTERS} clusters")));
            }
            clusters.push(Vec::new());
            continue;
        }
        let record = content.parse().map_err(fail)?;
        let Some(records) = clusters.last_mut() else { return Err(fail("expected 'cluster 0'".to_owned())) };
        records.push(record);
    }
    Ok(clusters)
}
