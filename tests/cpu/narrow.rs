//! 16-bit float layers: sums in 32 bits rounded once, equal to the reference up to the last place.

use super::{LAYERS, Layer, compiled, numbers, parse, passed, run, run_by_kernels};
use gradus::Tool;
use gradus::ir::DType;
use gradus::ir::eval::{Datum, floats_to_tensor};
use gradus::ir::random::Random;

/// Converts a layer to another float type.
pub(super) fn of(layer: &Layer, elem: &str) -> String {
    let line = |line: &str| match line.split_once(" = arith.constant ") {
        Some((name, value)) => {
            let (wide, name) = (value.rsplit_once(" : ").expect("a type").1, name.trim());
            let narrow = wide.replace("f32", elem);
            let cast = format!("{name} = graph.cast {name}_wide to {elem} : ({wide}) -> {narrow}");
            format!("  {name}_wide = arith.constant {value}\n  {cast}\n")
        }
        None => format!("{}\n", line.replace("f32>", &format!("{elem}>"))),
    };
    layer.text.lines().map(line).collect()
}

/// Products with non-constant weights have no kernel; reference evaluation also rounds once.
#[test]
fn sums_without_a_kernel_are_rounded_once() {
    let tool = Tool::gradus();
    let text = "
func.func @main(%x: tensor<1x2x4xf16>) -> tensor<1x2x1xf16> {
  %shape = graph.constant dense<[2, 1, 4]> : tensor<3xi64>
  %w = graph.reshape %x, %shape : (tensor<1x2x4xf16>, tensor<3xi64>) -> tensor<2x1x4xf16>
  %0 = graph.conv %x, %w {group = 2 : i64} : (tensor<1x2x4xf16>, tensor<2x1x4xf16>) -> tensor<1x2x1xf16>
  return %0 : tensor<1x2x1xf16>
}
";
    let m = parse(&tool.context(), text).expect("it is valid");
    // Squares need more than the 11 significant bits of f16, so rounding each product changes the sum.
    let numbers = vec![1.123046875, 1.302734375, 1.1240234375, 1.453125, 0.3, 0.7, 0.9, 1.1];
    let input = Datum::Tensor(floats_to_tensor(DType::F16, &[1, 2, 4], numbers));
    let (have, reference) = run_by_kernels(&compiled(&tool, &m, "{layout=auto}"), &input);
    assert_eq!(reference, ["addr.depthwise"]);
    let exact: Vec<f64> =
        input.tensor().expect("a tensor").to_f64().chunks(4).map(|row| row.iter().map(|x| x * x).sum()).collect();
    let want = floats_to_tensor(DType::F16, &[1, 2, 1], exact).to_f64();
    assert_eq!(have.tensor().expect("a tensor").to_f64(), want);
}

/// The whole pipeline in bf16: sums of small integers are rounded once, after each op.
#[test]
fn layers_in_precision_bf16_round_once_per_op() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    let target = tool.targets.iter().find(|target| target.cost.name == "cpu").expect("there is such a target");
    let machine = target.cost.machine(&ctx).expect("its machine is valid");
    let pipeline = target.pipeline_in(&machine, "bf16").expect("it has the precision");
    assert!(target.pipeline_in(&machine, "f8").is_err());
    for number in 0..LAYERS / 6 {
        let mut random = Random::of(("bf16", number));
        let layer = match number % 6 {
            0 => Layer::of_matrices(&mut random),
            _ => Layer::over_images(&mut random),
        };
        let m = parse(&ctx, &layer.text).unwrap_or_else(|| panic!("it is valid: {}", layer.text));
        let count = layer.input.iter().product();
        let input = Datum::Tensor(floats_to_tensor(DType::F32, &layer.input, numbers(&mut random, count)));
        let lowered = passed(&tool, &m, &pipeline);
        assert!(lowered.to_text(Default::default()).contains("bf16"), "{}", layer.text);
        let (want, (have, reference)) = (run(&m, &input), run_by_kernels(&lowered, &input));
        let (have, want) = (have.tensor().expect("a tensor").to_f64(), want.tensor().expect("a tensor").to_f64());
        let ops = layer.text.matches(" = graph.").count() as f64;
        let same = |(a, b): (&f64, &f64)| (a - b).abs() <= ops * b.abs() / 250.0;
        assert!(have.len() == want.len() && have.iter().zip(&want).all(same), "{}\n{have:?}\n{want:?}", layer.text);
        assert!(reference.is_empty(), "{reference:?} have no kernel: {}", layer.text);
    }
}

#[test]
fn layers_of_short_floats_are_what_the_reference_says() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    for number in 0..LAYERS / 6 {
        let mut random = Random::of(("narrow", number));
        let layer = match number % 6 {
            0 => Layer::of_matrices(&mut random),
            _ => Layer::over_images(&mut random),
        };
        let (dtype, elem) = [(DType::F16, "f16"), (DType::BF16, "bf16")][random.below(2) as usize];
        let text = of(&layer, elem);
        let m = parse(&ctx, &text).unwrap_or_else(|| panic!("it is valid: {text}"));
        let count = layer.input.iter().product();
        let input = Datum::Tensor(floats_to_tensor(dtype, &layer.input, numbers(&mut random, count)));
        let (want, (have, reference)) =
            (run(&m, &input), run_by_kernels(&compiled(&tool, &m, "{layout=auto}"), &input));
        let (have, want) = (have.tensor().expect("a tensor").to_f64(), want.tensor().expect("a tensor").to_f64());
        let same = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= b.abs() / 128.0;
        assert!(have.len() == want.len() && have.iter().zip(&want).all(same), "{text}\n{have:?}\n{want:?}");
        let without = reference.iter().find(|name| name.starts_with("addr."));
        assert!(without.is_none(), "{without:?} has no kernel: {text}");
    }
}
