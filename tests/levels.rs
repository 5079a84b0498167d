//! Random networks on random machines: each level of the road to a machine computes what the one before computes, and faults that are
//! planted in the text of a level are found.

#![allow(clippy::print_stdout, reason = "counts, which the harness shows with --nocapture or a failure")]

use crate::support::{lowered, parse};
use gradus::Tool;
use gradus::check::{Input, Outcome, Seen, run};
use gradus::cost::{CostModel, load_machine};
use gradus::ir::eval::{Datum, floats_to_tensor, ints_to_tensor};
use gradus::ir::pass::{PassEvent, RunOptions, Watch};
use gradus::ir::random::Random;
use gradus::ir::{Context, DType, Module, Op, Pipeline, PrintOptions};
use std::fmt::Write as _;
use std::sync::Arc;

/// Number of random networks for each machine.
const NETWORKS: u64 = 200;

/// Number of networks in which each fault is planted.
const FAULTY: u64 = 40;

/// Steps of the interpreter.
const FUEL: u64 = 1 << 16;

/// A random network as text: layers on an image, with branches that meet again.
struct Writer {
    random: Random,
    is_quantized: bool,
    body: String,
    /// Name and extents `[C, H, W]` of each value.
    values: Vec<(String, [u64; 3])>,
}

impl Writer {
    fn new(random: Random, is_quantized: bool) -> Writer {
        let mut w = Writer { random, is_quantized, body: String::new(), values: Vec::new() };
        let [c, h, v] =
            [w.random.pick(&[1, 3, 8, 12, 16]), w.random.pick(&[1, 4, 7, 12]), w.random.pick(&[1, 5, 8, 11])];
        w.values.push(("%x".to_owned(), [c, h, v]));
        w
    }

    fn elem(&self) -> &'static str {
        if self.is_quantized { "ui8" } else { "f32" }
    }

    fn ty(&self, [c, h, w]: [u64; 3]) -> String {
        format!("tensor<1x{c}x{h}x{w}x{}>", self.elem())
    }

    fn add(&mut self, extents: [u64; 3], op: &str) {
        let name = format!("%{}", self.values.len());
        let _ = writeln!(self.body, "  {name} = {op} -> {}", self.ty(extents));
        self.values.push((name, extents));
    }

    /// Scale and zero point of features, after a comma each.
    const QUANTIZED: &str = "%s, %z";

    fn layer(&mut self) {
        let (x, extents) = self.values[self.values.len() - 1].clone();
        let ty = self.ty(extents);
        let [c, h, w] = extents;
        match self.random.below(6) {
            0..3 => self.conv(&x, extents),
            3 if !self.is_quantized => {
                let name = format!("%{}", self.values.len());
                let _ = writeln!(self.body, "  {name} = graph.relu {x} : {ty}");
                self.values.push((name, extents));
            }
            4 if !self.is_quantized && h > 1 && w > 1 => {
                let attrs = "{kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}";
                self.add([c, h / 2, w / 2], &format!("graph.max_pool {x} {attrs} : ({ty})"));
            }
            _ => self.join(&x, extents),
        }
    }

    fn conv(&mut self, x: &str, [c, h, w]: [u64; 3]) {
        let (side, stride) = (self.random.pick(&[1, 3]), self.random.pick(&[1, 1, 2]));
        let is_depthwise = c > 1 && self.random.percent(20);
        let kernels = if is_depthwise { c } else { self.random.pick(&[4, 8, 20]) };
        let depth = if is_depthwise { 1 } else { c };
        let number = self.values.len();
        let weights: Vec<String> =
            (0..kernels * depth * side * side).map(|_| (self.random.below(9) as i64 - 4).to_string()).collect();
        let suffix = if self.is_quantized { "" } else { ".0" };
        let at = |k: usize| format!("{}{suffix}", weights[k]);
        let list = nested(&[kernels, depth, side, side], 0, &mut 0, &at);
        let elem = if self.is_quantized { "i8" } else { "f32" };
        let ty = format!("tensor<{kernels}x{depth}x{side}x{side}x{elem}>");
        let _ = writeln!(self.body, "  %w{number} = graph.constant dense<{list}> : {ty}");
        let (pad, group) = (side / 2, if is_depthwise { c } else { 1 });
        let attrs = format!(
            "{{group = {group} : i64, pads = array<i64: {pad}, {pad}, {pad}, {pad}>, strides = array<i64: {stride}, {stride}>}}"
        );
        let output = [kernels, (h - 1) / stride + 1, (w - 1) / stride + 1];
        let input = self.ty([c, h, w]);
        let text = match self.is_quantized {
            true => format!(
                "graph.qlinear_conv {x}, {q}, %w{number}, %ws, %wz, {q} {attrs} : ({input}, {t}, {ty}, tensor<f32>, tensor<i8>, {t})",
                q = Self::QUANTIZED,
                t = "tensor<f32>, tensor<ui8>",
            ),
            false => format!("graph.conv {x}, %w{number} {attrs} : ({input}, {ty})"),
        };
        self.add(output, &text);
    }

    /// Joins the last value with an earlier one: a sum of equal extents, or a concatenation of channels.
    fn join(&mut self, x: &str, [c, h, w]: [u64; 3]) {
        let others: Vec<(String, [u64; 3])> = self.values.iter().filter(|(_, e)| e[1..] == [h, w]).cloned().collect();
        let (other, extents) = others[self.random.below(others.len() as u64) as usize].clone();
        let types = [self.ty([c, h, w]), self.ty(extents)];
        let q = Self::QUANTIZED;
        match (extents == [c, h, w], self.is_quantized) {
            (true, false) => self.add(extents, &format!("graph.add {x}, {other} : ({}, {})", types[0], types[1])),
            (true, true) => {
                let t = "tensor<f32>, tensor<ui8>";
                let text = format!(
                    "graph.qlinear_add {x}, {q}, {other}, {q}, {q} : ({}, {t}, {}, {t}, {t})",
                    types[0], types[1]
                );
                self.add(extents, &text);
            }
            (false, _) => {
                let text = format!("graph.concat {x}, {other} {{axis = 1 : i64}} : ({}, {})", types[0], types[1]);
                self.add([c + extents[0], h, w], &text);
            }
        }
    }

    fn finish(self) -> String {
        let (input, (result, extents)) = (self.ty(self.values[0].1), self.values[self.values.len() - 1].clone());
        let constants = match self.is_quantized {
            true => {
                "  %s = graph.constant dense<0.0625> : tensor<f32>\n  %z = graph.constant dense<100> : tensor<ui8>\n  \
                 %ws = graph.constant dense<0.03125> : tensor<f32>\n  %wz = graph.constant dense<0> : tensor<i8>\n"
            }
            false => "",
        };
        let ty = self.ty(extents);
        let body = self.body;
        format!("func.func @main(%x: {input}) -> {ty} {{\n{constants}{body}  return {result} : {ty}\n}}\n")
    }
}

