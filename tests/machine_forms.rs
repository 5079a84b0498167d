//! Pools, paddings, resampling, slices and concatenations of random shapes on the accelerators, against their meaning.

use crate::support::{lowered, parse, pipeline_of};
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::eval::{Datum, floats_to_tensor};
use gradus::ir::{DType, Module, Op, Tensor};
use std::fmt::Write;

/// A generator (a linear congruence).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn up_to(&mut self, n: usize) -> usize {
        1 + self.below(n)
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 0
    }
}

fn list<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// A program under construction: one value after the other.
struct Draft {
    elem: &'static str,
    text: String,
    values: usize,
}

impl Draft {
    fn ty(&self, extents: &[usize]) -> String {
        extents.iter().fold("tensor<".to_owned(), |text, n| text + &format!("{n}x")) + self.elem + ">"
    }

    fn constant(&mut self, value: &str, ty: &str) -> String {
        self.values += 1;
        let name = format!("%{}", self.values);
        writeln!(self.text, "  {name} = graph.constant dense<{value}> : {ty}").expect("it is text");
        name
    }

    fn integers(&mut self, numbers: &[i64]) -> String {
        self.constant(&format!("[{}]", list(numbers)), &format!("tensor<{}xi64>", numbers.len()))
    }

    /// Adds an op. `operands` and `types` are those after the first one.
    fn op(&mut self, op: &str, from: (&str, &[usize]), (operands, types): (&str, &str), to: &[usize]) -> String {
        self.values += 1;
        let name = format!("%{}", self.values);
        let (from_ty, to_ty) = (self.ty(from.1), self.ty(to));
        let x = from.0;
        let (op, attributes) = op.split_once(' ').unwrap_or((op, ""));
        writeln!(self.text, "  {name} = graph.{op} {x}{operands} {attributes} : ({from_ty}{types}) -> {to_ty}")
            .expect("it is text");
        name
    }

    fn pool(&mut self, (x, from): (&str, &[usize]), r: &mut Random) -> (String, Vec<usize>) {
        let (mut to, axes) = (from.to_vec(), from.len() - 2);
        let (mut kernel, mut strides, mut dilations) = (vec![0; axes], vec![0; axes], vec![0; axes]);
        let mut pads = vec![0; 2 * axes];
        for axis in 0..axes {
            (dilations[axis], strides[axis]) = (r.up_to(2), r.up_to(3));
            let fits = (from[2 + axis] - 1) / dilations[axis] + 1;
            kernel[axis] = r.up_to(fits.min(7));
            (pads[axis], pads[axes + axis]) = (r.below(kernel[axis]), r.below(kernel[axis]));
            let reach = (kernel[axis] - 1) * dilations[axis] + 1;
            to[2 + axis] = (from[2 + axis] + pads[axis] + pads[axes + axis] - reach) / strides[axis] + 1;
        }
        let arrays = [("kernel_shape", &kernel), ("strides", &strides), ("dilations", &dilations), ("pads", &pads)];
        let arrays = arrays.map(|(name, numbers)| format!("{name} = array<i64: {}>", list(numbers)));
        (self.op(&format!("max_pool {{{}}}", arrays.join(", ")), (x, from), ("", ""), &to), to)
    }

    fn pad(&mut self, (x, from): (&str, &[usize]), r: &mut Random) -> (String, Vec<usize>) {
        let pads: Vec<i64> = (0..8).map(|i| if i % 4 > 1 { r.below(4) as i64 } else { 0 }).collect();
        let to: Vec<usize> = (0..4).map(|i| from[i] + pads[i] as usize + pads[4 + i] as usize).collect();
        let pads = self.integers(&pads);
        let is_float = self.elem.starts_with('f');
        let scalar = format!("tensor<{}>", self.elem);
        let value = self.constant(if is_float { "0.0" } else { "7" }, &scalar);
        let operands = (format!(", {pads} value {value}"), format!(", tensor<8xi64>, {scalar}"));
        (self.op("pad", (x, from), (&operands.0, &operands.1), &to), to)
    }

    fn resize(&mut self, (x, from): (&str, &[usize]), r: &mut Random) -> (String, Vec<usize>) {
        let is_up = r.flag();
        let factors = [1, 1, r.up_to(3), r.up_to(3)];
        let fits = |i: usize| is_up || from[i].is_multiple_of(factors[i]);
        let factors: Vec<usize> = (0..4).map(|i| if fits(i) { factors[i] } else { 1 }).collect();
        let to: Vec<usize> = (0..4).map(|i| if is_up { from[i] * factors[i] } else { from[i] / factors[i] }).collect();
        let sizes = self.integers(&to.iter().map(|&n| n as i64).collect::<Vec<_>>());
        let modes = r#"resize {coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"}"#;
        (self.op(modes, (x, from), (&format!(" sizes {sizes}"), ", tensor<4xi64>"), &to), to)
    }

