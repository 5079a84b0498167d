//! Tensors with static and dynamic extents: created, cast, sliced, padded, and asked for their extents.

use super::writer::ProgramWriter;
use gradus_ir::random::Random;

/// An extent: its text in a type is a number or `?`.
#[derive(Clone)]
struct Extent {
    /// Whether the type has the number.
    is_static: bool,
    /// The number, if it is known while the program is drawn.
    number: Option<u64>,
    /// The value of type `index`.
    value: u32,
}

/// A tensor in scope.
#[derive(Clone)]
struct Tensor {
    value: u32,
    extents: Vec<Extent>,
}

/// Element type.
const ELEMENT: &str = "i32";

/// Percentage of static extents beside dynamic ones that are not those at run time.
const WRONG: u64 = 5;

/// Draws a function that transforms a few tensors, and returns the last of them with some extents and elements.
pub(super) fn draw(random: &mut Random) -> String {
    let mut w = ProgramWriter::new(random);
    let given = w.random.pick(&["tensor<?x?xi32>", "tensor<2x?xi32>", "tensor<?x3x?xi32>", "tensor<3x?x?xi32>"]);
    w.function("func.func @made0", &["index", "index", ELEMENT, given], &["index", "index", "index", ELEMENT]);
    let argument = w.known(given)[0];
    let shape = &given["tensor<".len()..given.len() - "xi32>".len()];
    let extents = shape.split('x').enumerate().map(|(i, d)| extent_of(&mut w, argument, given, i, d));
    let extents: Vec<Extent> = extents.collect();
    let mut tensors = vec![Tensor { value: argument, extents }];
    let mut asked = Vec::new();
    for _ in 0..4 + w.random.below(6) {
        step(&mut w, &mut tensors, &mut asked);
    }
    let mut returned = Vec::new();
    for _ in 0..3 {
        let recent = tensors.len() - 1 - w.random.below(tensors.len().min(3) as u64) as usize;
        let tensor = tensors[recent].clone();
        let again = (!asked.is_empty() && w.random.percent(50)).then(|| w.random.pick(&asked));
        returned.push(again.unwrap_or_else(|| dim(&mut w, &tensor)));
    }
    let elements: Vec<u32> = w.known(ELEMENT);
    let element = elements[elements.len() - 1];
    let returned: Vec<String> = returned.iter().map(|v| format!("%v{v}")).collect();
    w.line(&format!("return {}, %v{element} : index, index, index, {ELEMENT}\n}}", returned.join(", ")));
    w.text
}

/// Returns extent `i` of a tensor, whose type has `d` for it.
fn extent_of(w: &mut ProgramWriter<'_>, tensor: u32, ty: &str, i: usize, d: &str) -> Extent {
    match d.parse() {
        Ok(number) => Extent { is_static: true, number: Some(number), value: w.index(number as i64) },
        Err(_) => {
            let at = w.index(i as i64);
            let value = w.op("index", &format!("tensor.dim %v{tensor}, %v{at} : {ty}"));
            Extent { is_static: false, number: None, value }
        }
    }
}

/// Writes an op on tensors, or asks for an extent.
fn step(w: &mut ProgramWriter<'_>, tensors: &mut Vec<Tensor>, asked: &mut Vec<u32>) {
    let recent = tensors.len() - 1 - w.random.below(tensors.len().min(3) as u64) as usize;
    let tensor = tensors[recent].clone();
    let made = match w.random.below(10) {
        0 => {
            let tensor = created(w);
            asked.extend((0..tensor.extents.len()).map(|at| dim_of(w, &tensor, at)));
            tensor
        }
        1 | 2 => cast(w, &tensor),
        3 => {
            let tensor = slice(w, &tensor);
            if w.random.percent(40) {
                asked.extend((0..tensor.extents.len()).map(|at| dim_of(w, &tensor, at)));
            }
            tensor
        }
        4 => padded(w, &tensor),
        5 if w.random.percent(40) => overwritten(w, &tensor),
        5 => inserted(w, &tensor),
        6 => joined(w, &tensor),
        7 => divided(w, &tensor),
        8 => {
            asked.push(dim(w, &tensor));
            return;
        }
        _ => return element(w, &tensor),
    };
    tensors.push(made);
}

