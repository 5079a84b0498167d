//! `divide-images`: divides images with channels first into bands of rows.

use super::propagate_layouts::is_elementwise;
use crate::graph::{ConvOp, convolution};
use crate::layout::{self, IMAGES, RESULTS, banded, image_layout};
use crate::sparse;
use gradus_ir::pass::{OptionKind, PassOption, Rewrites};
use gradus_ir::{DType, Diagnostic, Module, Op, OpDecl, Pass, PassContext, PassInfo, Refusal, Value};
use indexmap::IndexSet;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "divide-images",
    doc: "Divide images with channels first into bands of rows

# Before / After

```mlir
%1 = sparse.conv %0, %w : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
%2 = graph.conv %1, %v {group = 8 : i64, layout.images = #layout.tiled<\"NCHW\">, ...} : (...) -> tensor<1x8x16x16xf32>
%3 = sparse.conv %2, %u : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>   // becomes:

%1 = sparse.conv %0, %w {layout.results = #layout.tiled<\"NHC8hW\">} : (...) -> tensor<1x8x16x16xf32>
%2 = graph.conv %1, %v {group = 8 : i64, layout.images = #layout.tiled<\"NHC8hW\">, layout.results = #layout.tiled<\"NHC8hW\">, ...} : ...
%3 = sparse.conv %2, %u {layout.images = #layout.tiled<\"NHC8hW\">} : (...) -> tensor<1x8x16x16xf32>
```

# Does

Threads that divide the channels of an image each read all of it, half of which another one has just written; threads that divide its
rows write to the same cache lines, since rows of a channel are short. In a layout of `bands` bands, each with some rows of all channels,
a thread reads and writes memory of its own. The pass gives convolutions that have forms for bands the attributes `layout.images` and
`layout.results`: `sparse.conv` with 1x1 filters for both, other `sparse.conv` for results, depthwise convolutions with channels first for both. An
image is in bands if the op that computes it and all its readers have such a form or are elementwise.

# Refuses

Batches of several images, images of few positions or with a number of rows that bands do not divide, types other than f32. A remark says
why a convolution has neither its image nor its result in bands.

# Cost

Linear in the number of ops.",
    options: &[PassOption { name: "bands", doc: "Number of bands; 1 divides no image", kind: OptionKind::Int(2) }],
    statistics: &[("num-images", "Number of images in bands")],
    stays: "without bands",
    rewrites: Rewrites::Tags(&["divide"]),
    make: |options| Ok(Box::new(DivideImages { bands: options.int("bands") })),
    ..PassInfo::DEFAULT
};

/// Least number of positions of an image in bands: with fewer, code of a product is more than its operand.
const MIN_POSITIONS: i64 = 128;

struct DivideImages {
    bands: i64,
}

impl Pass for DivideImages {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        if self.bands < 2 {
            return Ok(());
        }
        let ops = m.ops_under(root);
        let divided = self.images(m, &ops);
        for op in ops {
            if BandForm::of(m, op, self.bands).is_none() {
                continue;
            }
            let (image, result) = (m.operands(op)[0], m.result(op, 0));
            let are_divided = [image, result].map(|value| divided.contains(&value));
            if are_divided == [false; 2] {
                let refused = self.rows(m, image).and_then(|_| self.rows(m, result)).err();
                cx.refuse(m, op, &refused.unwrap_or("images that another op writes or reads without bands".into()));
                continue;
            }
            if !cx.allows("divide", m, op) {
                continue;
            }
            for (name, value) in [(IMAGES, image), (RESULTS, result)] {
                let rows = self.rows(m, value).ok().filter(|_| divided.contains(&value));
                let layout = rows.and_then(|rows| banded(4, rows));
                if let Some(layout) = layout {
                    let layout = layout.to_attr(&m.ctx);
                    m.set_attr(op, name, Some(layout));
                }
            }
            cx.count("num-images", u64::from(are_divided[1]));
        }
        Ok(())
    }
}

/// The images that a convolution can have in bands.
#[derive(Clone, Copy, PartialEq)]
enum BandForm {
    /// Images and results in bands.
    Both,
    /// Results in bands.
    Results,
}