    /// A slice; along rows or columns it may have a step. The rows of a batch are a part of those of its feature.
    fn slice(&mut self, (x, from): (&str, &[usize]), r: &mut Random) -> (String, Vec<usize>) {
        let axis = if from[0] > 1 { [0, 1, 3][r.below(3)] } else { r.below(4) };
        let step = if axis > 1 { r.up_to(3) } else { 1 };
        let first = r.below(from[axis]);
        let end = first + r.up_to(from[axis] - first);
        let mut to = from.to_vec();
        to[axis] = (end - first).div_ceil(step);
        let bounds = [first, end, axis, step].map(|n| self.integers(&[n as i64]));
        let [first, end, axis, step] = &bounds;
        let operands = format!(", {first}, {end} axes {axis} steps {step}");
        (self.op("slice", (x, from), (&operands, &", tensor<1xi64>".repeat(4)), &to), to)
    }

    fn concat(&mut self, (x, from): (&str, &[usize]), r: &mut Random, axes: &[usize]) -> (String, Vec<usize>) {
        let (axis, mut to) = (axes[r.below(axes.len())], from.to_vec());
        let attributes = "max_pool {kernel_shape = array<i64: 1, 1>, strides = array<i64: 1, 1>}";
        let other = self.op(attributes, (x, from), ("", ""), from);
        to[axis] *= 2;
        let more = (format!(", {other}"), format!(", {}", self.ty(from)));
        (self.op(&format!("concat {{axis = {axis} : i64}}"), (x, from), (&more.0, &more.1), &to), to)
    }
}

fn main_of(m: &Module) -> Op {
    m.ops_under(m.root()).into_iter().find(|&op| m.name_text(op) == "func.func").expect("there is a function")
}

/// A program of two or three random ops, and its operand's extents. Clusters have one image, and slices and concatenations of channels.
fn program(elem: &'static str, is_npu: bool, r: &mut Random) -> (String, Vec<usize>) {
    let images = if is_npu { [1, 1, 2, 3][r.below(4)] } else { 1 };
    let mut extents = vec![images, r.up_to(20), 1 + r.up_to(12), 1 + r.up_to(12)];
    extents.truncate(if r.below(5) == 0 { 3 } else { 4 });
    let mut d = Draft { elem, text: String::new(), values: 0 };
    let (mut x, mut at) = ("%x".to_owned(), extents.clone());
    for i in 0..r.up_to(3) {
        let from = (&x[..], &at[..]);
        let axes: &[usize] = if !is_npu {
            &[1]
        } else if at[0] == 1 {
            &[0, 1, 2, 3]
        } else {
            &[0, 1, 3]
        };
        (x, at) = match r.below(5) {
            _ if at.len() == 3 => d.pool(from, r),
            0 if is_npu && i > 0 => d.slice(from, r),
            1 => d.concat(from, r, axes),
            2 if at[0] == 1 => d.resize(from, r),
            3 if at[0] == 1 => d.pad(from, r),
            _ => d.pool(from, r),
        };
        // Windows on batches of images of one pixel stay on the host.
        if at.iter().product::<usize>() > 1 << 14 || at[0] > 1 && at[2..].iter().product::<usize>() == 1 {
            break;
        }
    }
    let (from, to, body) = (d.ty(&extents), d.ty(&at), d.text);
    (format!("func.func @main(%x: {from}) -> {to} {{\n{body}  return {x} : {to}\n}}\n"), extents)
}

