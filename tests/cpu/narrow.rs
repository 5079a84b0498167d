//! Layers of floats of 16 bits: sums in 32 bits, rounded once, are as the reference says but for the last place.

use super::{LAYERS, Layer, compiled, numbers, parse, run, run_by_kernels};
use gradus::Tool;
use gradus::check::Random;
use gradus::ir::DType;
use gradus::ir::eval::{Datum, floats_to_tensor};

/// The same of other floats: constants become these where the program is compiled.
fn of(layer: &Layer, elem: &str) -> String {
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
        let (want, (have, reference)) = (run(&m, &input), run_by_kernels(&compiled(&tool, &m, ""), &input));
        let (have, want) = (have.tensor().expect("a tensor").to_f64(), want.tensor().expect("a tensor").to_f64());
        let same = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= b.abs() / 128.0;
        assert!(have.len() == want.len() && have.iter().zip(&want).all(same), "{text}\n{have:?}\n{want:?}");
        let without = reference.iter().find(|name| name.starts_with("addr."));
        assert!(without.is_none(), "{without:?} has no kernel: {text}");
    }
}