/// Returns the type of a tensor with extents.
fn type_of(extents: &[Extent]) -> String {
    let text = |e: &Extent| if e.is_static { e.number.unwrap_or(1).to_string() } else { "?".to_owned() };
    let extents: Vec<String> = extents.iter().map(text).collect();
    format!("tensor<{}x{ELEMENT}>", extents.join("x"))
}

/// Draws an extent: a number, a constant, or an argument reduced to at most three.
fn extent(w: &mut ProgramWriter<'_>) -> Extent {
    let number = 1 + w.random.below(4);
    match w.random.below(4) {
        0 | 1 => Extent { is_static: true, number: Some(number), value: w.index(number as i64) },
        2 => Extent { is_static: false, number: Some(number), value: w.index(number as i64) },
        _ => {
            let (any, four) = (w.pick("index"), w.index(4));
            let value = w.op("index", &format!("arith.remui %v{any}, %v{four} : index"));
            Extent { is_static: false, number: None, value }
        }
    }
}

/// Returns the values of the extents that the type leaves open.
fn sizes(extents: &[Extent]) -> String {
    let open: Vec<String> = extents.iter().filter(|e| !e.is_static).map(|e| format!("%v{}", e.value)).collect();
    open.join(", ")
}

/// Creates a tensor of two or three dimensions.
fn created(w: &mut ProgramWriter<'_>) -> Tensor {
    let extents: Vec<Extent> = (0..2 + w.random.below(2)).map(|_| extent(w)).collect();
    if w.random.percent(50) {
        return splat(w, extents);
    }
    let (ty, sizes, value) = (type_of(&extents), sizes(&extents), w.name());
    let arguments: Vec<String> = (0..extents.len()).map(|i| format!("%i{value}_{i}: index")).collect();
    w.line(&format!("%v{value} = tensor.generate {sizes} {{\n^bb0({}):", arguments.join(", ")));
    let at = w.random.below(extents.len() as u64);
    w.line(&format!("%e{value} = arith.index_cast %i{value}_{at} : index to {ELEMENT}"));
    w.line(&format!("tensor.yield %e{value} : {ELEMENT}\n}} : {ty}"));
    Tensor { value, extents }
}

/// Creates a tensor of equal elements.
fn splat(w: &mut ProgramWriter<'_>, extents: Vec<Extent>) -> Tensor {
    let (scalar, open) = (w.pick(ELEMENT), sizes(&extents));
    let list = if open.is_empty() { String::new() } else { format!("[{open}]") };
    let value = w.name();
    w.line(&format!("%v{value} = tensor.splat %v{scalar}{list} : {}", type_of(&extents)));
    Tensor { value, extents }
}

/// Forgets or restores numbers of a type.
fn toggled(w: &mut ProgramWriter<'_>, extents: &[Extent]) -> Vec<Extent> {
    let mut extents = extents.to_vec();
    for extent in &mut extents {
        extent.is_static ^= extent.number.is_some() && w.random.percent(50);
    }
    extents
}

/// Makes some numbers wrong that the other side of a cast leaves open: what follows is undefined, and must stay valid.
fn mistake(w: &mut ProgramWriter<'_>, extents: &mut [Extent], beside: &[Extent]) {
    for (extent, other) in extents.iter_mut().zip(beside) {
        if extent.is_static && !other.is_static && w.random.percent(WRONG) {
            extent.number = extent.number.map(|n| n + 1);
        }
    }
}

fn cast(w: &mut ProgramWriter<'_>, tensor: &Tensor) -> Tensor {
    let mut extents = toggled(w, &tensor.extents);
    mistake(w, &mut extents, &tensor.extents);
    cast_to(w, tensor, extents)
}

fn cast_to(w: &mut ProgramWriter<'_>, tensor: &Tensor, extents: Vec<Extent>) -> Tensor {
    let (from, to, value) = (type_of(&tensor.extents), type_of(&extents), w.name());
    w.line(&format!("%v{value} = tensor.cast %v{} : {from} to {to}", tensor.value));
    Tensor { value, extents }
}