/// Nested lists of elements.
fn nested(extents: &[u64], depth: usize, next: &mut usize, at: &dyn Fn(usize) -> String) -> String {
    if depth == extents.len() {
        *next += 1;
        return at(*next - 1);
    }
    let all: Vec<String> = (0..extents[depth]).map(|_| nested(extents, depth + 1, next, at)).collect();
    format!("[{}]", all.join(", "))
}

/// The text of a random network.
fn network(seed: (&str, u64), is_quantized: bool) -> String {
    let mut random = Random::of(seed);
    let layers = 1 + random.below(5);
    let mut w = Writer::new(random, is_quantized);
    (0..layers).for_each(|_| w.layer());
    if w.values.len() == 1 {
        let (x, extents) = w.values[0].clone();
        w.conv(&x, extents);
    }
    w.finish()
}

/// A context whose machine is a random one.
fn machine(tool: &Tool, target: &str, random: &mut Random) -> Arc<Context> {
    let ctx = tool.context();
    let model = CostModel::named(&ctx, target).expect("there is such a target");
    let mut machine = model.machine(&ctx).expect("its machine is valid");
    let numbers: &[(&str, &[u64])] = match target {
        "npu" => &[("sram_bytes", &[20 << 10, 32 << 10, 512 << 10]), ("accumulators", &[4096, 16384])],
        _ => &[("clusters", &[1, 2, 5]), ("spm", &[(256 << 10) + 4096, (256 << 10) + 16384, 4 << 20])],
    };
    for (key, values) in numbers {
        machine.set(key, random.pick(values)).expect("the machine has the number");
    }
    load_machine(&ctx, machine);
    ctx
}

fn function(m: &Module) -> Op {
    m.ops_under(m.root()).into_iter().find(|&op| m.name_text(op) == "func.func").expect("there is a function")
}

