//! Quantized layers equal the reference bit for bit.

use super::{LAYERS, compiled, extents, list, pick, run, run_by_kernels};
use gradus::Tool;
use gradus::ir::eval::Datum;
use gradus::ir::random::Random;
use gradus::ir::{DType, Tensor};

/// A layer as the text of a program; all but its input are constants.
#[derive(Default)]
struct Layer {
    constants: String,
    operands: String,
    types: String,
}

/// Returns random bytes with many extreme values.
fn bytes(random: &mut Random, count: usize) -> Vec<u8> {
    (0..count).map(|_| [0, 255, 127, 128, random.below(256) as u8][random.below(5) as usize]).collect()
}

impl Layer {
    /// Appends a constant operand, with its keyword if it is optional.
    fn constant(&mut self, word: &str, elem: &str, shape: &[usize], bytes: &[u8]) {
        let (hex, n): (String, _) = (bytes.iter().map(|byte| format!("{byte:02X}")).collect(), self.constants.len());
        let ty = format!("tensor<{}{elem}>", extents(shape));
        self.constants += &format!("  %c{n} = graph.constant dense<\"0x{hex}\"> : {ty}\n");
        self.operands += &if word.is_empty() { format!(", %c{n}") } else { format!(" {word} %c{n}") };
        self.types += &format!(", {ty}");
    }

    fn bytes(&mut self, random: &mut Random, word: &str, elem: &str, shape: &[usize]) {
        let bytes = bytes(random, shape.iter().product());
        self.constant(word, elem, shape, &bytes);
    }

    /// Appends a zero point, often the middle of the range, per tensor or per column.
    fn zero(&mut self, random: &mut Random, word: &str, elem: &str, columns: Option<usize>) {
        let shape = columns.filter(|_| random.below(2) == 0).map_or(vec![], |n| vec![n]);
        let count = shape.iter().product();
        let usual = vec![if elem == "ui8" { 128 } else { 0 }; count];
        let zeros = if random.below(2) == 0 { usual } else { bytes(random, count) };
        self.constant(word, elem, &shape, &zeros);
    }

    fn scale(&mut self, random: &mut Random, columns: Option<usize>) {
        let shape = columns.filter(|_| random.below(2) == 0).map_or(vec![], |n| vec![n]);
        let one = |_| ((1 + random.below(1000)) as f32 * 1e-4).to_le_bytes();
        let scales: Vec<u8> = (0..shape.iter().product::<usize>()).flat_map(one).collect();
        self.constant("", "f32", &shape, &scales);
    }

    /// Appends the operands after `a` and returns the result type.
    fn fill(&mut self, random: &mut Random, a: &str, weights: &[usize], columns: usize, is_conv: bool) -> &'static str {
        let b = ["i8", "ui8"][random.below(2) as usize];
        if random.below(3) == 0 {
            let words = if is_conv { ["x_zero", "w_zero"] } else { ["a_zero", "b_zero"] };
            self.bytes(random, "", b, weights);
            let given = random.below(4);
            if given & 1 == 0 {
                self.zero(random, words[0], a, None);
            }
            if given & 2 == 0 {
                self.zero(random, words[1], b, Some(columns));
            }
            return "i32";
        }
        self.scale(random, None);
        self.zero(random, "", a, None);
        self.bytes(random, "", b, weights);
        self.scale(random, Some(columns));
        self.zero(random, "", b, Some(columns));
        let one = 1.0 + random.below(1000) as f32;
        self.constant("", "f32", &[], &one.to_le_bytes());
        let made = ["i8", "ui8"][random.below(2) as usize];
        self.zero(random, "", made, None);
        if is_conv && random.below(2) == 0 {
            let bias: Vec<u8> =
                (0..columns).flat_map(|_| (random.below(1 << 17) as i32 - (1 << 16)).to_le_bytes()).collect();
            self.constant("", "i32", &[columns], &bias);
        }
        made
    }

    fn text(&self, op: &str, attrs: &str, input: &str, made: &str) -> String {
        let Layer { constants, operands, types } = self;
        format!(
            "func.func @main(%x: {input}) -> {made} {{\n{constants}  %y = {op} %x{operands}{attrs} : ({input}{types}) -> \
             {made}\n  return %y : {made}\n}}\n"
        )
    }
}