/// Returns a number as it is in a list, or as a constant.
fn entry(w: &mut ProgramWriter<'_>, number: u64, as_value: bool) -> String {
    if as_value { format!("%v{}", w.index(number as i64)) } else { number.to_string() }
}

/// The lists of offsets, sizes and strides of a slice in bounds, and its extents.
fn part(w: &mut ProgramWriter<'_>, tensor: &Tensor) -> (String, Vec<Extent>) {
    let [mut offsets, mut lengths, mut strides] = [Vec::new(), Vec::new(), Vec::new()];
    let mut extents = Vec::new();
    for whole in &tensor.extents {
        let (stride, as_value, is_stride_value) = (1 + w.random.below(2), w.random.percent(40), w.random.percent(20));
        let Some(number) = whole.number.filter(|&n| n > 0) else {
            offsets.push(entry(w, 0, as_value));
            lengths.push(format!("%v{}", whole.value));
            strides.push("1".to_owned());
            extents.push(Extent { is_static: false, ..whole.clone() });
            continue;
        };
        let offset = if w.random.percent(50) { 0 } else { w.random.below(number) };
        let most = (number - offset).div_ceil(stride);
        let length = match w.random.below(4) {
            0 | 1 => most,
            2 => 1,
            _ => 1 + w.random.below(most),
        };
        let is_static = w.random.percent(60);
        let (number, value) = match !is_static && w.random.percent(30) {
            true => (None, length_below(w, most)),
            false => (Some(length), w.index(length as i64)),
        };
        offsets.push(entry(w, offset, as_value));
        lengths.push(if is_static { length.to_string() } else { format!("%v{value}") });
        strides.push(entry(w, stride, is_stride_value));
        extents.push(Extent { is_static, number, value });
    }
    (format!("[{}] [{}] [{}]", offsets.join(", "), lengths.join(", "), strides.join(", ")), extents)
}

/// Returns a number from 1 to `most` that is unknown while the program is drawn.
fn length_below(w: &mut ProgramWriter<'_>, most: u64) -> u32 {
    let (any, most, one) = (w.pick("index"), w.index(most as i64), w.index(1));
    let rest = w.op("index", &format!("arith.remui %v{any}, %v{most} : index"));
    w.op("index", &format!("arith.addi %v{rest}, %v{one} : index"))
}

/// Drops some dimensions of extent 1.
fn reduced(w: &mut ProgramWriter<'_>, extents: Vec<Extent>) -> Vec<Extent> {
    let kept = |e: &Extent, w: &mut ProgramWriter<'_>| !(e.is_static && e.number == Some(1) && w.random.percent(50));
    let kept: Vec<Extent> = extents.iter().filter(|e| kept(e, w)).cloned().collect();
    if kept.is_empty() { extents } else { kept }
}

fn slice(w: &mut ProgramWriter<'_>, tensor: &Tensor) -> Tensor {
    let (lists, extents) = part(w, tensor);
    slice_at(w, tensor, &lists, extents)
}

/// Extracts a slice by its lists, of which some dimensions of extent 1 are dropped.
fn slice_at(w: &mut ProgramWriter<'_>, tensor: &Tensor, lists: &str, extents: Vec<Extent>) -> Tensor {
    let extents = reduced(w, extents);
    let (from, to, value) = (type_of(&tensor.extents), type_of(&extents), w.name());
    w.line(&format!("%v{value} = tensor.extract_slice %v{}{lists} : {from} to {to}", tensor.value));
    Tensor { value, extents }
}

