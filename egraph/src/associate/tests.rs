//! Chains compared with dynamic programming, sums in any order, and ops that form no region.

use super::{LeftOut, associate};
use crate::extract::{Extraction, costs, extract};
use crate::program::Program;
use gradus_ir::rules::CostFn;
use gradus_ir::{Module, Op, ParseOptions, parse_module};
use gradus_networks::context;
use std::fmt::Write;

/// Returns the multiplications of a matrix product, or 1 for any other op.
fn products(m: &Module, op: Op) -> u64 {
    let shapes: Vec<&[i64]> = m.operands(op).iter().filter_map(|&v| m.ctx.static_shape(m.value_type(v))).collect();
    match shapes[..] {
        [&[rows, inner], &[_, columns]] if m.name_text(op) == "graph.matmul" => (rows * inner * columns) as u64,
        _ => 1,
    }
}

fn parse(text: &str) -> (Module, Op) {
    let m = parse_module(&context(), "test", text.to_owned(), ParseOptions::default()).expect("it is valid");
    let body = m.regions(m.root())[0];
    let function = m.block_ops(m.region_blocks(body).next().expect("a block")).next().expect("a function");
    (m, function)
}

/// Returns the optimal extraction of a function, its size, and the regions left out.
fn best(text: &str, approx: bool, max_nodes: usize) -> (Extraction, usize, Vec<LeftOut>) {
    let (mut m, function) = parse(text);
    let mut program = Program::new(&mut m, function);
    let left_out = associate(&mut program, approx, max_nodes);
    let roots = program.roots();
    let (found, nodes) =
        (extract(&program, &costs(&program, &CostFn::new(products)), &roots, 1_000_000), program.num_nodes());
    program.close(false);
    (found, nodes, left_out)
}

/// Returns a chain of matrices with these dimensions, multiplied from the left.
fn chain(dims: &[u64], elem: &str) -> String {
    let ty = |rows: usize, columns: usize| format!("tensor<{}x{}x{elem}>", dims[rows], dims[columns]);
    let matrices = dims.len() - 1;
    let params: Vec<String> = (0..matrices).map(|i| format!("%m{i}: {}", ty(i, i + 1))).collect();
    let mut text = format!("func.func @f({}) -> {} {{\n", params.join(", "), ty(0, matrices));
    let mut last = "%m0".to_owned();
    for i in 1..matrices {
        let (left, right, out) = (ty(0, i), ty(i, i + 1), ty(0, i + 1));
        writeln!(text, "%p{i} = graph.matmul {last}, %m{i} : ({left}, {right}) -> {out}").expect("it is a string");
        last = format!("%p{i}");
    }
    text + &format!("return {last} : {}\n}}", ty(0, matrices))
}

/// Returns the fewest multiplications for a chain of matrices, by dynamic programming.
fn fewest(dims: &[u64]) -> u64 {
    let len = dims.len() - 1;
    let mut best = vec![vec![0; len + 1]; len];
    for size in 2..=len {
        for from in 0..=len - size {
            let to = from + size;
            let split = |at: usize| best[from][at] + best[at][to] + dims[from] * dims[at] * dims[to];
            best[from][to] = (from + 1..to).map(split).min().expect("there is a split");
        }
    }
    best[0][len]
}

#[test]
fn chains_reach_the_optimum_of_dynamic_programming() {
    let mut state = 7_u64;
    let mut dim = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1 + (state >> 33) % 100
    };
    for matrices in [3_usize, 10, 10, 10, 20, 40] {
        let dims: Vec<u64> = (0..=matrices).map(|_| dim()).collect();
        let (found, nodes, left_out) = best(&chain(&dims, "f32"), true, 50_000);
        assert_eq!((found.cost, found.is_optimal()), (u128::from(fewest(&dims)), true), "{dims:?}");
        assert!(left_out.is_empty() && nodes == matrices + (matrices.pow(3) - matrices) / 6, "{nodes}");
    }
}

