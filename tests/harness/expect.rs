//! Expected diagnostics: comments in the program, as in MLIR's tests.

/// `// expected-error@+1 {{text}}`
pub struct Expected {
    /// `error`, `note`, ...
    severity: String,
    /// The line that the diagnostic is on; `None` for one without a place in the file.
    line: Option<usize>,
    /// A part of the message.
    text: String,
}

/// A diagnostic that was printed.
struct Printed<'a> {
    severity: &'a str,
    line: Option<usize>,
    message: &'a str,
}

/// The expectations in the lines of a chunk, the first of which has the number `first` in the file.
pub fn expectations(lines: &[&str], first: usize) -> Result<Vec<Expected>, String> {
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        for part in line.split("expected-").skip(1) {
            let number = first + i;
            found.push(one(part, number).ok_or_else(|| {
                format!(
                    "line {number}: expected-* needs a severity, maybe a place (@+1, @below, ...), and {{{{text}}}}"
                )
            })?);
        }
    }
    Ok(found)
}

fn one(part: &str, number: usize) -> Option<Expected> {
    let (head, rest) = part.split_once("{{")?;
    let (text, _) = rest.split_once("}}")?;
    let (severity, place) = head.trim().split_once('@').unwrap_or((head.trim(), "+0"));
    let known = ["error", "warning", "remark", "note"].contains(&severity);
    let line = match place.trim() {
        "unknown" => None,
        "below" => Some(number + 1),
        "above" => Some(number.checked_sub(1)?),
        offset => Some(number.checked_add_signed(offset.parse().ok()?)?),
    };
    known.then(|| Expected { severity: severity.to_owned(), line, text: text.to_owned() })
}

/// Compares with what a command printed about the file `input`. Every expectation takes one diagnostic; an error that
/// none took is unexpected, while notes may go unmentioned.
pub fn compare(expected: &[Expected], stderr: &str, input: &str) -> Result<(), String> {
    let printed: Vec<Printed<'_>> = stderr.lines().filter_map(|l| diagnostic(l, input)).collect();
    let mut taken = vec![false; printed.len()];
    let mut wrong = Vec::new();
    for e in expected {
        let fits = |p: &Printed<'_>| p.severity == e.severity && p.line == e.line && p.message.contains(&e.text);
        match (0..printed.len()).find(|&i| !taken[i] && fits(&printed[i])) {
            Some(i) => taken[i] = true,
            None => wrong.push(format!("missing: {}{} {:?}", e.severity, place(e.line), e.text)),
        }
    }
    for (p, _) in printed.iter().zip(&taken).filter(|(p, taken)| !**taken && p.severity != "note") {
        wrong.push(format!("unexpected: {}{} {:?}", p.severity, place(p.line), p.message));
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}\nprinted:\n{stderr}", wrong.join("\n"))) }
}

fn place(line: Option<usize>) -> String {
    line.map_or(String::from(" without a place"), |l| format!(" on line {l}"))
}

/// `FILE:LINE:COL: error: message`, or the same without a place in the file.
fn diagnostic<'a>(line: &'a str, input: &str) -> Option<Printed<'a>> {
    if let Some(rest) = line.strip_prefix(input) {
        let mut parts = rest.strip_prefix(':')?.splitn(3, ':');
        let number = parts.next()?.parse().ok()?;
        parts.next()?.parse::<usize>().ok()?;
        let (severity, message) = parts.next()?.trim_start().split_once(": ")?;
        return Some(Printed { severity, line: Some(number), message });
    }
    let rest = line.strip_prefix("<unknown>: ").unwrap_or(line);
    let (severity, message) = rest.split_once(": ")?;
    ["error", "warning", "remark", "note"].contains(&severity).then_some(Printed { severity, line: None, message })
}
