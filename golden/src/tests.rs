//! The harness rejects files without assertions and files with misspelt directives.

use crate::file::Golden;
use gradus::Tool;
use std::sync::Arc;

/// Name, contents, and a part of the expected error, which is empty for a valid file.
const FILES: [(&str, &str, &str); 15] = [
    ("no_run_line", "module {}\n", "the first line must be"),
    ("run_line_later", "\n// RUN: gradus opt %s\nmodule {}\n", "the first line must be"),
    ("other_command", "// RUN: cat %s\nmodule {}\n", "'cat' cannot be run"),
    ("no_file", "// RUN: gradus opt --cse\nmodule {}\n", "the first line must be"),
    ("checks_without_filecheck", "// RUN: gradus opt %s\n// CHECK: module\nmodule {}\n", "the prefix 'CHECK'"),
    ("filecheck_without_checks", "// RUN: gradus opt %s | FileCheck %s\nmodule {}\n", "asserts nothing"),
    (
        "unused_prefix",
        "// RUN: gradus opt %s | FileCheck %s\n// CHECK: module\n// OPT-NEXT: }\nmodule {}\n",
        "line 3: no RUN line passes to FileCheck the prefix 'OPT'",
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
    ("good_reproducer", "// RUN: gradus check %s --cse\nfunc.func @f() { return }\n", ""),
    ("good_error", "// RUN: gradus opt %s\n// expected-error@below {{x}}\nmodul {}\n", ""),
];

#[test]
fn files_that_assert_nothing_are_refused() {
    let tool = Arc::new(Tool::gradus());
    for (name, text, wrong) in FILES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("{name}.mlir"));
        std::fs::write(&path, text).unwrap();
        match Golden::read(&tool, folder.path(), &path, folder.path()) {
            Ok(_) => assert!(wrong.is_empty(), "{name} is accepted, but {wrong}"),
            Err(why) => assert!(!wrong.is_empty() && why.contains(wrong), "{name}: {why}"),
        }
    }
}
