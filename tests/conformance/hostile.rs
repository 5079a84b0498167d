//! Hostile inputs: parsing terminates soon, with output or with an error at a position.

use crate::support::gradus;
use std::fmt::Write;
use std::sync::mpsc;
use std::time::Duration;

/// Time limit, far above the second that a case takes at most.
const LIMIT: Duration = Duration::from_secs(10);

/// Maximum length in bytes of an input of the reader by the grammar, which is slow.
const SMALL: usize = 1 << 18;

/// Nesting depth of deep inputs.
const DEEP: usize = 100_000;

/// `n` times `open`, then `core`, then `n` times `close`.
fn nest(n: usize, open: &str, core: &str, close: &str) -> String {
    format!("{}{core}{}", open.repeat(n), close.repeat(n))
}

/// Returns an op with one attribute.
fn attr(value: &str) -> String {
    format!("\"t.x\"() {{a={value}}} : () -> ()\n")
}

/// Returns the concatenation of `line(0)`, `line(1)`, ...
fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut all, i| {
        let _ = write!(all, "{}", line(i));
        all
    })
}

fn nesting() -> Vec<(&'static str, String)> {
    let nested = |open: &str, core: &str, close: &str| attr(&nest(DEEP, open, core, close));
    let op = "\"t.x\"() : () -> ()";
    vec![
        ("regions", nest(DEEP, "\"t.r\"() ({", op, "}) : () -> ()")),
        ("regions_1k", nest(1000, "\"t.r\"() ({\n", op, "\n}) : () -> ()")),
        ("unclosed_regions", "\"t.r\"() ({\n".repeat(1000)),
        ("modules", nest(DEEP, "module{", "", "}")),
        ("foreign_custom_form", format!("func.func @f(%c: i1) {{{} return }}\n", nest(10_000, "scf.if %c {", "", "}"))),
        ("arrays", nested("[", "1", "]")),
        ("dictionaries", nested("{a=", "1", "}")),
        ("tuples", nested("tuple<", "i1", ">")),
        ("functions", nested("() -> (", "i1", ")")),
        ("function_chain", format!("\"t.x\"() : {}()\n", "() -> ".repeat(1_000_000))),
        ("locations", format!("{op} loc({})\n", nest(DEEP, "callsite(\"a\" at ", "\"b\"", ")"))),
        ("affine_parentheses", attr(&format!("affine_map<(d0) -> ({})>", nest(DEEP, "(", "d0", ")")))),
        ("elements", attr(&format!("dense<{}> : tensor<1xi32>", nest(DEEP, "[", "1", "]")))),
        ("opaque_type", attr(&format!("!foo<{}>", nest(DEEP, "[", "", "]")))),
        ("opaque_unbalanced", attr(&format!("#foo<{}> ", "<".repeat(DEEP)))),
    ]
}

fn large() -> Vec<(&'static str, String)> {
    let sum = vec!["d0"; DEEP].join("+");
    let chain = lines(200_000, |i| match i {
        0 => "%0 = arith.addi %a, %a : i32\n".to_owned(),
        _ => format!("%{i} = arith.addi %{}, %a : i32\n", i - 1),
    });
    let blocks = lines(DEEP, |i| format!("^b{i}:\n \"t.br\"()[^b{}] : () -> ()\n", i + 1));
    let doubled = lines(39, |i| format!("#a{} = [#a{i}, #a{i}]\n", i + 1));
    vec![
        ("affine_sum", attr(&format!("affine_map<(d0) -> ({sum})>"))),
        ("rank", attr(&format!("tensor<{}f32>", "1x".repeat(DEEP)))),
        ("results", format!("%0:1000000 = \"t.x\"() : () -> ({})\n", vec!["i1"; 1_000_000].join(","))),
        ("undefined_uses", lines(DEEP, |i| format!("\"t.x\"(%u{i}) : (i1) -> ()\n"))),
        ("blocks", format!("\"t.r\"() ({{\n{blocks}^b{DEEP}:\n \"t.x\"() : () -> ()\n}}) : () -> ()\n")),
        ("chain", format!("func.func @f(%a: i32) -> i32 {{\n{chain}return %199999 : i32 }}\n")),
        ("aliases_doubling", format!("#a0 = [1,1]\n{doubled}{}", attr("#a39"))),
        ("symbol", format!("\"builtin.module\"() ({{}}) {{sym_name=\"{}\"}} : () -> ()\n", "a".repeat(1_000_000))),
        ("digits", attr(&format!("{} : i16777215", "9".repeat(1_000_000)))),
    ]
}

