//! The harness refuses files that would assert nothing, or not what their author thinks.

use super::file::Golden;
use libtest_mimic::{Failed, Trial};

/// A name, a file, and a part of what is wrong with it; nothing for a good file.
const FILES: [(&str, &str, &str); 14] = [
    ("no_run_line", "module {}\n", "the first line must be"),
    ("run_line_later", "\n// RUN: gradus opt %s\nmodule {}\n", "the first line must be"),
    ("other_command", "// RUN: cat %s\nmodule {}\n", "'cat' cannot be run"),
    ("no_file", "// RUN: gradus opt --cse\nmodule {}\n", "the first line must be"),
    ("checks_without_filecheck", "// RUN: gradus opt %s\n// CHECK: module\nmodule {}\n", "the prefix 'CHECK'"),
    ("filecheck_without_checks", "// RUN: gradus opt %s | FileCheck %s\nmodule {}\n", "asserts nothing"),
    (
        "unused_prefix",
        "// RUN: gradus opt %s | FileCheck %s\n// CHECK: module\n// OPT-NEXT: }\nmodule {}\n",
        "line 3: no RUN line lets FileCheck read the prefix 'OPT'",
    ),
    (
        "prefix_without_checks",
        "// RUN: gradus opt %s | FileCheck %s\n// RUN: gradus opt %s | FileCheck %s --check-prefix=B\n// CHECK: module\nmodule {}\n",
        "'FileCheck %s --check-prefix=B' asserts nothing",
    ),
    ("empty_chunk", "// RUN: gradus opt %s\nmodule {}\n// -----\n// nothing\n", "the chunk from line 4 on is empty"),
    ("bad_expectation", "// RUN: gradus opt %s\n// expected-error@1 {{x}}\nmodule {}\n", "line 2: expected-* needs"),
    (
        "bad_expectation_end",
        "// RUN: gradus opt %s\n// expected-error {{x}} y\nmodule {}\n",
        "line 2: expected-* needs",
    ),
    ("good", "// RUN: gradus opt %s\nmodule {}\n", ""),
    ("good_check", "// RUN: gradus opt %s | FileCheck %s\n// CHECK: module\nmodule {}\n", ""),
    ("good_error", "// RUN: gradus opt %s\n// expected-error@below {{x}}\nmodul {}\n", ""),
];

/// One test for each file.
pub fn tests() -> Vec<Trial> {
    let test = |(name, text, wrong)| Trial::test(format!("harness/{name}"), move || check(name, text, wrong));
    FILES.into_iter().map(test).collect()
}

fn check(name: &str, text: &str, wrong: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join(format!("{name}.mlir"));
    std::fs::write(&path, text)?;
    match Golden::read(folder.path(), &path, folder.path()) {
        Ok(_) if wrong.is_empty() => Ok(()),
        Ok(_) => Err(format!("is accepted, but {wrong}").into()),
        Err(why) if !wrong.is_empty() && why.contains(wrong) => Ok(()),
        Err(why) => Err(why.into()),
    }
}
