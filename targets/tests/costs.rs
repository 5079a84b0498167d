//! Prices of ops by the embedded machine descriptions, and with other machines.

use gradus_cost::{CostModel, NEVER, load_machine, register};
use gradus_dialects::op_cost::OpCost;
use gradus_ir::{Context, Op, ParseOptions, parse_module};
use gradus_simulators::cluster::ClusterMachine;
use gradus_simulators::nna::NnaMachine;
use gradus_simulators::npu::NpuMachine;
use gradus_targets::TARGETS;
use std::sync::Arc;

const PROGRAM: &str = "func.func @f(%m: tensor<16x64xf32>, %n: tensor<64x32xf32>, %x: tensor<1x32x8x8xf32>, \
    %w: tensor<64x32x3x3xf32>, %d: tensor<32x1x3x3xf32>, %s: tensor<1xi64>) {
  %0 = graph.matmul %m, %n : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  %1 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x8x8xf32>, tensor<64x32x3x3xf32>) -> tensor<1x64x8x8xf32>
  %2 = graph.conv %x, %d {group = 32 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x8x8xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x8x8xf32>
  %3 = graph.add %x, %x : (tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  %4 = graph.transpose %x {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  %5 = graph.reshape %x, %s : (tensor<1x32x8x8xf32>, tensor<1xi64>) -> tensor<2048xf32>
  %6 = sparse.matmul csr %m, %n : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  return
}
";

fn context() -> Arc<Context> {
    let ctx = gradus_machines::context();
    register(&ctx, TARGETS.iter().map(|target| &target.cost).collect());
    ctx
}

/// Returns the prices of the program's ops on a target.
fn prices(ctx: &Arc<Context>, target: &str) -> Vec<u64> {
    prices_of(ctx, target, PROGRAM)
}

/// Returns the prices of the ops of a program on a target.
fn prices_of(ctx: &Arc<Context>, target: &str, text: &str) -> Vec<u64> {
    let m = parse_module(ctx, "program.mlir", text.to_owned(), ParseOptions::default());
    let m = m.unwrap_or_else(|errors| panic!("{}", errors[0].render(ctx)));
    let cost = CostModel::named(ctx, target).and_then(|model| model.cost_fn(ctx)).expect("the target is valid");
    let ops = m.ops_under(m.root()).into_iter().filter(|&op| m.num_results(op) == 1);
    ops.map(|op| cost.of(&m, op)).collect()
}

/// Ops that a machine does not compute have the price of the host: floats on the nna and the npu, products of two operands on the clusters.
#[test]
fn prices_are_those_of_the_embedded_machines() {
    let ctx = context();
    assert_eq!(prices(&ctx, "cpu"), [3320, 67036, 9180, 1856, 1856, 1, NEVER]);
    assert_eq!(prices(&ctx, "nna"), [34304, 1191936, 24576, 8192, 8192, 1, 34304]);
    assert_eq!(prices(&ctx, "npu"), [34474, 1186952, 20352, 2389, 2389, 1, 34474]);
    assert_eq!(prices(&ctx, "cluster"), [33866, 1184244, 19663, 307, 1524, 1, 33866]);
}

/// Convolutions with constant filters on the clusters, and of bytes on the npu.
#[test]
fn what_a_machine_computes_has_its_prices() {
    let floats = "func.func @f(%x: tensor<1x32x8x8xf32>) {
  %w = graph.constant dense<2.0> : tensor<64x32x3x3xf32>
  %d = graph.constant dense<2.0> : tensor<32x1x3x3xf32>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x8x8xf32>, tensor<64x32x3x3xf32>) -> tensor<1x64x8x8xf32>
  %1 = graph.conv %x, %d {group = 32 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x8x8xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x8x8xf32>
  return
}
";
    let bytes = "func.func @f(%x: tensor<1x32x8x8xi8>, %k: tensor<32x1x1x1xi8>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %k, %s, %z, %s, %z {group = 32 : i64} : (tensor<1x32x8x8xi8>, tensor<f32>, tensor<i8>, tensor<32x1x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x32x8x8xi8>
  return
}
";
    let ctx = context();
    assert_eq!(prices_of(&ctx, "cluster", floats)[2..], [3372, 357]);
    assert_eq!(prices_of(&ctx, "npu", bytes)[2..], [80]);
}

/// Views of constants are folded after a form is chosen, however large they are; few columns by a constant leave lanes unused.
#[test]
fn views_of_constants_have_prices_of_constants() {
    let program = "func.func @f(%x: tensor<96x5xf32>, %v: tensor<64x96xf32>) {
  %c = graph.constant dense<2.0> : tensor<96x64xf32>
  %t = graph.transpose %c {perm = array<i64: 1, 0>} : (tensor<96x64xf32>) -> tensor<64x96xf32>
  %k = graph.constant dense<2.0> : tensor<64x96xf32>
  %0 = graph.matmul %t, %x : (tensor<64x96xf32>, tensor<96x5xf32>) -> tensor<64x5xf32>
  %1 = graph.matmul %k, %x : (tensor<64x96xf32>, tensor<96x5xf32>) -> tensor<64x5xf32>
  %2 = graph.matmul %v, %x : (tensor<64x96xf32>, tensor<96x5xf32>) -> tensor<64x5xf32>
  return
}
";
    let [.., of_view, of_constant, of_variable] = prices_of(&context(), "cpu", program)[..] else {
        panic!("three products have prices")
    };
    assert_eq!(of_view, of_constant);
    assert!(of_constant > of_variable, "{of_constant} {of_variable}");
}

