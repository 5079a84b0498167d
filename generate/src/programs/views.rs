//! Memory through views: slices that drop dimensions, casts, transpositions and reshapes, whose extents are asked for.

use super::writer::ProgramWriter;
use gradus_ir::random::Random;

/// A number in a type: `None` is written `?`.
type Known = Option<i64>;

/// A memref in scope.
#[derive(Clone)]
struct View {
    value: u32,
    /// Extents, and whether the type has them.
    extents: Vec<(i64, bool)>,
    /// Strides and offset, if the type has a layout.
    layout: Option<(Vec<Known>, Known)>,
}

/// Draws a function that stores and loads through views of a few buffers.
pub(super) fn draw(random: &mut Random) -> String {
    let mut w = ProgramWriter::new(random);
    let given = ["memref<4x3xi32>", "memref<2x1x3xi32>"];
    w.function("func.func @made0", &["index", "i32", given[0], given[1]], &["index", "index", "i32", "i32"]);
    let mut views = Vec::new();
    for (ty, extents) in given.into_iter().zip([vec![4, 3], vec![2, 1, 3]]) {
        let value = w.known(ty)[0];
        views.push(View { value, extents: extents.into_iter().map(|n| (n, true)).collect(), layout: None });
    }
    let mut asked = vec![w.known("index")[0]];
    for _ in 0..4 + w.random.below(8) {
        step(&mut w, &mut views, &mut asked);
    }
    let last = views[views.len() - 1].clone();
    asked.push(dim(&mut w, &last));
    load(&mut w, &last);
    let mut results = vec![format!("%v{}", w.random.pick(&asked)), format!("%v{}", mixed(&mut w, &asked))];
    let loaded = w.known("i32");
    results.extend((0..2).map(|i| format!("%v{}", loaded[loaded.len() - 1 - i % loaded.len()])));
    w.line(&format!("return {} : index, index, i32, i32\n}}", results.join(", ")));
    w.text
}

/// A sum with a factor at each step, which tells all extents apart.
fn mixed(w: &mut ProgramWriter<'_>, asked: &[u32]) -> u32 {
    let factor = w.index(5);
    asked.iter().fold(asked[0], |sum, extent| {
        let product = w.op("index", &format!("arith.muli %v{sum}, %v{factor} : index"));
        w.op("index", &format!("arith.addi %v{product}, %v{extent} : index"))
    })
}

fn step(w: &mut ProgramWriter<'_>, views: &mut Vec<View>, asked: &mut Vec<u32>) {
    let recent = views.len() - 1 - w.random.below(views.len().min(4) as u64) as usize;
    let view = views[recent].clone();
    let made = match w.random.below(12) {
        0 => {
            let view = created(w);
            if w.random.percent(40) {
                asked.extend((0..view.extents.len()).map(|at| dim_of(w, &view, at)));
            }
            view
        }
        1 | 2 => cast(w, &view),
        3..=5 => {
            let view = part(w, &view);
            if w.random.percent(30) {
                asked.extend((0..view.extents.len()).map(|at| dim_of(w, &view, at)));
            }
            view
        }
        6 => transposed(w, &view),
        7 => reshaped(w, &view),
        8 => {
            asked.push(dim(w, &view));
            return;
        }
        9 => return load(w, &view),
        10 => return copy(w, &view, views),
        _ => return store(w, &view),
    };
    views.push(made);
}

fn text(number: Known) -> String {
    number.map_or("?".to_owned(), |n| n.to_string())
}

impl View {
    /// Returns the extents that the type has.
    fn stated(&self) -> Vec<Known> {
        self.extents.iter().map(|&(n, is_static)| is_static.then_some(n)).collect()
    }

    /// Returns the number of elements.
    fn elements(&self) -> i64 {
        self.extents.iter().map(|e| e.0).product()
    }

    fn ty(&self) -> String {
        let shape: String = self.stated().into_iter().map(|n| text(n) + "x").collect();
        let Some((strides, offset)) = &self.layout else { return format!("memref<{shape}i32>") };
        let strides: Vec<String> = strides.iter().map(|&n| text(n)).collect();
        let offset = if *offset == Some(0) { String::new() } else { format!(", offset: {}", text(*offset)) };
        format!("memref<{shape}i32, strided<[{}]{offset}>>", strides.join(", "))
    }

    /// Returns the strides and the offset, those of rows one after another without a layout.
    fn strided(&self) -> (Vec<Known>, Known) {
        self.layout.clone().unwrap_or_else(|| {
            let mut strides = Vec::new();
            let mut next = Some(1);
            for extent in self.stated().into_iter().rev() {
                strides.insert(0, next);
                next = next.zip(extent).map(|(a, b)| a * b);
            }
            (strides, Some(0))
        })
    }
}

