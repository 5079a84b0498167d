//! Networks of sparse, dense and depthwise convolutions: whatever layouts a machine's numbers choose, results are exact on small integers.

use super::{constant, extents, list, numbers, parse, passed, pick, run, run_by_kernels};
use gradus::Tool;
use gradus::cost::load_machine;
use gradus::ir::DType;
use gradus::ir::eval::{Datum, floats_to_tensor};
use gradus::ir::random::Random;

/// A network in the making. Values have one image each.
struct Network {
    text: String,
    /// The values, by channels and extents of the image.
    values: Vec<(String, [usize; 3])>,
}

impl Network {
    fn ty([channels, height, width]: [usize; 3]) -> String {
        format!("tensor<{}f32>", extents(&[1, channels, height, width]))
    }

    /// Appends an op with a result of these extents.
    fn push(&mut self, op: &str, types: &str, shape: [usize; 3]) {
        let name = format!("%{}", self.values.len());
        self.text += &format!("  {name} = {op} : ({types}) -> {}\n", Network::ty(shape));
        self.values.push((name, shape));
    }

    /// Appends a convolution, and a clamp that keeps sums small.
    fn conv(&mut self, random: &mut Random) {
        let channels = self.last().1[0];
        let is_depthwise = random.percent(40);
        let (kernel, stride) = (pick(random, &[1, 1, 3]), pick(random, &[1, 1, 2]));
        let filters = if is_depthwise { channels } else { pick(random, &[3, 8, 16]) };
        let zeros = pick(random, &[0, 60, 90]) as u64;
        self.conv_of(random, [filters, if is_depthwise { channels } else { 1 }, kernel, stride], zeros);
    }

    /// Appends what MobileNets are made of: convolutions of zeros, with a depthwise one between them, and a sum.
    fn block(&mut self, random: &mut Random) {
        let (x, shape @ [channels, ..]) = self.last();
        let expanded = pick(random, &[8, 16, 24]);
        let [stride, last] = [0; 2].map(|_| pick(random, &[1, 1, 2]));
        let kernel = pick(random, &[1, 1, 3]);
        self.conv_of(random, [expanded, 1, kernel, 1], 90);
        self.conv_of(random, [expanded, expanded, 3, stride], 0);
        self.conv_of(random, [channels, 1, 1, last], 90);
        let (y, made) = self.last();
        if made == shape {
            self.push(&format!("graph.add {y}, {x}"), &[shape; 2].map(Network::ty).join(", "), shape);
        }
    }

    /// Appends a convolution with a number of filters and groups, a kernel, a stride and a percentage of zeros.
    fn conv_of(&mut self, random: &mut Random, [filters, group, kernel, stride]: [usize; 4], zeros: u64) {
        let (x, [channels, height, width]) = self.last();
        let (each, pad) = (channels / group, kernel / 2);
        let output = |d: usize| (d + 2 * pad - kernel) / stride + 1;
        let weights = format!("w{}", self.values.len());
        let count = filters * each * kernel * kernel;
        let bytes: String = numbers(random, count)
            .into_iter()
            .map(|w| if random.percent(zeros) { 0.0 } else { w })
            .map(|w| format!("{:08X}", (w as f32).to_bits().swap_bytes()))
            .collect();
        let ty = format!("tensor<{}f32>", extents(&[filters, each, kernel, kernel]));
        self.text += &format!("  %{weights} = arith.constant dense<\"0x{bytes}\"> : {ty}\n");
        self.text += &constant(random, &format!("{weights}b"), &[filters]);
        let op = format!(
            "graph.conv {x}, %{weights}, %{weights}b {{group = {group} : i64, pads = {}, strides = {}}}",
            list(&[pad; 4]),
            list(&[stride; 2])
        );
        let from = Network::ty([channels, height, width]);
        let made = [filters, output(height), output(width)];
        self.push(&op, &format!("{from}, {ty}, tensor<{filters}xf32>"), made);
        self.clamp();
    }

    fn clamp(&mut self) {
        let (x, shape) = self.last();
        self.push(
            &format!("graph.clip {x} min %low max %high"),
            &format!("{}, tensor<f32>, tensor<f32>", Network::ty(shape)),
            shape,
        );
    }

    /// Appends a sum or concatenation with an earlier value that fits.
    fn join(&mut self, random: &mut Random) {
        let (x, shape) = self.last();
        let is_sum = random.percent(60);
        let fits = |of: &[usize; 3]| if is_sum { *of == shape } else { of[1..] == shape[1..] };
        let others: Vec<(String, [usize; 3])> = self.values.iter().filter(|value| fits(&value.1)).cloned().collect();
        let (other, other_shape) = others[random.below(others.len() as u64) as usize].clone();
        let types = format!("{}, {}", Network::ty(shape), Network::ty(other_shape));
        if is_sum {
            self.push(&format!("graph.add {x}, {other}"), &types, shape);
        } else {
            let made = [shape[0] + other_shape[0], shape[1], shape[2]];
            self.push(&format!("graph.concat {x}, {other} {{axis = 1 : i64}}"), &types, made);
        }
        self.clamp();
    }