/// Writes a slice of a tensor, or a new one of its extents, back to it, there or elsewhere.
fn inserted(w: &mut ProgramWriter<'_>, tensor: &Tensor) -> Tensor {
    let (lists, extents) = part(w, tensor);
    let extents = reduced(w, extents);
    let (whole, ty) = (type_of(&tensor.extents), type_of(&extents));
    let (source, dest) = if w.random.percent(50) {
        let source = w.name();
        w.line(&format!("%v{source} = tensor.extract_slice %v{}{lists} : {whole} to {ty}", tensor.value));
        // The same block of another tensor is another block.
        let dest = if w.random.percent(30) { repeated(w, tensor.extents.clone()) } else { tensor.value };
        (source, dest)
    } else {
        (repeated(w, extents), tensor.value)
    };
    let value = w.name();
    w.line(&format!("%v{value} = tensor.insert_slice %v{source} into %v{dest}{lists} : {ty} into {whole}"));
    Tensor { value, extents: tensor.extents.clone() }
}

/// Inserts several tensors of one number into another, often at the same place, and extracts a slice at one of the places.
fn overwritten(w: &mut ProgramWriter<'_>, tensor: &Tensor) -> Tensor {
    let mut places = vec![part(w, tensor)];
    if w.random.percent(60) {
        places.push(part(w, tensor));
    }
    let mut whole = tensor.clone();
    for _ in 0..2 + w.random.below(2) {
        let at = w.random.below(places.len() as u64) as usize;
        let (lists, extents) = places[at].clone();
        let extents = reduced(w, extents);
        let (from, to) = (type_of(&extents), type_of(&whole.extents));
        let (source, value) = (repeated(w, extents), w.name());
        w.line(&format!("%v{value} = tensor.insert_slice %v{source} into %v{}{lists} : {from} into {to}", whole.value));
        whole.value = value;
    }
    if w.random.percent(30) {
        return whole;
    }
    let at = w.random.below(places.len() as u64) as usize;
    let (lists, extents) = places.swap_remove(at);
    slice_at(w, &whole, &lists, extents)
}

/// Makes a tensor of one number, by way of a type that knows other extents.
fn repeated(w: &mut ProgramWriter<'_>, extents: Vec<Extent>) -> u32 {
    let mut known = toggled(w, &extents);
    mistake(w, &mut known, &extents);
    let whole = splat(w, known);
    cast_to(w, &whole, extents).value
}

/// Joins two adjacent dimensions.
fn joined(w: &mut ProgramWriter<'_>, tensor: &Tensor) -> Tensor {
    let rank = tensor.extents.len();
    if rank < 2 {
        return divided(w, tensor);
    }
    let at = w.random.below(rank as u64 - 1) as usize;
    let [a, b] = [0, 1].map(|i| tensor.extents[at + i].clone());
    let size = w.op("index", &format!("arith.muli %v{}, %v{} : index", a.value, b.value));
    let number = a.number.zip(b.number).map(|(a, b)| a * b);
    let mut extents = tensor.extents.clone();
    extents.splice(at..at + 2, [Extent { is_static: a.is_static && b.is_static, number, value: size }]);
    let (from, to, value) = (type_of(&tensor.extents), type_of(&extents), w.name());
    let groups = groups(rank - 1, at);
    w.line(&format!("%v{value} = tensor.collapse_shape %v{} {groups} : {from} into {to}", tensor.value));
    Tensor { value, extents }
}

/// Divides a dimension of known extent.
fn divided(w: &mut ProgramWriter<'_>, tensor: &Tensor) -> Tensor {
    let known: Vec<usize> =
        (0..tensor.extents.len()).filter(|&i| tensor.extents[i].number.is_some_and(|n| n > 0)).collect();
    if known.is_empty() || tensor.extents.len() > 3 {
        return cast(w, tensor);
    }
    let at = w.random.pick(&known);
    let whole = &tensor.extents[at];
    let number = whole.number.unwrap_or(1);
    let factors: Vec<u64> = (1..=number).filter(|&n| number.is_multiple_of(n)).collect();
    let outer = w.random.pick(&factors);
    // A dimension of unknown extent has a part of unknown extent, or two.
    let open = if whole.is_static { [false; 2] } else { w.random.pick(&[[true, false], [false, true], [true; 2]]) };
    let parts = [(outer, open[0]), (number / outer, open[1])];
    let parts = parts.map(|(n, is_open)| Extent { is_static: !is_open, number: Some(n), value: w.index(n as i64) });
    let mut extents = tensor.extents.clone();
    extents.splice(at..=at, parts);
    let text = |e: &Extent| match e.number.filter(|_| e.is_static) {
        Some(number) => number.to_string(),
        None => format!("%v{}", e.value),
    };
    let shape: Vec<String> = extents.iter().map(text).collect();
    let (from, to, value) = (type_of(&tensor.extents), type_of(&extents), w.name());
    let groups = groups(tensor.extents.len(), at);
    w.line(&format!(
        "%v{value} = tensor.expand_shape %v{} {groups} output_shape [{}] : {from} into {to}",
        tensor.value,
        shape.join(", ")
    ));
    Tensor { value, extents }
}