/// Draws an entry of a list: a number, or a constant, which the type does not have.
fn entry(w: &mut ProgramWriter<'_>, number: i64, dynamic: u64) -> (String, Known) {
    if w.random.percent(dynamic) {
        (format!("%v{}", w.index(number)), None)
    } else {
        (number.to_string(), Some(number))
    }
}

/// Allocates memory and fills it.
fn created(w: &mut ProgramWriter<'_>) -> View {
    let extents: Vec<(i64, bool)> =
        (0..w.random.pick(&[1, 2, 3, 3])).map(|_| (1 + w.random.below(3) as i64, w.random.percent(50))).collect();
    let open: Vec<String> =
        extents.iter().filter(|(_, is_static)| !is_static).map(|&(n, _)| format!("%v{}", w.index(n))).collect();
    let op = w.random.pick(&["alloca", "alloc"]);
    let mut view = View { value: 0, extents, layout: None };
    view.value = w.name();
    w.line(&format!("%v{} = memref.{op}({}) : {}", view.value, open.join(", "), view.ty()));
    let scalar = w.pick("i32");
    for linear in 0..view.elements() {
        let at = position(w, &view, linear);
        w.line(&format!("memref.store %v{scalar}, %v{}[{at}] : {}", view.value, view.ty()));
    }
    view
}

/// Returns the indices of an element, by its number in row-major order.
fn position(w: &mut ProgramWriter<'_>, view: &View, mut linear: i64) -> String {
    let mut at = Vec::new();
    for &(extent, _) in view.extents.iter().rev() {
        at.insert(0, format!("%v{}", w.index(linear % extent)));
        linear /= extent;
    }
    at.join(", ")
}

/// Draws the indices of an element.
fn anywhere(w: &mut ProgramWriter<'_>, view: &View) -> String {
    let linear = w.random.below(view.elements() as u64) as i64;
    position(w, view, linear)
}

fn load(w: &mut ProgramWriter<'_>, view: &View) {
    let at = anywhere(w, view);
    w.op("i32", &format!("memref.load %v{}[{at}] : {}", view.value, view.ty()));
}

fn store(w: &mut ProgramWriter<'_>, view: &View) {
    let (at, scalar) = (anywhere(w, view), w.pick("i32"));
    w.line(&format!("memref.store %v{scalar}, %v{}[{at}] : {}", view.value, view.ty()));
}

/// Copies to a view of the same extents, itself included.
fn copy(w: &mut ProgramWriter<'_>, view: &View, views: &[View]) {
    let numbers = |view: &View| view.extents.iter().map(|e| e.0).collect::<Vec<_>>();
    let alike: Vec<&View> = views.iter().filter(|other| numbers(other) == numbers(view)).collect();
    let to = w.random.pick(&alike);
    w.line(&format!("memref.copy %v{}, %v{} : {} to {}", view.value, to.value, view.ty(), to.ty()));
}

/// Asks for the extent of a dimension.
fn dim(w: &mut ProgramWriter<'_>, view: &View) -> u32 {
    if view.extents.is_empty() {
        return w.index(0);
    }
    let at = w.random.below(view.extents.len() as u64) as usize;
    dim_of(w, view, at)
}

fn dim_of(w: &mut ProgramWriter<'_>, view: &View, at: usize) -> u32 {
    let at = w.index(at as i64);
    w.op("index", &format!("memref.dim %v{}, %v{at} : {}", view.value, view.ty()))
}

/// Writes an op that makes a view of another.
fn viewed(w: &mut ProgramWriter<'_>, op: &str, of: &View, made: &View) {
    w.line(&format!("%v{} = memref.{op} : {} to {}", made.value, of.ty(), made.ty()));
}

/// Forgets or restores numbers of a type; sometimes all, with the rank, on the way.
fn cast(w: &mut ProgramWriter<'_>, view: &View) -> View {
    let mut made = view.clone();
    for extent in &mut made.extents {
        extent.1 ^= w.random.percent(40);
    }
    // Casts between layouts keep the rank, and forget strides.
    if w.random.percent(40) || made.layout.is_some() {
        let (mut strides, mut offset) = view.strided();
        strides.iter_mut().filter(|_| w.random.percent(40)).for_each(|stride| *stride = None);
        if w.random.percent(40) {
            offset = None;
        }
        made.layout = Some((strides, offset));
    }
    made.value = w.name();
    if w.random.percent(20) {
        let between = w.name();
        w.line(&format!("%v{between} = memref.cast %v{} : {} to memref<*xi32>", view.value, view.ty()));
        w.line(&format!("%v{} = memref.cast %v{between} : memref<*xi32> to {}", made.value, made.ty()));
    } else {
        viewed(w, &format!("cast %v{}", view.value), view, &made);
    }
    made
}