    fn pool(&mut self) {
        let (x, shape @ [channels, height, width]) = self.last();
        let windows =
            format!("kernel_shape = {}, strides = {}, pads = {}", list(&[3; 2]), list(&[2; 2]), list(&[1; 4]));
        let made = [channels, height.div_ceil(2), width.div_ceil(2)];
        self.push(&format!("graph.max_pool {x} {{{windows}}}"), &Network::ty(shape), made);
    }

    fn last(&self) -> (String, [usize; 3]) {
        self.values.last().expect("there is the input").clone()
    }

    fn draw(random: &mut Random) -> (String, Vec<usize>) {
        let is_mobile = random.percent(30);
        let extent = |random: &mut Random| if is_mobile { 12 * (1 + random.below(2)) } else { 9 + random.below(12) };
        let shape = [pick(random, &[3, 8, 16]), extent(random) as usize, extent(random) as usize];
        let mut network = Network { text: String::new(), values: vec![("%x".to_owned(), shape)] };
        for _ in 0..if is_mobile { 1 + random.below(3) } else { 0 } {
            network.block(random);
        }
        for _ in 0..if is_mobile { 1 } else { 3 + random.below(7) } {
            match random.below(10) {
                0..6 => network.conv(random),
                6..9 => network.join(random),
                _ => network.pool(),
            }
        }
        let (last, made) = network.last();
        let text = format!(
            "func.func @main(%x: {}) -> {} {{\n  %low = arith.constant dense<-4.0> : tensor<f32>\n  %high = arith.constant \
             dense<4.0> : tensor<f32>\n{}  return {last} : {}\n}}\n",
            Network::ty(shape),
            Network::ty(made),
            network.text,
            Network::ty(made)
        );
        (text, vec![1, shape[0], shape[1], shape[2]])
    }
}

/// The numbers on which layouts depend.
const KEYS: [&str; 7] =
    ["relayout", "planes_share", "depthwise_share", "product_share", "sparse_products", "sparse_l1_share", "call"];

#[test]
fn layouts_of_networks_keep_results() {
    let (tool, mut found, mut overlapping) = (Tool::gradus(), [0; 4], 0);
    let target = tool.targets.iter().find(|target| target.cost.name == "cpu").expect("there is a target");
    for number in 0..if cfg!(debug_assertions) { 30 } else { 400 } {
        let (ctx, mut random) = (tool.context(), Random::of(("assigned", number as u64)));
        let mut machine = target.cost.machine(&ctx).expect("its machine is valid");
        for key in KEYS {
            let most = if random.percent(50) { 20 } else { 200 };
            machine.set(key, 1 + random.below(most)).expect("it has the number");
        }
        machine.set("bands", 1 + random.below(4)).expect("it has the number");
        let pipeline = target.pipeline(&machine).expect("it has a pipeline");
        assert!(load_machine(&ctx, machine));
        let (text, input) = Network::draw(&mut random);
        let m = parse(&ctx, &text).unwrap_or_else(|| panic!("it is valid: {text}"));
        let count = input.iter().product();
        let input = Datum::Tensor(floats_to_tensor(DType::F32, &input, numbers(&mut random, count)));
        let program = passed(&tool, &m, &pipeline);
        let (have, reference) = run_by_kernels(&program, &input);
        let (have, want) = (have.tensor().expect("a tensor").to_f64(), run(&m, &input));
        assert_eq!(have, want.tensor().expect("a tensor").to_f64(), "{number}: {text}");
        assert!(reference.is_empty(), "{reference:?} have no kernel: {text}");
        let lowered = program.to_text(Default::default());
        for (count, op) in found.iter_mut().zip(["addr.conv_planes", "x64.call", "layout.pack", "{bands = "]) {
            *count += usize::from(lowered.contains(op));
        }
        let (first, _) = pipeline.split_once(",convert-sparse-to-x64").expect("the pass is in the pipeline");
        let divided = passed(&tool, &m, &format!("{first})")).to_text(Default::default());
        overlapping += usize::from(divided.contains("graph.slice"));
    }
    let is_native = found[1] > 0;
    assert!(!is_native || found.iter().all(|&count| count > 5), "planes, generated code, changes, bands: {found:?}");
    assert!(!is_native || overlapping > 2, "{overlapping} with bands that overlap");
}