fn all_run_on(target: &str, types: &[(&'static str, DType)]) {
    let tool = Tool::gradus();
    let ctx = tool.context();
    let found = tool.targets.iter().find(|known| known.cost.name == target).expect("it is a target");
    let machine = found.cost.machine(&ctx).expect("its machine is valid");
    let pipeline = pipeline_of(&tool, target);
    for seed in 0..100 {
        let mut r = Random(seed);
        let (elem, dtype) = types[seed as usize % types.len()];
        let (text, extents) = program(elem, target == "npu", &mut r);
        let m = parse(&ctx, &text).unwrap_or_else(|| panic!("no program\n{text}"));
        let first = if elem == "ui8" { 0.0 } else { -128.0 };
        let values: Vec<f64> = (0..extents.iter().product()).map(|_| first + r.below(256) as f64).collect();
        let args = vec![Datum::Tensor(match dtype {
            DType::I8 => Tensor::from_vec(&extents, values.iter().map(|&n| n as i8).collect()),
            DType::U8 => Tensor::from_vec(&extents, values.iter().map(|&n| n as u8).collect()),
            _ => floats_to_tensor(dtype, &extents, values),
        })];
        let wanted = Interpreter::new(&m).call(main_of(&m), args.clone()).expect("it has a meaning");
        let code = lowered(&tool, &m, &pipeline);
        let mut executable = found.load(&code, main_of(&code), &machine, 1).expect("it can be executed");
        let result = executable.call(args).unwrap_or_else(|stop| panic!("{stop:?}\n{text}"));
        assert_eq!(format!("{result:?}"), format!("{wanted:?}"), "seed {seed}\n{text}");
        let host = ["pool", "pad", "resize", "slice", "concat"].map(|op| format!("by the host: graph.{op}"));
        let is_host = |name: &str| host.iter().any(|op| name.starts_with(op)) || name.contains("max_pool");
        let host = executable.statistics().into_iter().find(|s| is_host(&s.name)).map(|s| s.name);
        assert!(host.is_none(), "{host:?}\n{text}");
    }
}

/// A transposed convolution between quantizations, and its operand's extents. All positions are reached by a tap.
fn transposed(r: &mut Random) -> (String, Vec<usize>) {
    let group = r.up_to(2);
    let [channels, kernels] = [group * r.up_to(9), group * r.up_to(9)];
    let extents = vec![r.up_to(2), channels, 1 + r.up_to(7), 1 + r.up_to(7)];
    let (mut to, mut filters) = (vec![extents[0], kernels], vec![channels, kernels / group]);
    let (mut strides, mut pads, mut more) = ([0; 2], [0; 4], [0; 2]);
    for axis in 0..2 {
        strides[axis] = r.up_to(3);
        let kernel = strides[axis] + r.below(3);
        (pads[axis], pads[2 + axis]) = (r.below(2), r.below(2));
        more[axis] = r.below(strides[axis]);
        to.push((extents[2 + axis] - 1) * strides[axis] + kernel + more[axis] - pads[axis] - pads[2 + axis]);
        filters.push(kernel);
    }
    let tensor = |extents: &[usize], elem: &str| format!("tensor<{}x{elem}>", list(extents).replace(", ", "x"));
    let bytes: String = (0..filters.iter().product()).map(|_| format!("{:02X}", r.below(256))).collect();
    let [x, w, y] = [&extents, &filters, &to].map(|extents| ["ui8", "i8", "f32"].map(|elem| tensor(extents, elem)));
    let text = format!(
        "func.func @main(%x: {}) -> {} {{
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %zw = graph.constant dense<0> : tensor<i8>
  %t = graph.constant dense<64.0> : tensor<f32>
  %wq = graph.constant dense<\"0x{bytes}\"> : {}
  %d = graph.dequantize_linear %x, %s, %z : ({}, tensor<f32>, tensor<ui8>) -> {}
  %w = graph.dequantize_linear %wq, %s, %zw : ({}, tensor<f32>, tensor<i8>) -> {}
  %0 = graph.conv_transpose %d, %w {{strides = array<i64: {}>, pads = array<i64: {}>, output_padding = array<i64: {}>, group = {group} : i64}} : ({}, {}) -> {}
  %1 = graph.quantize_linear %0, %t, %z : ({}, tensor<f32>, tensor<ui8>) -> {}
  return %1 : {}
}}
",
        x[0], y[0], w[1], x[0], x[2], w[1], w[2], list(&strides), list(&pads), list(&more), x[2], w[2], y[2], y[2], y[0], y[0],
    );
    (text, extents)
}

#[test]
fn transposed_convolutions_run_on_the_npu() {
    let (tool, ctx) = (Tool::gradus(), Tool::gradus().context());
    let npu = tool.targets.iter().find(|known| known.cost.name == "npu").expect("it is a target");
    let machine = npu.cost.machine(&ctx).expect("its machine is valid");
    for seed in 0..40 {
        let mut r = Random(seed);
        let (text, extents) = transposed(&mut r);
        let m = parse(&ctx, &text).unwrap_or_else(|| panic!("no program\n{text}"));
        let values = (0..extents.iter().product()).map(|_| r.below(256) as u8).collect();
        let args = vec![Datum::Tensor(Tensor::from_vec::<u8>(&extents, values))];
        let wanted = Interpreter::new(&m).call(main_of(&m), args.clone()).expect("it has a meaning");
        let code = lowered(&tool, &m, &pipeline_of(&tool, "npu"));
        let mut executable = npu.load(&code, main_of(&code), &machine, 1).expect("it can be executed");
        let found = executable.call(args).unwrap_or_else(|stop| panic!("{stop:?}\n{text}"));
        // Floats are rounded at each op, sums of integers once.
        let numbers = |results: &[Datum]| match results {
            [Datum::Tensor(tensor)] => tensor.to_f64(),
            other => panic!("{other:?}"),
        };
        let (found, wanted) = (numbers(&found), numbers(&wanted));
        assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() <= 1.0), "seed {seed}\n{text}");
        let host = executable.statistics().into_iter().find(|s| s.name.starts_with("by the host: graph.q"));
        let slices = executable.statistics().into_iter().find(|s| s.name.contains("conv") || s.name.contains("concat"));
        assert!(host.is_none() && slices.is_none(), "{host:?} {slices:?}\n{text}");
    }
}

#[test]
fn forms_of_bytes_run_on_the_npu() {
    all_run_on("npu", &[("ui8", DType::U8), ("i8", DType::I8)]);
}

#[test]
fn forms_of_floats_and_bytes_run_on_clusters() {
    all_run_on("cluster", &[("f32", DType::F32), ("f16", DType::F16), ("i8", DType::I8), ("ui8", DType::U8)]);
}