/// A slice in bounds, often the whole, some of whose dimensions of extent 1 are dropped.
fn part(w: &mut ProgramWriter<'_>, view: &View) -> View {
    let (strides, offset) = view.strided();
    let dynamic = w.random.pick(&[0, 0, 30, 60]);
    let mut lists: [Vec<String>; 3] = Default::default();
    let mut made = View { value: w.name(), extents: Vec::new(), layout: None };
    let mut layout = (Vec::new(), offset);
    let (mut is_reduced, several) = (false, w.random.percent(30));
    for (&(extent, _), &stride) in view.extents.iter().zip(&strides) {
        let (step, is_whole) = (1 + w.random.below(2) as i64, w.random.percent(40));
        let first = if is_whole { 0 } else { w.random.below(extent as u64) as i64 };
        let most = (extent - first + step - 1) / step;
        let length = match w.random.below(3) {
            0 => 1,
            _ if is_whole => most,
            _ => 1 + w.random.below(most as u64) as i64,
        };
        let entries = [(first, dynamic), (length, dynamic), (step, dynamic / 3)].map(|(n, chance)| entry(w, n, chance));
        let [(_, first), (_, size), (_, step)] = &entries;
        lists.iter_mut().zip(&entries).for_each(|(list, (text, _))| list.push(text.clone()));
        let moved = if *first == Some(0) { Some(0) } else { first.zip(stride).map(|(first, stride)| first * stride) };
        layout.1 = layout.1.zip(moved).map(|(sum, moved)| sum + moved);
        // One of several dimensions that look alike cannot be dropped without the others.
        if *size == Some(1) && (several || !is_reduced && w.random.percent(50)) {
            is_reduced = true;
            continue;
        }
        made.extents.push((length, size.is_some()));
        layout.0.push(stride.zip(*step).map(|(a, b)| a * b));
    }
    made.layout = Some(layout);
    let [offsets, sizes, strides] = lists.map(|list| list.join(", "));
    viewed(w, &format!("subview %v{}[{offsets}] [{sizes}] [{strides}]", view.value), view, &made);
    made
}

fn transposed(w: &mut ProgramWriter<'_>, view: &View) -> View {
    let rank = view.extents.len();
    if rank < 2 {
        return cast(w, view);
    }
    let mut order: Vec<usize> = (0..rank).collect();
    let turn = w.random.below(rank as u64) as usize;
    order.rotate_left(turn);
    let (strides, offset) = view.strided();
    let mut made = view.clone();
    made.extents = order.iter().map(|&d| view.extents[d]).collect();
    made.layout = Some((order.iter().map(|&d| strides[d]).collect(), offset));
    made.value = w.name();
    let name = |d: &usize| format!("d{d}");
    let [from, to] =
        [(0..rank).collect::<Vec<_>>(), order].map(|dims| dims.iter().map(name).collect::<Vec<_>>().join(", "));
    viewed(w, &format!("transpose %v{} ({from}) -> ({to})", view.value), view, &made);
    made
}

/// Reshapes a view without a layout by a buffer of extents.
fn reshaped(w: &mut ProgramWriter<'_>, view: &View) -> View {
    if view.layout.is_some() {
        return cast(w, view);
    }
    let all = view.elements();
    let first = w.random.pick(&[1, 2, 3]);
    let numbers = if all % first == 0 && w.random.percent(60) { vec![first, all / first] } else { vec![all] };
    let (shape, rank, ty) = (w.name(), numbers.len(), w.random.pick(&["index", "i32", "i64"]));
    w.line(&format!("%v{shape} = memref.alloca() : memref<{rank}x{ty}>"));
    for (i, &number) in numbers.iter().enumerate() {
        let (at, value) = (w.index(i as i64), w.op(ty, &format!("arith.constant {number} : {ty}")));
        w.line(&format!("memref.store %v{value}, %v{shape}[%v{at}] : memref<{rank}x{ty}>"));
    }
    let extents = numbers.into_iter().map(|n| (n, w.random.percent(30))).collect();
    let made = View { value: w.name(), extents, layout: None };
    let (value, source, from, to) = (made.value, view.value, view.ty(), made.ty());
    w.line(&format!("%v{value} = memref.reshape %v{source}(%v{shape}) : ({from}, memref<{rank}x{ty}>) -> {to}"));
    made
}
