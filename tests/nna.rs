//! Programs of the nna: products and convolutions, lowered and simulated, against their reference semantics, bit by bit.

use crate::support::{gradus, lowered, parse, pipeline_of, root};
use gradus::Tool;
use gradus::cost::{CostModel, load_machine};
use gradus::interp::Interpreter;
use gradus::ir::eval::Datum;
use gradus::ir::random::Random;
use gradus::ir::{Module, Op, OpDecl, Tensor, Value};
use gradus::machines::nna::{CallOp, Prepared, inst_of};

/// The numbers of the smallest machine.
const SMALLEST: [(&str, u64); 3] = [("outputs", 4), ("kernels", 1), ("frams", 1)];

fn main_of(m: &Module) -> Op {
    m.block_ops(m.entry(m.regions(m.root())[0]).expect("it has a block")).next().expect("it has a function")
}

/// Draws a tensor of bytes, as an attribute.
fn constant(random: &mut Random, extents: &[usize], element: &str) -> String {
    let (n, dims) = (extents.iter().product::<usize>(), extents.iter().map(|d| format!("{d}x")).collect::<String>());
    let bytes: String = (0..n).map(|_| format!("{:02X}", random.below(256))).collect();
    format!("dense<\"0x{bytes}\"> : tensor<{dims}{element}>")
}

fn scalar(random: &mut Random, element: &str) -> String {
    let value = random.below(256) as i64 - if element == "i8" { 128 } else { 0 };
    format!("dense<{value}> : tensor<{element}>")
}

/// Draws a program with a product of matrices, with zero points; requantized, with scales per column or in all.
fn product(random: &mut Random) -> String {
    let [m, k, n] = std::array::from_fn(|_| {
        let most = if random.percent(20) { 300 } else { 40 };
        1 + random.below(most) as usize
    });
    let [a, b] = [random.pick(&["i8", "ui8"]), random.pick(&["i8", "ui8"])];
    let (left, right) = (format!("tensor<{m}x{k}x{a}>"), constant(random, &[k, n], b));
    let [za, zb] = [scalar(random, a), scalar(random, b)];
    let head = format!("  %b = graph.constant {right}\n  %za = graph.constant {za}\n  %zb = graph.constant {zb}\n");
    let (types, scalars) = (format!("tensor<{k}x{n}x{b}>"), format!("tensor<{a}>, tensor<{b}>"));
    if random.percent(50) {
        return format!(
            "func.func @main(%x: {left}) -> tensor<{m}x{n}xi32> {{\n{head}  %y = graph.matmul_integer %x, %b a_zero %za b_zero %zb : ({left}, {types}, {scalars}) -> tensor<{m}x{n}xi32>\n  return %y : tensor<{m}x{n}xi32>\n}}"
        );
    }
    let (scales, ty) = match random.percent(50) {
        true => {
            let list: Vec<String> = (0..n).map(|_| format!("{:.3}", 0.001 * (1 + random.below(100)) as f64)).collect();
            (format!("dense<[{}]> : tensor<{n}xf32>", list.join(", ")), format!("tensor<{n}xf32>"))
        }
        false => ("dense<0.02> : tensor<f32>".to_owned(), "tensor<f32>".to_owned()),
    };
    let out = random.pick(&["i8", "ui8"]);
    let zy = scalar(random, out);
    format!(
        "func.func @main(%x: {left}) -> tensor<{m}x{n}x{out}> {{\n{head}  %s = graph.constant dense<0.1> : tensor<f32>\n  %sb = graph.constant {scales}\n  %zy = graph.constant {zy}\n  %y = graph.qlinear_matmul %x, %s, %za, %b, %sb, %zb, %s, %zy : ({left}, tensor<f32>, tensor<{a}>, {types}, {ty}, tensor<{b}>, tensor<f32>, tensor<{out}>) -> tensor<{m}x{n}x{out}>\n  return %y : tensor<{m}x{n}x{out}>\n}}"
    )
}