/// An input of small integers, whose sums are exact in any order.
fn input(m: &Module, random: &mut Random) -> Datum {
    let entry = m.entry(m.regions(function(m))[0]).expect("it has a body");
    let ty = m.value_type(m.block_args(entry)[0]);
    let shape: Vec<usize> = m.ctx.static_shape(ty).expect("extents are known").iter().map(|&d| d as usize).collect();
    let count = shape.iter().product::<usize>();
    Datum::Tensor(match m.ctx.dtype(m.ctx.element_type(ty)) {
        Some(DType::F32) => {
            floats_to_tensor(DType::F32, &shape, (0..count).map(|_| random.pick(&[-1.0, 0.0, 2.0])).collect())
        }
        dtype => ints_to_tensor(
            dtype.expect("it is a tensor"),
            &shape,
            &(0..count).map(|_| random.int(8)).collect::<Vec<_>>(),
        ),
    })
}

/// The result of a program, or why it has none.
fn result(m: &Module, x: &Datum) -> Result<Vec<f64>, String> {
    let input = Input { args: vec![x.clone()], ..Input::default() };
    match run(m, function(m), &input, FUEL) {
        Outcome::Returned { results, .. } => match &results[..] {
            [Seen::Value(Datum::Tensor(tensor))] => Ok(tensor.to_f64()),
            other => Err(format!("{other:?}")),
        },
        other => Err(format!("{other:?}")),
    }
}

/// The passes from a network to programs of a machine, a level each.
fn road(target: &str) -> [String; 5] {
    [
        &format!("form-layers{{target={target}}}"),
        "choose-layers",
        "schedule-layers",
        "place-buffers",
        "convert-layers-to-programs",
    ]
    .map(|pass| format!("builtin.module({pass})"))
}

#[test]
fn each_level_computes_what_the_one_before_computes() {
    let tool = Tool::gradus();
    for target in ["npu", "cluster"] {
        let mut programs = 0;
        for n in 0..NETWORKS {
            let mut random = Random::of(("machine", target, n));
            let ctx = machine(&tool, target, &mut random);
            let text = network((target, n), target == "npu" || n % 2 == 0);
            let mut m = parse(&ctx, &text).unwrap_or_else(|| panic!("no program\n{text}"));
            let x = input(&m, &mut random);
            let wanted = result(&m, &x).expect("a network has a result");
            for pass in road(target) {
                m = lowered(&tool, &m, &pass);
                let found = result(&m, &x);
                let what = || format!("{target} {n}: {pass}\n{text}\n{}", m.to_text(PrintOptions::default()));
                assert!(found.as_ref() == Ok(&wanted), "{}\n{found:?}, not {wanted:?}", what());
                // Each level is text.
                let again = parse(&ctx, &m.to_text(PrintOptions::default())).unwrap_or_else(|| panic!("{}", what()));
                assert!(again.to_text(PrintOptions::default()) == m.to_text(PrintOptions::default()), "{}", what());
            }
            programs += m.to_text(PrintOptions::default()).matches(&format!("{target}.program")).count();
        }
        assert!(programs as u64 * 10 > NETWORKS * 9, "{target}: only {programs} programs of {NETWORKS} networks");
    }
}

/// A fault that is planted in a level.
struct Fault {
    /// The fault.
    name: &'static str,
    target: &'static str,
    /// The number of passes before it.
    level: usize,
    /// The ops of which one is changed.
    op: &'static str,
    /// Changes an op, unless that is not possible.
    plant: fn(&mut Module, Op, &mut Random) -> Option<()>,
}

/// The faults of which each must be found.
const FAULTS: [Fault; 9] = [
    Fault {
        name: "a halo that is too small",
        target: "cluster",
        level: 3,
        op: "cluster.feature",
        plant: |m, op, _| shrink(m, op, "stored"),
    },
    Fault {
        name: "a part that no cluster computes",
        target: "cluster",
        level: 3,
        op: "cluster.task",
        plant: |m, op, _| shrink(m, op, "boxes"),
    },
    Fault {
        name: "other channels of constants",
        target: "cluster",
        level: 3,
        op: "cluster.parameters",
        plant: |m, op, _| shift(m, op, "units"),
    },
    Fault { name: "a task before what it reads", target: "cluster", level: 3, op: "cluster.task", plant: move_up },
    Fault { name: "a place that is in use", target: "cluster", level: 4, op: "cluster.feature", plant: share_place },
    Fault { name: "a missing wait", target: "cluster", level: 5, op: "cluster.wait", plant: erase },
    Fault { name: "a step before what it reads", target: "npu", level: 3, op: "npu.step", plant: move_up },
    Fault { name: "a place that is in use", target: "npu", level: 4, op: "npu.tile", plant: share_place },
    Fault { name: "a missing wait", target: "npu", level: 5, op: "npu.wait", plant: erase },
];

