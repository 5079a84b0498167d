//! Layers in QDQ form become integer ops: the results are those of the floats within one step of the output, and those of
//! reference evaluation of the integer ops exactly.

use super::{LAYERS, compiled, extents, list, passed, pick, run, run_by_kernels};
use gradus::Tool;
use gradus::ir::eval::Datum;
use gradus::ir::random::Random;
use gradus::ir::{DType, Tensor};

/// Numbers of bytes that may differ by one step, of all.
const MAX_DIFFERENT: f64 = 0.001;

/// A program in QDQ form.
#[derive(Default)]
struct Program {
    body: String,
    next: usize,
}

impl Program {
    fn name(&mut self, text: &str) -> String {
        self.next += 1;
        self.body += &format!("  %v{} = {text}\n", self.next);
        format!("%v{}", self.next)
    }

    fn constant(&mut self, elem: &str, shape: &[usize], bytes: &[u8]) -> String {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        self.name(&format!("graph.constant dense<\"0x{hex}\"> : tensor<{}{elem}>", extents(shape)))
    }

    /// Creates scale and zero point, which are scalars or vectors.
    fn parameters(&mut self, random: &mut Random, elem: &str, shape: &[usize]) -> (String, String) {
        let count: usize = shape.iter().product();
        let scales: Vec<u8> = (0..count).flat_map(|_| ((1 + random.below(99)) as f32 / 512.0).to_le_bytes()).collect();
        let zeros: Vec<u8> = (0..count).map(|_| [0, 128, 3, 251][random.below(4) as usize]).collect();
        let (scale, zero) = (self.constant("f32", shape, &scales), self.constant(elem, shape, &zeros));
        let ty = format!("tensor<{}f32>, tensor<{}{elem}>", extents(shape), extents(shape));
        (format!("{scale}, {zero}"), ty)
    }

    fn dequantized(
        &mut self,
        x: &str,
        elem: &str,
        shape: &[usize],
        (names, types): &(String, String),
        axis: usize,
    ) -> String {
        let dims = extents(shape);
        let attrs = format!("{{axis = {axis} : i64}}");
        self.name(&format!(
            "graph.dequantize_linear {x}, {names} {attrs} : (tensor<{dims}{elem}>, {types}) -> tensor<{dims}f32>"
        ))
    }

    /// Ends the function with a quantization after an optional clamp.
    fn finish(mut self, random: &mut Random, x: &str, input: (&str, &[usize]), shape: &[usize]) -> String {
        let (elem, dims) = (["ui8", "i8"][random.below(2) as usize], extents(shape));
        let x = match random.below(4) {
            0 => self.name(&format!("graph.relu {x} : tensor<{dims}f32>")),
            1 => {
                let high = self.constant("f32", &[], &6.0_f32.to_le_bytes());
                let low = self.constant("f32", &[], &(-0.5_f32).to_le_bytes());
                let scalar = "tensor<f32>";
                self.name(&format!(
                    "graph.clip {x} min {low} max {high} : (tensor<{dims}f32>, {scalar}, {scalar}) -> tensor<{dims}f32>"
                ))
            }
            _ => x.to_owned(),
        };
        let (names, types) = self.parameters(random, elem, &[]);
        let y = self.name(&format!(
            "graph.quantize_linear {x}, {names} : (tensor<{dims}f32>, {types}) -> tensor<{dims}{elem}>"
        ));
        let (from, ty) = (extents(input.1), format!("tensor<{dims}{elem}>"));
        format!("func.func @main(%x: tensor<{from}{}>) -> {ty} {{\n{}  return {y} : {ty}\n}}\n", input.0, self.body)
    }
}

fn bytes(random: &mut Random, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.below(256) as u8).collect()
}

/// Returns a layer over images, with the extents of its input.
fn image_layer(random: &mut Random, a: &str) -> (String, Vec<usize>) {
    let mut p = Program::default();
    let (channels, size) = (pick(random, &[1, 3, 8, 20]), [pick(random, &[3, 5, 8]), pick(random, &[3, 4, 9])]);
    let shape = [pick(random, &[1, 2]), channels, size[0], size[1]];
    let of_x = p.parameters(random, a, &[]);
    let x = p.dequantized("%x", a, &shape, &of_x, 1);
    let dims = extents(&shape);
    let ty = format!("tensor<{dims}f32>");
    let (y, made) = match random.below(6) {
        0 | 1 => {
            let (group, b) = (pick(random, &[1, 1, channels]), ["ui8", "i8"][random.below(2) as usize]);
            let filters = group * pick(random, &[1, 2, 7]);
            let weights = [filters, channels / group, pick(random, &[1, 3]), pick(random, &[1, 2])];
            let pads = [0, random.below(2) as usize, random.below(2) as usize, 0];
            let output = [0, 1].map(|i| size[i] + pads[i] + pads[2 + i] - weights[2 + i] + 1);
            let each: &[usize] = if random.below(2) == 0 { &[filters] } else { &[] };
            let of_w = p.parameters(random, b, each);
            let data = bytes(random, weights.iter().product());
            let w = p.constant(b, &weights, &data);
            let w = p.dequantized(&w, b, &weights, &of_w, 0);
            let made = vec![shape[0], filters, output[0], output[1]];
            let attrs = format!("{{group = {group} : i64, pads = {}}}", list(&pads));
            let types = format!("({ty}, tensor<{}f32>) -> tensor<{}f32>", extents(&weights), extents(&made));
            (p.name(&format!("graph.conv {x}, {w} {attrs} : {types}")), made)
        }
        2 => {
            let made = vec![shape[0], channels, size[0] - 1, size[1] - 1];
            let kind = ["max", "average"][random.below(2) as usize];
            let types = format!("({ty}) -> tensor<{}f32>", extents(&made));
            (p.name(&format!("graph.{kind}_pool {x} {{kernel_shape = array<i64: 2, 2>}} : {types}")), made)
        }
        3 => {
            let made = vec![shape[0], channels, 1, 1];
            let kind = ["max", "average"][random.below(2) as usize];
            (p.name(&format!("graph.global_{kind}_pool {x} : ({ty}) -> tensor<{}f32>", extents(&made))), made)
        }
        4 => {
            let (other, of) = ([1, channels, 1, 1], p.parameters(random, "i8", &[]));
            let data = bytes(random, channels);
            let constant = p.constant("i8", &other, &data);
            let b = p.dequantized(&constant, "i8", &other, &of, 1);
            let other = if random.below(2) == 0 {
                (x.clone(), ty.clone())
            } else {
                (b, format!("tensor<1x{channels}x1x1xf32>"))
            };
            let op = ["add", "mul"][random.below(2) as usize];
            (p.name(&format!("graph.{op} {x}, {} : ({ty}, {}) -> {ty}", other.0, other.1)), shape.to_vec())
        }
        _ => {
            let y = p.name(&format!("graph.sigmoid {x} : {ty}"));
            let of = p.parameters(random, a, &[]);
            let y = p.name(&format!("graph.quantize_linear {y}, {} : ({ty}, {}) -> tensor<{dims}{a}>", of.0, of.1));
            let y = p.dequantized(&y, a, &shape, &of, 1);
            if random.below(2) == 0 {
                // A function of one tensor.
                (p.name(&format!("graph.mul {x}, {y} : ({ty}, {ty}) -> {ty}")), shape.to_vec())
            } else {
                let made = vec![shape[0], 2 * channels, size[0], size[1]];
                let types = format!("({ty}, {ty}) -> tensor<{}f32>", extents(&made));
                (p.name(&format!("graph.concat {x}, {y} {{axis = 1 : i64}} : {types}")), made)
            }
        }
    };
    (p.finish(random, &y, (a, &shape), &made), shape.to_vec())
}