/// Draws a program with a convolution in one to three dimensions, with groups, strides, dilations and padding; some are depthwise.
fn convolution(random: &mut Random) -> String {
    let depthwise = random.percent(30).then(|| random.pick(&[7, 33, 40, 64, 96]));
    let (channels, most_filters, more) = if random.percent(30) { (40, 40, 12) } else { (5, 6, 5) };
    let mut below = |n: u64| random.below(n) as usize;
    let (groups, rank) = (depthwise.unwrap_or(1 + below(3)), 1 + below(3));
    let (taps, more) = if rank == 3 { (3, 3) } else { (5, more) };
    let (of_group, of_filters) =
        if depthwise.is_some() { (1, 1 + below(2)) } else { (1 + below(channels), 1 + below(most_filters)) };
    let (batch, filters) = (1 + below(2), groups * of_filters);
    let (kernel, dilations) = ((0..rank).map(|_| 1 + below(taps)).collect::<Vec<_>>(), vec![1 + below(2); rank]);
    let input: Vec<usize> = (0..rank).map(|i| (kernel[i] - 1) * dilations[i] + 1 + below(more)).collect();
    let strides: Vec<usize> = (0..rank).map(|_| 1 + below(3)).collect();
    let pads: Vec<usize> = (0..2 * rank).map(|_| below(2)).collect();
    let output: Vec<usize> = (0..rank)
        .map(|i| (input[i] + pads[i] + pads[rank + i] - (kernel[i] - 1) * dilations[i] - 1) / strides[i] + 1)
        .collect();
    let dims = |list: &[usize]| list.iter().map(|d| format!("{d}x")).collect::<String>();
    let list = |list: &[usize]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let [x, w] = [random.pick(&["i8", "ui8"]), random.pick(&["i8", "ui8"])];
    let (xs, ws) = ([&[batch, groups * of_group], &input[..]].concat(), [&[filters, of_group], &kernel[..]].concat());
    let (image, ys) = (format!("tensor<{}{x}>", dims(&xs)), dims(&[&[batch, filters], &output[..]].concat()));
    let attrs = format!(
        "{{dilations = array<i64: {}>, group = {groups} : i64, pads = array<i64: {}>, strides = array<i64: {}>}}",
        list(&dilations),
        list(&pads),
        list(&strides)
    );
    let filter_type = format!("tensor<{}{w}>", dims(&ws));
    let (filters_text, zx) = (constant(random, &ws, w), scalar(random, x));
    let zw = constant(random, &[filters], w);
    let head =
        format!("  %w = graph.constant {filters_text}\n  %zx = graph.constant {zx}\n  %zw = graph.constant {zw}\n");
    if random.percent(40) {
        return format!(
            "func.func @main(%x: {image}) -> tensor<{ys}i32> {{\n{head}  %y = graph.conv_integer %x, %w x_zero %zx w_zero %zw {attrs} : ({image}, {filter_type}, tensor<{x}>, tensor<{filters}x{w}>) -> tensor<{ys}i32>\n  return %y : tensor<{ys}i32>\n}}"
        );
    }
    let out = random.pick(&["i8", "ui8"]);
    let (zy, bias): (String, Vec<String>) =
        (scalar(random, out), (0..filters).map(|_| (random.below(100_000) as i64 - 50_000).to_string()).collect());
    let scales: Vec<String> = (0..filters).map(|_| format!("{:.3}", 0.001 * (1 + random.below(100)) as f64)).collect();
    format!(
        "func.func @main(%x: {image}) -> tensor<{ys}{out}> {{\n{head}  %s = graph.constant dense<0.1> : tensor<f32>\n  %sw = graph.constant dense<[{}]> : tensor<{filters}xf32>\n  %zy = graph.constant {zy}\n  %bias = graph.constant dense<[{}]> : tensor<{filters}xi32>\n  %y = graph.qlinear_conv %x, %s, %zx, %w, %sw, %zw, %s, %zy, %bias {attrs} : ({image}, tensor<f32>, tensor<{x}>, {filter_type}, tensor<{filters}xf32>, tensor<{filters}x{w}>, tensor<f32>, tensor<{out}>, tensor<{filters}xi32>) -> tensor<{ys}{out}>\n  return %y : tensor<{ys}{out}>\n}}",
        scales.join(", "),
        bias.join(", ")
    )
}