/// The parameters of a simulator are those that the description of its target has.
#[test]
fn simulators_have_the_numbers_of_their_descriptions() {
    let ctx = context();
    let described = |name: &str| CostModel::named(&ctx, name).and_then(|model| model.machine(&ctx)).expect("is valid");
    assert_eq!(described("nna").parameters(NnaMachine::of), Ok(NnaMachine::DEFAULT));
    assert_eq!(described("npu").parameters(NpuMachine::of), Ok(NpuMachine::DEFAULT));
    assert_eq!(described("cluster").parameters(ClusterMachine::of), Ok(ClusterMachine::DEFAULT));
}

/// Prices on `cpu` depend on the machine description, and on nothing else.
#[test]
fn prices_on_a_described_machine_do_not_depend_on_the_host() {
    let program = "func.func @f(%x: tensor<1024x208xf32>, %v: tensor<512x512xui8>) {
  %a = graph.constant dense<2.0> : tensor<256x1024xf32>
  %b = graph.constant dense<3> : tensor<512x512xi8>
  %0 = sparse.matmul unrolled %a, %x : (tensor<256x1024xf32>, tensor<1024x208xf32>) -> tensor<256x208xf32>
  %1 = sparse.matmul csr %a, %x : (tensor<256x1024xf32>, tensor<1024x208xf32>) -> tensor<256x208xf32>
  %2 = sparse.matmul patterns %a, %x : (tensor<256x1024xf32>, tensor<1024x208xf32>) -> tensor<256x208xf32>
  %3 = graph.matmul_integer %v, %b : (tensor<512x512xui8>, tensor<512x512xi8>) -> tensor<512x512xi32>
  return
}
";
    let model = &TARGETS[0].cost;
    let wide = [2_432_732, 6_072_739, 5_899_740];
    let expected = [
        ("", [wide[0], wide[1], wide[2], 1_119_981]),
        ("amx", [wide[0], wide[1], wide[2], 498_044]),
        ("avx2", [4_065_707, 4_827_611, 10_159_580, 5_593_905]),
    ];
    let machines = model.descriptions(&context()).unwrap_or_else(|e| panic!("{} errors", e.len()));
    for (machine, (variant, expected)) in machines.into_iter().zip(expected) {
        let (ctx, price) = (context(), model.price_on(&machine).expect("it has the numbers"));
        let m = parse_module(&ctx, "program.mlir", program.to_owned(), ParseOptions::default()).expect("is a program");
        let computes = |op: &Op| matches!(OpCost::of(&m, *op), OpCost::Contract(_));
        let ops = m.ops_under(m.root()).into_iter().filter(computes);
        assert_eq!(ops.map(|op| price.of(OpCost::of(&m, op))).collect::<Vec<_>>(), expected, "{variant}");
    }
}

/// The smallest and the largest numbers give prices, and no overflow.
#[test]
fn extreme_machines_have_prices() {
    for (model, value) in TARGETS.iter().map(|target| &target.cost).flat_map(|cost| [(cost, 1), (cost, u32::MAX)]) {
        let (ctx, mut text) = (context(), format!("name = \"{}\"\n", model.name));
        let embedded = model.embedded(&ctx).unwrap_or_else(|e| panic!("{}", e[0].render(&ctx)));
        for number in embedded.numbers() {
            text +=
                &format!("{} = {{ value = {value}, unit = \"{}\", source = \"assumed\" }}\n", number.key, number.unit);
        }
        let machine = embedded.read_like(&ctx, "extreme.toml", &text);
        assert!(load_machine(&ctx, machine.unwrap_or_else(|e| panic!("{}", e[0].render(&ctx)))));
        assert_eq!(prices(&ctx, model.name).len(), 7);
    }
}

/// Each listed op, and each op of a listed dialect, is declared.
#[test]
fn implemented_ops_exist() {
    let dialects = [gradus_dialects::DIALECTS, gradus_networks::DIALECTS, gradus_machines::DIALECTS].concat();
    for entry in TARGETS.iter().flat_map(|target| (target.cost.ops)()) {
        let is_known = match entry.strip_suffix(".*") {
            Some(name) => dialects.iter().any(|dialect| dialect.name == name),
            None => dialects.iter().flat_map(|dialect| dialect.ops).any(|info| info.name == entry),
        };
        assert!(is_known, "{entry}");
    }
}