#[test]
fn rounding_matters_unless_it_does_not() {
    let dims = [100, 10, 150, 8];
    let cost = |elem, approx| best(&chain(&dims, elem), approx, 50_000).0.cost;
    assert_eq!(cost("f32", false), 270_000);
    assert_eq!(cost("f32", true), 20_000);
    assert_eq!(cost("i32", false), 20_000);
    assert_eq!(best(&chain(&[200, 175, 250, 150, 10], "f32"), true, 50_000).0.cost, 1_162_500);
}

#[test]
fn too_long_chains_are_left_out() {
    let dims: Vec<u64> = (0..=12).map(|i| 10 - i % 7).collect();
    let (found, nodes, left_out) = best(&chain(&dims, "i32"), false, 200);
    assert!(nodes <= 200 && found.cost > u128::from(fewest(&dims)), "{nodes}");
    let [LeftOut { operands: 12, nodes: 286, .. }] = left_out[..] else { panic!("{left_out:?}") };
}

/// A power by squaring is a chain of exponentially many operands.
#[test]
fn powers_are_divided() {
    let mut text = "func.func @f(%p0: tensor<2x2xi32>) -> tensor<2x2xi32> {\n".to_owned();
    for i in 1..100 {
        let last = i - 1;
        text += &format!(
            "%p{i} = graph.matmul %p{last}, %p{last} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>\n"
        );
    }
    let (found, nodes, left_out) = best(&(text + "return %p99 : tensor<2x2xi32>\n}"), false, 5_000);
    assert!(found.cost == 99 * 8 && nodes <= 5_000 && left_out.len() == 1, "{nodes} {left_out:?}");
}

/// A product of vectors and matrices can be grouped in one way only.
#[test]
fn vectors_are_no_matrices() {
    let text = "func.func @f(%a: tensor<4x4xi32>, %b: tensor<4xi32>, %c: tensor<4x4xi32>) -> tensor<4xi32> {
        %0 = graph.matmul %a, %b : (tensor<4x4xi32>, tensor<4xi32>) -> tensor<4xi32>
        %1 = graph.matmul %0, %c : (tensor<4xi32>, tensor<4x4xi32>) -> tensor<4xi32>
        return %1 : tensor<4xi32>
    }";
    assert_eq!(best(text, true, 1_000).1, 5);
}

/// Sums of n terms take a number of nodes that grows with n, and are one class in any order.
#[test]
fn sums_in_any_order_are_one() {
    for terms in 3..=10_usize {
        let params: Vec<String> = (0..terms).map(|i| format!("%x{i}: i32")).collect();
        let mut text = format!("func.func @f({}) -> (i32, i32) {{\n", params.join(", "));
        for (name, step) in [("a", 1), ("b", terms - 1)] {
            let term = |i: usize| (i * step + 1) % terms;
            let mut last = format!("%x{}", term(0));
            for i in 1..terms {
                writeln!(text, "%{name}{i} = arith.addi %x{}, {last} : i32", term(i)).expect("it is a string");
                last = format!("%{name}{i}");
            }
        }
        let last = terms - 1;
        text += &format!("return %a{last}, %b{last} : i32, i32\n}}");
        let (found, nodes, _) = best(&text, false, 1_000);
        assert_eq!(found.cost, terms as u128 - 1, "{text}");
        let most = if terms <= 4 { terms + 3_usize.pow(terms as u32) / 2 + 1 - (1 << terms) } else { 4 * terms };
        assert!(nodes <= most, "{nodes}");
    }
}

#[test]
fn promises_and_marks_stay() {
    let text = "func.func @f(%a: i32, %b: i32, %c: i32) -> (i32, i32) {
        %0 = arith.addi %a, %b overflow<nsw> : i32
        %1 = arith.addi %0, %c overflow<nsw> : i32
        %2 = arith.addi %a, %c {mark} : i32
        %3 = arith.addi %2, %b {mark} : i32
        return %1, %3 : i32, i32
    }";
    assert_eq!(best(text, false, 1_000).1, 7);
}