impl BandForm {
    fn of(m: &Module, op: Op, bands: i64) -> Option<BandForm> {
        if ConvOp::cast(m, op).is_some() {
            let sizes = m.ctx.static_shape(m.value_type(m.operands(op)[0]))?;
            return image_layout(m, op).and_then(|tiled| layout::bands(&tiled, sizes)).map(|_| BandForm::Both);
        }
        sparse::ConvOp::cast(m, op)?;
        let (_, window) = convolution(m, op).ok()?;
        let (first, stride) =
            (i64::try_from(*window.input.first()?).ok()?, i64::try_from(*window.strides.first()?).ok()?);
        let is_read = window.has_one_tap() && first / bands % stride == 0;
        Some(if is_read { BandForm::Both } else { BandForm::Results })
    }
}

impl DivideImages {
    /// The number of rows of a band of an image, if it can be divided.
    fn rows(&self, m: &Module, value: Value) -> Result<i64, Refusal> {
        let (ty, refuse) = (m.value_type(value), |rule| Err(Refusal::of(value, rule)));
        let (height, width) = match m.ctx.static_shape(ty) {
            Some(&[1, channels, height, width]) if channels > 1 => (height, width),
            Some(&[1, _, _, _]) => return refuse("one channel"),
            Some(&[_, _, _, _]) => return refuse("a batch of several images"),
            Some(_) => return refuse("other axes than those of an image"),
            None => return refuse("an unknown extent"),
        };
        if height.checked_mul(width).is_none_or(|positions| positions < MIN_POSITIONS) {
            return Err(Refusal::of(value, "fewer than {} positions").with([MIN_POSITIONS as usize]));
        }
        if height % self.bands != 0 {
            let rule = "{} rows, which {} bands do not divide";
            return Err(Refusal::of(value, rule).with([height as usize, self.bands as usize]));
        }
        let is_f32 = m.ctx.dtype(m.ctx.element_type(ty)) == Some(DType::F32);
        if is_f32 { Ok(height / self.bands) } else { refuse("elements other than f32") }
    }

    /// The images that are computed and read in bands.
    fn images(&self, m: &Module, ops: &[Op]) -> IndexSet<Value, rustc_hash::FxBuildHasher> {
        let results = ops.iter().flat_map(|&op| m.results(op));
        let mut divided: IndexSet<Value, _> = results.filter(|&value| self.rows(m, value).is_ok()).collect();
        let mut open: Vec<Value> = divided.iter().copied().collect();
        while let Some(value) = open.pop() {
            if !divided.contains(&value) || self.is_possible(m, value, &divided) {
                continue;
            }
            divided.swap_remove(&value);
            let around = m.defining_op(value).into_iter().chain(m.uses(value).map(|(user, _)| user));
            for op in around.filter(|&op| is_elementwise(m, op)) {
                open.extend(m.operands(op).iter().copied().chain(m.results(op)));
            }
        }
        divided
    }

    /// Whether the op that computes a value and its readers have forms for bands, given those of elementwise ops.
    fn is_possible(&self, m: &Module, value: Value, divided: &IndexSet<Value, rustc_hash::FxBuildHasher>) -> bool {
        let is_number =
            |v: Value| m.ctx.static_shape(m.value_type(v)).is_some_and(|shape| shape.iter().all(|&d| d == 1));
        let are_operands_divided = |op: Op| m.operands(op).iter().all(|&v| divided.contains(&v) || is_number(v));
        let Some(producer) = m.defining_op(value) else { return false };
        let is_written = BandForm::of(m, producer, self.bands).is_some()
            || is_elementwise(m, producer) && are_operands_divided(producer);
        let is_read = |(user, operand): (Op, usize)| match BandForm::of(m, user, self.bands) {
            Some(form) => form == BandForm::Both && operand == 0,
            None => is_elementwise(m, user) && divided.contains(&m.result(user, 0)),
        };
        is_written && m.uses(value).next().is_some() && m.uses(value).all(is_read)
    }
}