/// Draws scales, as an attribute.
fn scales(random: &mut Random, extents: &[usize]) -> String {
    let (n, dims) = (extents.iter().product::<usize>(), extents.iter().map(|d| format!("{d}x")).collect::<String>());
    let scale = |random: &mut Random| 0.001_f32 * (1 + random.below(100)) as f32;
    let bytes: String = (0..n).flat_map(|_| scale(random).to_le_bytes()).map(|byte| format!("{byte:02X}")).collect();
    format!("dense<\"0x{bytes}\"> : tensor<{dims}f32>")
}

/// An operand of a product of any rank.
struct Operand {
    element: &'static str,
    /// Extents, those of a vector, a matrix or a batch of matrices.
    extents: Vec<usize>,
    /// Extents of its zero points, and of its scales.
    zeros: Vec<usize>,
    scales: Vec<usize>,
}

impl Operand {
    /// Draws an operand whose reduction is its axis `depth` from the end, of which some or all batch axes are those of `batch`.
    fn draw(random: &mut Random, batch: &[usize], matrix: [usize; 2], depth: usize) -> Operand {
        let batch = &batch[random.below(batch.len() as u64 + 1) as usize..];
        let batch: Vec<usize> = batch.iter().map(|&d| if random.percent(30) { 1 } else { d }).collect();
        let element = random.pick(&["i8", "ui8"]);
        if random.percent(12) {
            let extents = vec![matrix[2 - depth]];
            return Operand { element, extents, zeros: Vec::new(), scales: Vec::new() };
        }
        let extents = [&batch[..], &matrix].concat();
        let mut of_rows = extents.clone();
        of_rows[extents.len() - depth] = 1;
        let all = [Vec::new(), vec![1], vec![matrix[depth - 1]], of_rows];
        let zeros = all[random.below(4) as usize].clone();
        Operand { element, extents, zeros, scales: Vec::new() }
    }

    fn ty(&self) -> String {
        tensor(&self.extents, self.element)
    }
}

fn tensor(extents: &[usize], element: &str) -> String {
    format!("tensor<{}{element}>", extents.iter().map(|d| format!("{d}x")).collect::<String>())
}

/// Draws a program with a product of vectors, matrices, or batches that broadcast; with zero points of rows or columns, requantized or not.
fn product_of_any_rank(random: &mut Random) -> String {
    let [m, k, n] = std::array::from_fn(|_| random.pick(&[1_usize, 1, 2, 5, 9, 10, 18, 31, 32, 33, 40, 66]));
    let batch: Vec<usize> = (0..random.below(4)).map(|_| 1 + random.below(3) as usize).collect();
    let (mut a, mut b) = (Operand::draw(random, &batch, [m, k], 1), Operand::draw(random, &batch, [k, n], 2));
    let requantized = random.percent(50);
    if a.extents.len().min(b.extents.len()) > 1 && random.percent(60) {
        let one = if random.percent(50) { &mut a } else { &mut b };
        one.scales.clone_from(&one.zeros);
    }
    let batch_of = |x: &Operand| x.extents[..x.extents.len().saturating_sub(2)].to_vec();
    let [short, long] = [batch_of(&a), batch_of(&b)];
    let [short, mut result] = if short.len() < long.len() { [short, long] } else { [long, short] };
    let skipped = result.len() - short.len();
    result[skipped..].iter_mut().zip(&short).for_each(|(d, &other)| *d = (*d).max(other));
    result.extend((a.extents.len() > 1).then_some(m));
    result.extend((b.extents.len() > 1).then_some(n));
    let (mut arguments, mut head) = (format!("%a: {}", a.ty()), String::new());
    if random.percent(50) {
        arguments += &format!(", %b: {}", b.ty());
    } else {
        head += &format!("  %b = graph.constant {}\n", constant(random, &b.extents, b.element));
    }
    for (name, operand) in [("za", &a), ("zb", &b)] {
        head += &format!("  %{name} = graph.constant {}\n", constant(random, &operand.zeros, operand.element));
    }
    let [za, zb] = [&a, &b].map(|x| tensor(&x.zeros, x.element));
    let (y, product) = if requantized {
        let y = random.pick(&["i8", "ui8"]);
        for (name, extents) in [("sa", &a.scales[..]), ("sb", &b.scales), ("sy", &[])] {
            head += &format!("  %{name} = graph.constant {}\n", scales(random, extents));
        }
        head += &format!("  %zy = graph.constant {}\n", scalar(random, y));
        let [sa, sb] = [&a, &b].map(|x| tensor(&x.scales, "f32"));
        let operands = "%a, %sa, %za, %b, %sb, %zb, %sy, %zy";
        let types = format!("{}, {sa}, {za}, {}, {sb}, {zb}, tensor<f32>, tensor<{y}>", a.ty(), b.ty());
        (tensor(&result, y), format!("graph.qlinear_matmul {operands} : ({types})"))
    } else {
        let types = format!("{}, {}, {za}, {zb}", a.ty(), b.ty());
        (tensor(&result, "i32"), format!("graph.matmul_integer %a, %b a_zero %za b_zero %zb : ({types})"))
    };
    format!("func.func @main({arguments}) -> {y} {{\n{head}  %y = {product} -> {y}\n  return %y : {y}\n}}")
}

