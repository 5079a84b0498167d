//! Programs that determine numbers of the machine of `cpu`.

use crate::Probe;
use gradus_cost::Machine;
use gradus_ir::random::Random;

/// The probes: rates of dense products first, then of the other forms.
pub const PROBES: &[Probe] = &[
    always("call", || chain(33)),
    always("peak", || product("graph.matmul", [512, 512, 512], 0)),
    always("byte_products", bytes),
    always("bf16_products", bf16),
    always("l2_bandwidth", || clamp(1 << 16)),
    always("depthwise_share", depthwise),
    wide("sparse_share", || product("sparse.matmul unrolled", [512, 512, 512], 90)),
    wide("sparse_l1_share", || product("sparse.matmul unrolled", [256, 64, 128], 90)),
    always("pattern_call", || product("sparse.matmul patterns", [512, 512, 512], 80)),
    wide("csr_products", || product("sparse.matmul csr", [256, 64, 256], 90)),
    narrow("narrow_rows_share", || product("sparse.matmul csr", [256, 1024, 208], 90)),
    narrow("narrow_share", || product("sparse.matmul unrolled", [256, 1024, 208], 90)),
    wide("far_code_bandwidth", || product("sparse.matmul unrolled", [512, 4608, 63], 90)),
];

/// Whether a machine has 256-bit vectors.
fn has_narrow_vectors(machine: &Machine) -> bool {
    machine.value("vector_bytes") == Ok(32)
}

/// A probe for any machine.
const fn always(number: &'static str, program: fn() -> String) -> Probe {
    Probe { number, program, applies: |_| true }
}

/// A probe for 512-bit vectors.
const fn wide(number: &'static str, program: fn() -> String) -> Probe {
    Probe { applies: |machine| !has_narrow_vectors(machine), ..always(number, program) }
}

/// A probe for 256-bit vectors.
const fn narrow(number: &'static str, program: fn() -> String) -> Probe {
    Probe { applies: has_narrow_vectors, ..always(number, program) }
}

/// Wraps the body of a function of `%x` that returns `%y`.
fn function(input: &str, output: &str, body: &str) -> String {
    format!(
        "func.func @main(%x: tensor<{input}>) -> tensor<{output}> {{\n{body}  func.return %y : tensor<{output}>\n}}\n"
    )
}

/// A product of a constant with some percent of zeros, whose size is `[rows, depth, columns]`.
fn product(op: &str, [rows, depth, columns]: [usize; 3], zeros: u64) -> String {
    let (a, x, y) = (format!("{rows}x{depth}xf32"), format!("{depth}x{columns}xf32"), format!("{rows}x{columns}xf32"));
    let body = format!(
        "  %a = arith.constant dense<\"0x{}\"> : tensor<{a}>\n  %y = {op} %a, %x : (tensor<{a}>, tensor<{x}>) -> tensor<{y}>\n",
        factors(rows * depth, zeros)
    );
    function(&x, &y, &body)
}

/// Writes the bytes of random floats, some percent of which are zero.
fn factors(count: usize, zeros: u64) -> String {
    let mut random = Random::of("factors");
    let mut factor = || if random.percent(zeros) { 0.0 } else { 1.0 + random.below(1000) as f32 / 1000.0 };
    (0..count).map(|_| format!("{:08X}", factor().to_bits().swap_bytes())).collect()
}

/// Small products in a chain, whose kernels take less time than their calls.
fn chain(length: usize) -> String {
    let ty = "tensor<8x8xf32>";
    let mut body = format!("  %a = arith.constant dense<\"0x{}\"> : {ty}\n", factors(64, 0));
    for i in 0..length {
        let from = if i == 0 { "%x".to_owned() } else { format!("%y{i}") };
        let to = if i + 1 == length { "%y".to_owned() } else { format!("%y{}", i + 1) };
        body += &format!("  {to} = graph.matmul {from}, %a : ({ty}, {ty}) -> {ty}\n");
    }
    function("8x8xf32", "8x8xf32", &body)
}

fn bf16() -> String {
    let ty = "tensor<512x512xbf16>";
    let body = format!("  %a = arith.constant dense<3.0> : {ty}\n  %y = graph.matmul %x, %a : ({ty}, {ty}) -> {ty}\n");
    function("512x512xbf16", "512x512xbf16", &body)
}

fn bytes() -> String {
    let body = "  %a = arith.constant dense<3> : tensor<512x512xi8>\n  \
                %y = graph.matmul_integer %x, %a : (tensor<512x512xui8>, tensor<512x512xi8>) -> tensor<512x512xi32>\n";
    function("512x512xui8", "512x512xi32", body)
}

fn clamp(elements: usize) -> String {
    let ty = format!("{elements}xf32");
    function(&ty, &ty, &format!("  %y = graph.relu %x : tensor<{ty}>\n"))
}

fn depthwise() -> String {
    let (x, w) = ("1x64x56x56xf32", "64x1x3x3xf32");
    let body = format!(
        "  %w = arith.constant dense<\"0x{}\"> : tensor<{w}>\n  %y = graph.conv %x, %w {{pads = array<i64: 1, 1, 1, 1>, \
         group = 64 : i64}} : (tensor<{x}>, tensor<{w}>) -> tensor<{x}>\n",
        factors(576, 0)
    );
    function(x, x, &body)
}