/// The numbers of an attribute.
fn numbers(m: &Module, op: Op, name: &str) -> Option<Vec<i64>> {
    m.inherent_attr(op, name).and_then(|a| m.ctx.as_ints(a)).filter(|list| !list.is_empty())
}

/// Ends the rows of the first box that has several of them a row earlier.
fn shrink(m: &mut Module, op: Op, name: &str) -> Option<()> {
    let mut boxes = numbers(m, op, name)?;
    let first = boxes.chunks(6).position(|b| b[1] > b[0] + 1)?;
    boxes[6 * first + 1] -= 1;
    let attr = m.ctx.i64_array_attr(&boxes);
    m.set_attr(op, name, Some(attr));
    Some(())
}

/// Ends the first range a channel earlier.
fn shift(m: &mut Module, op: Op, name: &str) -> Option<()> {
    let mut units = numbers(m, op, name)?;
    units[1] -= 1;
    let attr = m.ctx.i64_array_attr(&units);
    m.set_attr(op, name, Some(attr));
    Some(())
}

/// Moves an op before an earlier one of its name.
fn move_up(m: &mut Module, op: Op, random: &mut Random) -> Option<()> {
    let block = m.parent_block(op)?;
    let earlier: Vec<Op> = m.block_ops(block).take_while(|&o| o != op).filter(|&o| m.name(o) == m.name(op)).collect();
    let before = *earlier.get(random.below(earlier.len().max(1) as u64) as usize)?;
    m.move_before(op, before);
    Some(())
}

/// Gives a buffer the first byte of another one.
fn share_place(m: &mut Module, op: Op, random: &mut Random) -> Option<()> {
    let block = m.parent_block(op)?;
    let others: Vec<Op> = m.block_ops(block).filter(|&o| o != op && m.inherent_attr(o, "at").is_some()).collect();
    let other = *others.get(random.below(others.len().max(1) as u64) as usize)?;
    let at = m.inherent_attr(other, "at").filter(|&at| m.inherent_attr(op, "at") != Some(at));
    m.set_attr(op, "at", Some(at?));
    Some(())
}

fn erase(m: &mut Module, op: Op, _: &mut Random) -> Option<()> {
    m.erase_op(op);
    Some(())
}

/// Runs passes, and then the program. The error is why that is refused.
fn outcome(tool: &Tool, m: &Module, passes: &[String], x: &Datum) -> Result<Vec<f64>, String> {
    let text = m.to_text(PrintOptions::default());
    let mut m = parse(&m.ctx, &text).ok_or("no program")?;
    for pass in passes {
        let mut pipeline = Pipeline::parse(pass, &tool.passes).expect("it is a pipeline");
        let mut said = String::new();
        let ctx = m.ctx.clone();
        let mut watch = Watch::new(|event| {
            if let PassEvent::Diagnostic(d) = event {
                said += &d.render(&ctx);
            }
        });
        let run = pipeline.run(&mut m, &RunOptions::default(), &mut watch);
        drop(watch);
        run.map_err(|_| said)?;
    }
    result(&m, x)
}

#[test]
fn planted_faults_are_refused() {
    let tool = Tool::gradus();
    for Fault { name, target, level, op, plant } in FAULTS {
        let (mut refused, mut harmless) = (0, 0);
        for n in 0..FAULTY {
            let mut random = Random::of((name, target, n));
            let ctx = machine(&tool, target, &mut random);
            let mut m = parse(&ctx, &network((target, n), target == "npu" || n % 2 == 0)).expect("it is a program");
            let (x, passes) = (input(&m, &mut random), road(target));
            let wanted = result(&m, &x).expect("a network has a result");
            passes[..level].iter().for_each(|pass| m = lowered(&tool, &m, pass));
            let ops: Vec<Op> = m.ops_under(m.root()).into_iter().filter(|&o| m.name_text(o) == op).collect();
            let Some(&chosen) = ops.get(random.below(ops.len().max(1) as u64) as usize) else { continue };
            if plant(&mut m, chosen, &mut random).is_none() {
                continue;
            }
            match outcome(&tool, &m, &passes[level..], &x) {
                Err(_) => refused += 1,
                Ok(found) => {
                    assert!(found == wanted, "{name} is not found: {}", m.to_text(PrintOptions::default()));
                    harmless += 1;
                }
            }
        }
        println!("{target}: {name}: {refused} are refused, {harmless} compute the same");
        assert!(refused >= 5, "{name}: {refused} are refused, {harmless} compute the same");
    }
}