/// Returns a matrix product with or without bias, with the extents of its input.
fn product(random: &mut Random, a: &str) -> (String, Vec<usize>) {
    let mut p = Program::default();
    let [m, k, n] = [&[1, 3, 20][..], &[1, 9, 130], &[1, 5, 24]].map(|from| pick(random, from));
    let (of_x, b, by_rows) =
        (p.parameters(random, a, &[]), ["ui8", "i8"][random.below(2) as usize], random.below(2) as usize);
    let x = p.dequantized("%x", a, &[m, k], &of_x, 1);
    let is_gemm = random.below(2) == 0;
    let weights = if is_gemm && by_rows == 1 { [n, k] } else { [k, n] };
    let axis = weights.iter().rposition(|&d| d == n).filter(|_| !is_gemm).unwrap_or(1 - by_rows * usize::from(is_gemm));
    let each: &[usize] = if random.below(2) == 0 { &[n] } else { &[] };
    let of_w = p.parameters(random, b, each);
    let data = bytes(random, k * n);
    let w = p.constant(b, &weights, &data);
    let w = p.dequantized(&w, b, &weights, &of_w, axis);
    let types = format!("tensor<{m}x{k}xf32>, tensor<{}f32>", extents(&weights));
    let y = if is_gemm {
        let bias: Vec<u8> = (0..n).flat_map(|_| (random.below(99) as f32 / 8.0 - 6.0).to_le_bytes()).collect();
        let bias = p.constant("f32", &[n], &bias);
        let attrs = format!("{{transB = {by_rows} : i64}}");
        p.name(&format!("graph.gemm {x}, {w}, {bias} {attrs} : ({types}, tensor<{n}xf32>) -> tensor<{m}x{n}xf32>"))
    } else {
        p.name(&format!("graph.matmul {x}, {w} : ({types}) -> tensor<{m}x{n}xf32>"))
    };
    (p.finish(random, &y, (a, &[m, k]), &[m, n]), vec![m, k])
}

#[test]
fn qdq_layers_are_integer_layers() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    let (mut different, mut all, mut kept) = (0, 0, 0);
    for number in 0..LAYERS / 4 {
        let mut random = Random::of(("qdq", number));
        let (a, dtype) = [("i8", DType::I8), ("ui8", DType::U8)][random.below(2) as usize];
        let (text, input) = if number % 4 == 0 { product(&mut random, a) } else { image_layer(&mut random, a) };
        let m = super::parse(&ctx, &text).unwrap_or_else(|| panic!("it is valid: {text}"));
        let data = bytes(&mut random, input.iter().product());
        let input = Datum::Tensor(Tensor::new(dtype, input, data.into()).expect("a tensor"));
        let integers = passed(&tool, &m, "builtin.module(convert-qdq-to-integer)");
        kept += usize::from(integers.to_text(Default::default()).contains("dequantize_linear"));
        let (floats, want) = (run(&m, &input), run(&integers, &input));
        let (have, reference) = run_by_kernels(&compiled(&tool, &m, "{target=cpu}"), &input);
        assert!(have == want, "{text}\n{have:?}\n{want:?}");
        assert!(reference.is_empty(), "{reference:?} have no kernel: {text}");
        let steps = |data: &Datum| data.tensor().expect("a tensor").to_i64().expect("integers");
        for (float, integer) in steps(&floats).into_iter().zip(steps(&want)) {
            assert!(float.abs_diff(integer) <= 1, "{float} {integer}: {text}");
            (different, all) = (different + usize::from(float != integer), all + 1);
        }
    }
    // A bias may be too coarse for integers.
    assert!(kept as u64 <= LAYERS / 40, "{kept} programs keep floats");
    assert!((different as f64) <= MAX_DIFFERENT * all as f64, "{different} of {all} differ");
}