fn odd() -> Vec<(&'static str, String)> {
    let resource = "{-#\n dialect_resources: { builtin: { k: \"0xFFFFFFFF\" } }\n#-}\n";
    vec![
        ("splat_1e18", attr("dense<1.0> : tensor<1000000000x1000000000xf32>")),
        ("splat_overflow", attr("dense<1.0> : tensor<4294967296x4294967296x4294967296xf32>")),
        ("hex_of_1e18", attr("dense<\"0x00000000\"> : tensor<1000000000x1000000000xf32>")),
        ("width_max", attr("1 : i16777215")),
        ("width_above", attr("1 : i16777216")),
        ("width_overflow", attr("1 : i99999999999999999999")),
        ("dimension_overflow", attr("tensor<99999999999999999999999xf32>")),
        ("dimension_negative", attr("dense<1> : tensor<-5xi32>")),
        ("vector_of_none", attr("vector<0xf32>")),
        ("strides", attr("memref<4xf32, strided<[9223372036854775807], offset: 9223372036854775807>>")),
        ("float_overflow", attr("1.0e999999 : f32")),
        ("sparse_index", attr("sparse<[[999999999999]], [1]> : tensor<4xi32>")),
        ("sign", attr("dense<+1> : tensor<1xi32>")),
        ("ragged", attr("dense<[[1,2],[3]]> : tensor<2x2xi32>")),
        ("resource", attr("dense_resource<k> : tensor<4xf32>") + resource),
        ("alias_cycle", format!("!a = !b\n!b = !a\n{}", attr("!a"))),
        ("result_count", "%0:4294967295 = \"t.x\"() : () -> (i1)\n".to_owned()),
        ("string_unclosed", "\"t.x\"() {a=\"abc\n".to_owned()),
        ("nothing", String::new()),
        ("carriage_returns", "\"t.x\"() : () -> ()\r\n\"t.y\"() : () -> ()\r\n".to_owned()),
        ("byte_order_mark", "\u{feff}\"t.x\"() : () -> ()\n".to_owned()),
        ("nul_in_string", attr("\"a\0b\"")),
        ("nul_between", "\"t.x\"()\0 : () -> ()\n".to_owned()),
        ("nul_after", "\"t.x\"() : () -> ()\n\0\0garbage".to_owned()),
    ]
}

fn bytes() -> Vec<(&'static str, Vec<u8>)> {
    let mut state = 7u32;
    let noise = (0..100_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    vec![
        ("bad_string", b"\"t.x\"() {a=\"\xff\xfe\x80\"} : () -> ()\n".to_vec()),
        ("bad_name", b"\"t.x\"() {\xff\xfe=1} : () -> ()\n".to_vec()),
        ("bytecode", b"ML\xefR\x06MLIR22\x00\x01".to_vec()),
        ("noise", noise.collect()),
    ]
}

/// Runs `gradus opt` with a reader in a thread; `None` if it times out or panics.
fn outcome(path: String, reader: &'static str) -> Option<crate::support::Output> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let output = gradus(&["opt", "--allow-unregistered-dialect", "--reader", reader, &path]);
        let _ = send.send(output);
    });
    receive.recv_timeout(LIMIT).ok()
}

#[test]
fn hostile_inputs_end_in_output_or_an_error_with_a_place() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let text = nesting().into_iter().chain(large()).chain(odd()).map(|(name, text)| (name, text.into_bytes()));
    let mut cases: Vec<(&str, &str, Vec<u8>)> =
        text.chain(bytes()).map(|(name, input)| ("fast", name, input)).collect();
    let small = cases.iter().filter(|case| case.2.len() <= SMALL);
    let small: Vec<_> = small.map(|(_, name, input)| ("grammar", *name, input.clone())).collect();
    cases.extend(small);
    let mut count = 0;
    for (reader, name, input) in cases {
        let path = folder.path().join(format!("{name}.mlir")).display().to_string();
        std::fs::write(&path, input).expect("the input can be written");
        let output = outcome(path.clone(), reader).unwrap_or_else(|| panic!("{name}: panics, or does not end"));
        let first = output.err.lines().next().unwrap_or("");
        let placed = first.strip_prefix(&format!("{path}:")).is_some_and(|rest| {
            let mut parts = rest.splitn(3, ':');
            let mut number = || parts.next().is_some_and(|n| n.parse::<u32>().is_ok());
            number() && number() && parts.next().is_some_and(|m| m.starts_with(" error: "))
        });
        assert!(output.code == 0 || (output.code == 1 && placed), "{name}: exit status {}, {first}", output.code);
        count += 1;
    }
    assert!(count >= 51 + 25, "only {count} cases");
}