/// Writes groups of dimensions, of which one has two.
fn groups(count: usize, pair: usize) -> String {
    let mut next = 0..;
    let mut take = |n: usize| next.by_ref().take(n).map(|d: usize| d.to_string()).collect::<Vec<_>>().join(", ");
    let groups: Vec<String> = (0..count).map(|i| format!("[{}]", take(1 + usize::from(i == pair)))).collect();
    format!("[{}]", groups.join(", "))
}

fn padded(w: &mut ProgramWriter<'_>, tensor: &Tensor) -> Tensor {
    let [mut low, mut high] = [Vec::new(), Vec::new()];
    let mut margins = Vec::new();
    for whole in &tensor.extents {
        let [before, after] = [w.random.below(3), w.random.below(2)];
        let as_value = w.random.percent(30);
        low.push(entry(w, before, as_value));
        high.push(entry(w, after, false));
        margins.push((whole.number.map(|n| n + before + after), whole.is_static && !as_value));
    }
    let value = w.name();
    let text = |&(number, is_static): &(Option<u64>, bool)| {
        number.filter(|_| is_static).map_or("?".to_owned(), |n| n.to_string())
    };
    let ty = format!("tensor<{}x{ELEMENT}>", margins.iter().map(text).collect::<Vec<_>>().join("x"));
    let arguments: Vec<String> = (0..margins.len()).map(|i| format!("%i{value}_{i}: index")).collect();
    let scalar = w.pick(ELEMENT);
    let from = type_of(&tensor.extents);
    w.line(&format!("%v{value} = tensor.pad %v{} low[{}] high[{}] {{", tensor.value, low.join(", "), high.join(", ")));
    w.line(&format!("^bb0({}):\ntensor.yield %v{scalar} : {ELEMENT}\n}} : {from} to {ty}", arguments.join(", ")));
    let extents = margins.iter().enumerate().map(|(i, margin)| match *margin {
        (Some(number), is_static) => Extent { is_static, number: Some(number), value: w.index(number as i64) },
        _ => extent_of(w, value, &ty, i, "?"),
    });
    let extents = extents.collect();
    Tensor { value, extents }
}

/// Asks for any extent.
fn dim(w: &mut ProgramWriter<'_>, tensor: &Tensor) -> u32 {
    let at = w.random.below(tensor.extents.len() as u64) as usize;
    dim_of(w, tensor, at)
}

/// Asks for the extent of a dimension.
fn dim_of(w: &mut ProgramWriter<'_>, tensor: &Tensor, at: usize) -> u32 {
    let at = w.index(at as i64);
    w.op("index", &format!("tensor.dim %v{}, %v{at} : {}", tensor.value, type_of(&tensor.extents)))
}

/// Reads an element, if there surely is one.
fn element(w: &mut ProgramWriter<'_>, tensor: &Tensor) {
    let numbers: Option<Vec<u64>> = tensor.extents.iter().map(|e| e.number.filter(|&n| n > 0)).collect();
    let Some(numbers) = numbers else { return };
    let mut at = Vec::new();
    for number in numbers {
        let i = w.random.below(number);
        at.push(format!("%v{}", w.index(i as i64)));
    }
    w.op(ELEMENT, &format!("tensor.extract %v{}[{}] : {}", tensor.value, at.join(", "), type_of(&tensor.extents)));
}
