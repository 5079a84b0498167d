//! Machine descriptions: what is read, and the diagnostics of damaged files.

use gradus_cost::{CostError, Machine, machine_numbers};
use gradus_ir::Context;

const FILE: &str = "# A comment.
name = \"toy\"
lanes = { value = 8, unit = \"elements\", source = \"cited: its manual\" }
panel = { value = 16, unit = \"columns\", source = \"assumed\" }
";

fn read(text: &str) -> Result<Machine, Vec<String>> {
    let ctx = Context::new(&[]);
    let machine = Machine::read(&ctx, "toy.toml", FILE).expect("it is valid");
    let first = |error: String| error.lines().next().unwrap_or("").to_owned();
    machine.read_like(&ctx, "my.toml", text).map_err(|all| all.iter().map(|e| first(e.render(&ctx))).collect())
}

#[test]
fn numbers_are_found_by_key() {
    let machine = read(FILE).expect("it is valid");
    assert_eq!((machine.value("lanes"), machine.name.as_str()), (Ok(8), "toy"));
    assert_eq!(machine.fill("a{w=$panel,l=$lanes}"), Ok("a{w=16,l=8}".to_owned()));
    assert_eq!(machine.fill("$lane"), Err(CostError::UnknownNumber { machine: "toy".into(), key: "lane".into() }));
    assert_eq!(machine.numbers()[0].source, "cited: its manual");
}

machine_numbers! {
    /// A number in hundredths.
    struct Panel {
        panel: f64,
    }
}

machine_numbers! {
    struct Toy {
        lanes,
        panel: usize,
        in_hundredths: Panel,
    }
}

#[test]
fn numbers_are_read_into_structs() {
    let toy = read(FILE).map(|machine| Toy::of(&machine).expect("it has the numbers")).expect("it is valid");
    assert_eq!((toy.lanes, toy.panel, toy.in_hundredths.panel.to_bits()), (8, 16, 0.16_f64.to_bits()));
}

/// The hash covers names and values.
#[test]
fn the_hash_is_of_numbers() {
    let hash = |text: &str| read(text).expect("it is valid").hash();
    assert_eq!(hash(FILE), hash(&FILE.replace("# A comment.", "# Another.").replace("assumed", "assumed: why")));
    assert_ne!(hash(FILE), hash(&FILE.replace("= 8", "= 9")));
    assert_ne!(hash(FILE), hash(&FILE.replace("16", "61")));
}

#[test]
fn mistakes_have_a_place_and_a_suggestion() {
    for (from, to, want) in [
        ("lanes =", "lane =", "my.toml:3:1: error: unknown number 'lane' of 'toy'; did you mean 'lanes'?"),
        ("name = \"toy\"", "", "my.toml:1:1: error: missing 'name', the target that is described"),
        ("\"toy\"", "\"boy\"", "my.toml:1:1: error: this describes 'boy', not 'toy'"),
        ("= 8", "= 0", "my.toml:3:19: error: the value of 'lanes' is from 1 to 4294967295, not 0"),
        ("= 8", "= -8", "my.toml:3:19: error: the value of 'lanes' is from 1 to 4294967295, not -8"),
        ("= 8", "= 4294967296", "my.toml:3:19: error: the value of 'lanes' is from 1 to 4294967295, not 4294967296"),
        ("= 8", "= 1e3", "my.toml:3:19: error: the value of 'lanes' is an integer, not of type float"),
        ("= 8", "= \"8\"", "my.toml:3:19: error: the value of 'lanes' is an integer, not of type string"),
        ("= 8", "= [8]", "my.toml:3:19: error: the value of 'lanes' is an integer, not of type array"),
        ("\"elements\"", "\"bytes\"", "my.toml:3:1: error: the unit of 'lanes' is 'elements', not 'bytes'"),
        (
            "\"assumed\"",
            "\"hearsay\"",
            "my.toml:4:50: error: the source of 'panel' is \"cited: ...\" or \"assumed\", not \"hearsay\"",
        ),
        ("unit", "units", "my.toml:3:22: error: 'lanes' has no field 'units'; did you mean 'unit'?"),
        (
            "{ value = 8, unit = \"elements\", source = \"cited: its manual\" }",
            "8",
            "my.toml:3:9: error: 'lanes' is { value, unit, source }, not of type integer",
        ),
    ] {
        let text = FILE.replacen(from, to, 1);
        assert_ne!(text, FILE);
        assert_eq!(read(&text).expect_err("it is damaged")[0], want);
    }
}

#[test]
fn a_description_has_the_numbers_that_differ() {
    let wider = "name = \"toy\"\nlanes = { value = 9, unit = \"elements\", source = \"assumed\" }\n";
    let machine = read(wider).expect("it is valid");
    assert_eq!((machine.value("lanes"), machine.value("panel")), (Ok(9), Ok(16)));
    assert_eq!(machine.numbers()[0].source, "assumed");
    assert_eq!(read("name = \"toy\"\n"), read(FILE));
}

/// Each prefix, and each byte replaced by others, is read or refused with a diagnostic.
#[test]
fn damaged_files_are_refused_without_a_panic() {
    let mut refused = 0;
    for at in 0..FILE.len() {
        let (before, after) = (&FILE[..at], &FILE[at + 1..]);
        let damaged = ["", "\"", "{", "]", "=", "9", "é", "\u{0}", "\n"].map(|byte| format!("{before}{byte}{after}"));
        for text in damaged.into_iter().chain([before.to_owned()]) {
            refused += usize::from(read(&text).is_err_and(|errors| errors.iter().all(|e| e.contains("error: "))));
        }
    }
    assert!(refused > 1000, "only {refused} files are refused");
    let deep = format!("name = {}", "[".repeat(100_000));
    assert!(read(&deep).is_err());
}

/// A description that is written as text is read back.
#[test]
fn a_description_is_written_as_text() {
    let ctx = Context::new(&[]);
    let mut machine = Machine::read(&ctx, "my.toml", FILE).expect("it is valid");
    machine.set("lanes", 17).expect("there is such a number");
    machine.cite("lanes", r#"cited: "C:\manual", page 4"#).expect("there is such a number");
    let again = machine.read_like(&ctx, "again.toml", &machine.to_text()).expect("it is valid");
    assert_eq!(again, machine);
}