/// Draws the arguments of a function.
fn arguments(random: &mut Random, m: &Module) -> Vec<Datum> {
    let block = m.entry(m.regions(main_of(m))[0]).expect("it has a block");
    let one = |&value: &Value| {
        let ty = m.value_type(value);
        let shape: Vec<usize> = m.ctx.static_shape(ty).expect("it is known").iter().map(|&d| d as usize).collect();
        let bytes: Vec<u8> = (0..shape.iter().product::<usize>()).map(|_| random.below(256) as u8).collect();
        let dtype = m.ctx.dtype(m.ctx.element_type(ty)).expect("it has one");
        Datum::Tensor(Tensor::new(dtype, shape, bytes.into()).expect("it fits"))
    };
    m.block_args(block).iter().map(one).collect()
}

/// Lowers the op of a program for some machine, and compares results with those of the op. Returns the number of calls.
fn check(tool: &Tool, random: &mut Random, text: &str) -> usize {
    let ctx = tool.context();
    let mut machine = CostModel::named(&ctx, "nna").and_then(|model| model.machine(&ctx)).expect("it is described");
    let smaller = random.pick(&[&[][..], &[("outputs", 4)], &SMALLEST, &[("kernels", 1)]]);
    smaller.iter().for_each(|&(key, value)| machine.set(key, value).expect("it has the number"));
    load_machine(&ctx, machine);
    let m = parse(&ctx, text).unwrap_or_else(|| panic!("{text}"));
    let code = lowered(tool, &m, "builtin.module(convert-matmul-to-nna)");
    let calls = code.ops_under(code.root()).into_iter().filter(|&op| CallOp::cast(&code, op).is_some()).count();
    assert!(calls > 0, "{text}");
    let arguments = arguments(random, &m);
    let expected = Interpreter::new(&m).call(main_of(&m), arguments.clone()).expect("it has a result");
    let result = Interpreter::new(&code).call(main_of(&code), arguments);
    let result = result.unwrap_or_else(|stop| panic!("{}\n{text}", stop.trap));
    assert!(result == expected, "{smaller:?}: {text}");
    calls
}

#[test]
fn programs_compute_what_they_replace() {
    let (tool, mut random) = (Tool::gradus(), Random::of("nna"));
    for case in 0..80 {
        let text = if case % 2 == 0 { product(&mut random) } else { convolution(&mut random) };
        check(&tool, &mut random, &text);
    }
}

#[test]
fn products_of_any_rank_are_calls() {
    let (tool, mut random) = (Tool::gradus(), Random::of("ranks"));
    let calls: Vec<usize> = (0..320)
        .map(|_| {
            let text = product_of_any_rank(&mut random);
            check(&tool, &mut random, &text)
        })
        .collect();
    let batches = calls.iter().filter(|&&calls| calls > 1).count();
    assert!((30..290).contains(&batches), "{batches} of {} products are several calls", calls.len());
}

