//! Transposed convolutions of any stride, dilation, padding, groups and type, with constant filters or others, run by kernels and equal
//! the reference.

use super::{LAYERS, Layer, READINGS, compiled, constant, extents, list, numbers, parse, pick, run, run_by_kernels};
use gradus::Tool;
use gradus::ir::DType;
use gradus::ir::eval::{Datum, floats_to_tensor};
use gradus::ir::random::Random;

/// Draws a transposed convolution in f32. The argument has the elements of the image and of the filters and the bias that are not
/// constant.
fn draw(random: &mut Random) -> Layer {
    let rank = 1 + random.below(3) as usize;
    let group = pick(random, &[1, 1, 2, 3]);
    let channels = group * pick(random, &[1, 1, 2, 3, 8]);
    let each = pick(random, &[1, 1, 2, 5, 8]);
    let mut axes = |from: &[usize]| -> Vec<usize> { (0..rank).map(|_| pick(random, from)).collect() };
    let (kernel, dilations, strides) = (axes(&[1, 2, 2, 3, 4]), axes(&[1, 1, 2, 3]), axes(&[1, 1, 2, 2, 3, 5]));
    let image = axes(if rank == 3 { &[1, 2, 3] } else { &[1, 2, 5, 9] });
    let extra: Vec<usize> = (0..rank).map(|i| random.below(strides[i].max(dilations[i]) as u64) as usize).collect();
    let full = |i: usize| (image[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 + extra[i];
    // The padding leaves at least one output.
    let begins: Vec<usize> = (0..rank).map(|i| random.below(full(i).min(5) as u64) as usize).collect();
    let ends: Vec<usize> = (0..rank).map(|i| random.below((full(i) - begins[i]).min(5) as u64) as usize).collect();
    let output: Vec<usize> = (0..rank).map(|i| full(i) - begins[i] - ends[i]).collect();
    let batch = pick(random, &[1, 1, 2]);
    let (x, w) = ([&[batch, channels][..], &image].concat(), [&[channels, each][..], &kernel].concat());
    let mut layer = Flat { before: String::new(), size: 0 };
    layer.argument("x", &x);
    layer.filters(random, "w", &w);
    let (mut operands, mut types) =
        ("%x, %w".to_owned(), format!("tensor<{}f32>, tensor<{}f32>", extents(&x), extents(&w)));
    if random.below(2) == 0 {
        layer.filters(random, "b", &[group * each]);
        operands += ", %b";
        types += &format!(", tensor<{}xf32>", group * each);
    }
    let attrs = format!(
        "group = {group} : i64, strides = {}, dilations = {}, pads = {}, output_padding = {}",
        list(&strides),
        list(&dilations),
        list(&[begins, ends].concat()),
        list(&extra)
    );
    let result = format!("tensor<{}f32>", extents(&[&[batch, group * each][..], &output].concat()));
    let Flat { before, size } = layer;
    let text = format!(
        "func.func @main(%all: tensor<{size}xf32>) -> {result} {{\n{}  %0 = graph.conv_transpose {operands} {{{attrs}}} : ({types}) -> \
         {result}\n  %1 = graph.relu %0 : {result}\n  return %1 : {result}\n}}\n",
        before.replace("SIZE", &size.to_string())
    );
    Layer { text, input: vec![size] }
}

/// The beginning of a function whose argument `%all` is divided into tensors.
struct Flat {
    before: String,
    /// Number of elements of the argument, which the text calls `SIZE`.
    size: usize,
}

impl Flat {
    /// Takes a tensor from the argument.
    fn argument(&mut self, name: &str, shape: &[usize]) {
        let count: usize = shape.iter().product();
        let part = format!("tensor<{count}xf32>");
        for (list, value) in [("from", self.size), ("to", self.size + count)] {
            self.before += &format!("  %{name}_{list} = graph.constant dense<{value}> : tensor<1xi64>\n");
        }
        self.before += &format!(
            "  %{name}_flat = graph.slice %all, %{name}_from, %{name}_to : (tensor<SIZExf32>, tensor<1xi64>, tensor<1xi64>) -> {part}\n"
        );
        let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
        let rank = shape.len();
        self.before += &format!(
            "  %{name}_shape = graph.constant dense<[{}]> : tensor<{rank}xi64>\n  %{name} = graph.reshape %{name}_flat, %{name}_shape : \
             ({part}, tensor<{rank}xi64>) -> tensor<{}f32>\n",
            extents.join(", "),
            super::extents(shape)
        );
        self.size += count;
    }

    /// Adds a constant, or takes a tensor from the argument.
    fn filters(&mut self, random: &mut Random, name: &str, shape: &[usize]) {
        match random.below(2) {
            0 => self.before += &constant(random, name, shape),
            _ => self.argument(name, shape),
        }
    }
}

/// Compares kernels with the reference on small integers, and infinities if they are wanted.
fn check(tool: &Tool, layer: &Layer, dtype: DType, reading: &str, random: &mut Random, infinite: u64) {
    let m = parse(&tool.context(), &layer.text).unwrap_or_else(|| panic!("it is valid: {}", layer.text));
    let count = layer.input.iter().product();
    let mut data = numbers(random, count);
    (0..infinite).for_each(|_| data[random.below(count as u64) as usize] = f64::INFINITY);
    let input = Datum::Tensor(floats_to_tensor(dtype, &layer.input, data));
    let want = run(&m, &input);
    let (have, reference) = run_by_kernels(&compiled(tool, &m, reading), &input);
    let (have, want) = (have.tensor().expect("a tensor").to_f64(), want.tensor().expect("a tensor").to_f64());
    let tolerance = if dtype.size() == 2 { 1.0 / 128.0 } else { 0.0 };
    let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * b.abs();
    let agree = have.len() == want.len() && have.iter().zip(&want).all(same);
    assert!(agree, "{reading} {}\n{have:?}\n{want:?}", layer.text);
    // A clamp of f16 has a kernel only in the epilogue of a product.
    let without = reference.iter().find(|name| dtype != DType::F16 || **name != "graph.relu");
    assert!(without.is_none(), "{without:?} has no kernel: {reading} {}", layer.text);
}

#[test]
fn transposed_convolutions_are_what_the_reference_says() {
    let tool = Tool::gradus();
    for number in 0..LAYERS / 3 {
        let mut random = Random::of(("transposed", number));
        let layer = draw(&mut random);
        let reading = pick_reading(&mut random);
        check(&tool, &layer, DType::F32, reading, &mut random, 0);
    }
}

fn pick_reading(random: &mut Random) -> &'static str {
    READINGS[random.below(READINGS.len() as u64) as usize]
}

#[test]
fn transposed_convolutions_of_other_floats_are_what_the_reference_says() {
    let tool = Tool::gradus();
    for number in 0..LAYERS / 12 {
        let mut random = Random::of(("transposed", "types", number));
        let layer = draw(&mut random);
        let (dtype, elem) = [(DType::F16, "f16"), (DType::BF16, "bf16"), (DType::F64, "f64")][random.below(3) as usize];
        let layer = Layer { text: super::narrow::of(&layer, elem), ..layer };
        check(&tool, &layer, dtype, "{layout=auto}", &mut random, 0);
    }
}

/// An infinite or missing element of the filters reaches the outputs that it is multiplied for, and no others.
#[test]
fn infinite_elements_reach_no_other_outputs() {
    let tool = Tool::gradus();
    for number in 0..LAYERS / 12 {
        let mut random = Random::of(("transposed", "infinite", number));
        let layer = draw(&mut random);
        check(&tool, &layer, DType::F32, "{target=cpu}", &mut random, 2);
    }
}
