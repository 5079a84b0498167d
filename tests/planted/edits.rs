//! The edits that `tests/subjects/planted.py` plants.

use crate::support::{no_failures, read, root};

/// Each expression that an edit replaces stands once in its file, with or without its outer parentheses.
#[test]
fn expressions_of_edits_stand_once() {
    let (mut failures, mut edits) = (Vec::new(), 0);
    for file in ["bugs.txt", "blind.txt", "harmless.txt"] {
        for edit in read(&root().join("tests/planted").join(file)).split("\nbug ").skip(1) {
            let mut lines = edit.trim().lines();
            let name = lines.next().and_then(|head| head.split(": ").next()).unwrap_or("");
            let text = read(&root().join(lines.next().unwrap_or("")));
            let before: Vec<&str> = lines.filter_map(|line| line.strip_prefix("- ")).collect();
            let before = before.join("\n");
            let inner = before.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(&before);
            let expression = if text.contains(&before) { &before } else { inner };
            edits += 1;
            if before.is_empty() || text.matches(expression).count() != 1 {
                failures.push(format!("{file}: {name}"));
            }
        }
    }
    no_failures("edits whose expression does not stand once in its file", &failures);
    assert!(edits > 100, "only {edits} edits are found");
}