/// A reduction whose sums may exceed 32 bits is divided into two programs.
#[test]
fn long_reductions_are_sums_of_programs() {
    let (tool, mut random) = (Tool::gradus(), Random::of("depth"));
    let product = "func.func @main(%a: tensor<3x131077xui8>, %b: tensor<131077x2xi8>, %z: tensor<3xui8>) -> tensor<3x2xi32> {
  %y = graph.matmul_integer %a, %b a_zero %z : (tensor<3x131077xui8>, tensor<131077x2xi8>, tensor<3xui8>) -> tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}";
    // Each of the three rows is a product of its own, as slices of vectors move nothing.
    assert_eq!(check(&tool, &mut random, product), 6);
}

/// Returns the cycles with the host of a program, by `sweep`.
fn cycles_with_host(file: &str, text: &str) -> f64 {
    std::fs::write(file, text).expect("a file can be written");
    let output = gradus(&["sweep", file, "--target", "nna"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let line = output.out.lines().find_map(|line| line.strip_prefix("as it is")).expect("it has the program");
    line.split_whitespace().next().and_then(|cycles| cycles.parse().ok()).expect("it has cycles")
}

/// An op is at most as slow with the host as the product by either mapping: the host's moves count in the choice.
#[test]
fn moves_of_the_host_have_a_price() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("product.mlir").display().to_string();
    for [m, k, n] in [[4, 9, 32], [8, 288, 256], [40, 50, 200], [1, 50, 40]] {
        let cycles = |product: &str| {
            let types = format!("(tensor<{m}x{k}xi8>, tensor<{k}x{n}xi8>) -> tensor<{m}x{n}xi32>");
            cycles_with_host(
                &file,
                &format!(
                    "func.func @main(%a: tensor<{m}x{k}xi8>, %b: tensor<{k}x{n}xi8>) -> tensor<{m}x{n}xi32> {{\n  %y = {product} %a, %b : {types}\n  return %y : tensor<{m}x{n}xi32>\n}}"
                ),
            )
        };
        let [chosen, dense, diagonal] = ["graph.matmul_integer", "nna.matmul dense", "nna.matmul diagonal"].map(cycles);
        assert!(0.0 < chosen && chosen <= dense.min(diagonal), "{m}x{k}x{n}: {chosen}, {dense} and {diagonal} cycles");
    }
}

/// The quantized network: bit by bit the logits of the integers, with the target's pipeline.
#[test]
fn a_network_has_the_logits_of_its_integers() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let example = |name: &str| root().join("examples").join(name).display().to_string();
    let model = example("digits_cnn_int8.onnx");
    let integers = ["opt", &model, "--convert-qdq-to-integer", "--canonicalize", "-o", &file("integers.mlir")];
    assert_eq!(gradus(&integers).code, 0);
    let run = |program: &str, to: &str, target: &[&str]| {
        let input = format!("image={}", example("digits_test_images.npy"));
        let save = format!("logits={to}");
        let output = gradus(&[&["run", program, "--input", &input, "--output", &save], target].concat());
        assert_eq!(output.code, 0, "{}", output.err);
        std::fs::read(to).expect("logits were saved")
    };
    let expected = run(&file("integers.mlir"), &file("expected.npy"), &[]);
    assert!(run(&model, &file("nna.npy"), &["--target", "nna"]) == expected);
}

/// All instructions of a lowered program have words, text and ops, and the program that a call names has them all.
#[test]
fn instructions_are_ops() {
    let tool = Tool::gradus();
    let m = parse(&tool.context(), &product(&mut Random::of("ops"))).expect("it is a program");
    let code = lowered(&tool, &m, &pipeline_of(&tool, "nna"));
    let ops = code.ops_under(code.root());
    let call = ops.iter().copied().find(|&op| CallOp::cast(&code, op).is_some()).expect("it has a call");
    let instructions = ops.iter().filter(|&&op| inst_of(&code, op).is_some()).count();
    assert!(instructions > 100, "{instructions}");
    let again = parse(&code.ctx, &code.to_text(Default::default())).expect("it is a program");
    assert_eq!(again.ops_under(again.root()).len(), ops.len());
    assert!(Prepared::of(&code, call).is_ok());
}
