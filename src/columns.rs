//! Tables of text: a line for each row, two blanks between columns.

/// Formats rows with as many cells each, aligned to the left.
pub fn in_columns(rows: &[impl AsRef<[String]>]) -> String {
    lines(rows, |cell, width| format!("  {cell:width$}"))
}

/// Formats rows with as many cells each: names to the left, and what follows to the right.
#[cfg(feature = "cpu")]
pub fn numbers_in_columns(rows: &[impl AsRef<[String]>]) -> String {
    lines(rows, |cell, width| format!("  {cell:>width$}"))
}

fn lines(rows: &[impl AsRef<[String]>], after_first: fn(&str, usize) -> String) -> String {
    let columns = rows.first().map_or(0, |row| row.as_ref().len());
    let width = |column: usize| rows.iter().map(|row| row.as_ref()[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).enumerate();
        let text: String = cells
            .map(|(i, (cell, &width))| if i == 0 { format!("{cell:width$}") } else { after_first(cell, width) })
            .collect();
        text.trim_end().to_owned() + "\n"
    };
    rows.iter().map(|row| line(row.as_ref())).collect()
}