/// Returns a convolution of any stride, dilation, padding and groups, and the extents of its input.
fn convolution(random: &mut Random, a: &str) -> (String, Vec<usize>) {
    let rank = 1 + random.below(3) as usize;
    let group = pick(random, &[1, 1, 2, 3, 8, 24]);
    let channels = group * pick(random, &[1, 1, 3, 4, 8, 17]);
    let filters = group * pick(random, &[1, 2, 5, 16]);
    let kernel: Vec<usize> = (0..rank).map(|_| pick(random, &[1, 1, 2, 3, 5])).collect();
    let dilations: Vec<usize> = (0..rank).map(|_| pick(random, &[1, 1, 2])).collect();
    let strides: Vec<usize> = (0..rank).map(|_| pick(random, &[1, 1, 2, 3])).collect();
    let reach = |i: usize| (kernel[i] - 1) * dilations[i] + 1;
    let pads: Vec<usize> = (0..2 * rank).map(|i| random.below(1 + reach(i % rank) as u64) as usize).collect();
    let image: Vec<usize> = (0..rank).map(|i| reach(i) + random.below(5) as usize).collect();
    let output = (0..rank).map(|i| (image[i] + pads[i] + pads[rank + i] - reach(i)) / strides[i] + 1);
    let batch = pick(random, &[1, 1, 2]);
    let made: Vec<usize> = [batch, filters].into_iter().chain(output).collect();
    let input = [&[batch, channels][..], &image].concat();
    let weights = [&[filters, channels / group][..], &kernel].concat();
    let mut layer = Layer::default();
    let elem = layer.fill(random, a, &weights, filters, true);
    let windows = [("pads", &pads), ("strides", &strides), ("dilations", &dilations)];
    let windows: String = windows.iter().map(|(name, of)| format!("{name} = {}, ", list(of))).collect();
    let op = if elem == "i32" && layer.types.matches("f32").count() == 0 { "conv_integer" } else { "qlinear_conv" };
    let made = format!("tensor<{}{elem}>", extents(&made));
    let attrs = format!(" {{{windows}group = {group} : i64}}");
    (layer.text(&format!("graph.{op}"), &attrs, &format!("tensor<{}{a}>", extents(&input)), &made), input)
}

/// Returns a matrix product, possibly batched, with the extents of the first operand.
fn product(random: &mut Random, a: &str) -> (String, Vec<usize>) {
    let [m, k, n] = [&[1, 3, 7, 20][..], &[1, 4, 9, 130, 700], &[1, 5, 16, 24, 70]].map(|from| pick(random, from));
    let input = if random.below(3) == 0 { vec![2, m, k] } else { vec![m, k] };
    let mut layer = Layer::default();
    let elem = layer.fill(random, a, &[k, n], n, false);
    let made = format!("tensor<{}{elem}>", extents(&[&input[..input.len() - 1], &[n]].concat()));
    let op = if layer.types.contains("f32") { "graph.qlinear_matmul" } else { "graph.matmul_integer" };
    (layer.text(op, "", &format!("tensor<{}{a}>", extents(&input)), &made), input)
}

#[test]
fn quantized_layers_are_what_the_reference_says() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    for number in 0..LAYERS / 3 {
        let mut random = Random::of(("quantized", number));
        let (a, dtype) = [("i8", DType::I8), ("ui8", DType::U8)][random.below(2) as usize];
        let (text, input) = if number % 4 == 0 { product(&mut random, a) } else { convolution(&mut random, a) };
        let m = super::parse(&ctx, &text).unwrap_or_else(|| panic!("it is valid: {text}"));
        let data = bytes(&mut random, input.iter().product());
        let input = Datum::Tensor(Tensor::new(dtype, input, data.into()).expect("a tensor"));
        let (want, (have, reference)) =
            (run(&m, &input), run_by_kernels(&compiled(&tool, &m, "{layout=auto}"), &input));
        assert!(have == want, "{text}\n{have:?}\n{want:?}");
        assert!(reference.is_empty(), "{reference:?} have no kernel: {text}");
    }
}
