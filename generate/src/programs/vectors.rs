//! Vectors of fixed length: elements inserted and extracted, slices, masks, broadcasts and permutations.

use super::writer::ProgramWriter;
use gradus_ir::random::Random;

/// A vector in scope, with the extents of its type.
#[derive(Clone)]
struct FixedVector {
    value: u32,
    extents: Vec<u64>,
    element: &'static str,
}

/// Maximum number of elements of a vector.
const MAX_ELEMENTS: u64 = 48;

/// Draws a function that transforms a few vectors, and returns elements of the last of them.
pub(super) fn draw(random: &mut Random) -> String {
    let mut w = ProgramWriter::new(random);
    let extents = shape(&mut w);
    let first = type_of(&extents, "i32");
    w.function("func.func @made0", &["i32", "i32", "index", &first], &["i32", "i32", "i1"]);
    let mut vectors = vec![FixedVector { value: w.known(&first)[0], extents, element: "i32" }];
    for _ in 0..4 + w.random.below(8) {
        let back = w.random.below(3).min(w.random.below(3)) as usize;
        let vector = vectors[vectors.len().saturating_sub(1 + back)].clone();
        let made = step(&mut w, &vector, &vectors);
        vectors.extend(made);
    }
    for vector in vectors.iter().rev().take(3) {
        extracted(&mut w, vector, vector.extents.len());
    }
    let [number, other, flag] = ["i32", "i32", "i1"].map(|ty| w.pick(ty));
    w.line(&format!("return %v{number}, %v{other}, %v{flag} : i32, i32, i1\n}}"));
    w.text
}

/// Draws the extents of a vector, many of them 1.
fn shape(w: &mut ProgramWriter<'_>) -> Vec<u64> {
    (0..1 + w.random.below(3)).map(|_| w.random.pick(&[1, 2, 3, 4])).collect()
}

fn type_of(extents: &[u64], element: &str) -> String {
    let extents: Vec<String> = extents.iter().map(u64::to_string).collect();
    format!("vector<{}x{element}>", extents.join("x"))
}

fn list(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// Draws a position of as many dimensions as there are extents.
fn position(w: &mut ProgramWriter<'_>, extents: &[u64]) -> Vec<u64> {
    extents.iter().map(|&extent| w.random.below(extent)).collect()
}

/// Writes a position, of which some numbers are constants in scope.
fn entries(w: &mut ProgramWriter<'_>, at: &[u64]) -> String {
    let dynamic = w.random.pick(&[0, 0, 40]);
    let entry = |&n: &u64| if w.random.percent(dynamic) { format!("%v{}", w.index(n as i64)) } else { n.to_string() };
    at.iter().map(entry).collect::<Vec<_>>().join(", ")
}

/// Extracts a part by its position in the first dimensions: an element if these are all.
fn extracted(w: &mut ProgramWriter<'_>, vector: &FixedVector, dims: usize) -> Option<FixedVector> {
    let (at, ty) = (position(w, &vector.extents[..dims]), type_of(&vector.extents, vector.element));
    let mut list = entries(w, &at);
    // Sometimes behind the end, where the element is poison.
    if w.random.percent(3) {
        list = format!("%v{}", w.pick("index")) + list.trim_start_matches(|c: char| c != ',');
    }
    if dims == vector.extents.len() {
        w.op(vector.element, &format!("vector.extract %v{}[{list}] : {} from {ty}", vector.value, vector.element));
        return None;
    }
    let (value, extents) = (w.name(), vector.extents[dims..].to_vec());
    let part = type_of(&extents, vector.element);
    w.line(&format!("%v{value} = vector.extract %v{}[{list}] : {part} from {ty}", vector.value));
    Some(FixedVector { value, extents, ..vector.clone() })
}

/// Writes an op on a vector, or several; the result is a vector.
fn step(w: &mut ProgramWriter<'_>, vector: &FixedVector, all: &[FixedVector]) -> Option<FixedVector> {
    match w.random.below(16) {
        0 => Some(filled(w, vector)),
        1 => Some(inserted(w, vector, all)),
        2 if w.random.percent(50) => Some(overwritten(w, vector)),
        2 => {
            let extents = shape(w);
            Some(mask(w, extents))
        }
        3 | 4 => Some(slice(w, vector)),
        5 | 6 => {
            let (mut whole, mut at) = put(w, vector, all);
            if w.random.percent(40) {
                let first = at;
                (whole, at) = put(w, &whole, all);
                at = if w.random.percent(50) { first } else { at };
            }
            Some(if w.random.percent(40) { slice_at(w, &whole, &at) } else { whole })
        }
        7 if vector.element == "i32" && vector.extents.len() == 1 => Some(sum(w, vector)),
        8 | 9 => Some(stretched(w, vector)),
        10 => Some(permuted(w, vector)),
        11 => shuffled(w, vector, all),
        12 => Some(listed(w, vector)),
        13 | 14 => Some(reshaped(w, vector)),
        _ => {
            let dims = 1 + w.random.below(vector.extents.len() as u64) as usize;
            extracted(w, vector, dims)
        }
    }
}

/// Lists rows of two vectors, first and last ones often, and extracts one of them or a part of it.
fn shuffled(w: &mut ProgramWriter<'_>, first: &FixedVector, all: &[FixedVector]) -> Option<FixedVector> {
    let fits = |v: &&FixedVector| v.element == first.element && v.extents[1..] == first.extents[1..];
    let others: Vec<&FixedVector> = all.iter().filter(fits).collect();
    let second = others.get(w.random.below(others.len().max(1) as u64) as usize).copied().unwrap_or(first).clone();
    let [rows, more] = [first, &second].map(|vector| vector.extents[0]);
    let ends = [0, rows - 1, rows, rows + more - 1];
    let count = 1 + w.random.below(4);
    let mut row = || if w.random.percent(50) { w.random.pick(&ends) } else { w.random.below(rows + more) };
    let mask: Vec<u64> = (0..count).map(|_| row()).collect();
    let types = [first, &second].map(|vector| type_of(&vector.extents, vector.element));
    let (value, extents) = (w.name(), [&[count], &first.extents[1..]].concat());
    w.line(&format!(
        "%v{value} = vector.shuffle %v{}, %v{} [{}] : {}",
        first.value,
        second.value,
        list(&mask),
        types.join(", ")
    ));
    let whole = FixedVector { value, extents, element: first.element };
    if w.random.percent(40) {
        return Some(whole);
    }
    let dims = 1 + w.random.below(whole.extents.len() as u64) as usize;
    extracted(w, &whole, dims)
}

/// Writes an op with a vector as its result.
fn made(w: &mut ProgramWriter<'_>, op: &str, extents: Vec<u64>, element: &'static str) -> FixedVector {
    let value = w.name();
    w.line(&format!("%v{value} = {op} to {}", type_of(&extents, element)));
    FixedVector { value, extents, element }
}

/// Repeats an element, or a vector along new dimensions and those of extent 1.
fn stretched(w: &mut ProgramWriter<'_>, vector: &FixedVector) -> FixedVector {
    let element = vector.element;
    if w.random.percent(20) {
        let scalar = w.pick(element);
        return made(w, &format!("vector.broadcast %v{scalar} : {element}"), vector.extents.clone(), element);
    }
    let mut extents = vector.extents.clone();
    for extent in &mut extents {
        if *extent == 1 && w.random.percent(60) {
            *extent = 1 + w.random.below(3);
        }
    }
    if extents.len() < 4 && (extents == vector.extents || w.random.percent(50)) {
        extents.insert(0, 1 + w.random.below(3));
    }
    if extents.iter().product::<u64>() > MAX_ELEMENTS {
        extents.clone_from(&vector.extents);
    }
    let ty = type_of(&vector.extents, element);
    made(w, &format!("vector.broadcast %v{} : {ty}", vector.value), extents, element)
}

fn permuted(w: &mut ProgramWriter<'_>, vector: &FixedVector) -> FixedVector {
    let mut left: Vec<u64> = (0..vector.extents.len() as u64).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        // The order is kept often.
        let at = if w.random.percent(40) { 0 } else { w.random.below(left.len() as u64) as usize };
        order.push(left.remove(at));
    }
    let (element, ty) = (vector.element, type_of(&vector.extents, vector.element));
    let extents = order.iter().map(|&i| vector.extents[i as usize]).collect();
    made(w, &format!("vector.transpose %v{}, [{}] : {ty}", vector.value, list(&order)), extents, element)
}

/// Adds or drops dimensions of extent 1, joins all dimensions, or divides one.
fn reshaped(w: &mut ProgramWriter<'_>, vector: &FixedVector) -> FixedVector {
    let mut extents = vector.extents.clone();
    let at = w.random.below(extents.len() as u64) as usize;
    match w.random.below(5) {
        0 if extents.len() < 4 => extents.insert(at, 1),
        1 if extents.len() < 4 => extents.push(1),
        2 if extents.len() > 1 && extents[at] == 1 => drop(extents.remove(at)),
        3 if extents[at] == 4 => drop(extents.splice(at..=at, [2, 2])),
        _ => extents = vec![extents.iter().product()],
    }
    let ty = type_of(&vector.extents, vector.element);
    made(w, &format!("vector.shape_cast %v{} : {ty}", vector.value), extents, vector.element)
}

/// Makes a vector of its elements: of all elements of another, in any order, or of others.
fn listed(w: &mut ProgramWriter<'_>, vector: &FixedVector) -> FixedVector {
    let (element, ty) = (vector.element, type_of(&vector.extents, vector.element));
    let all = vector.extents.iter().product::<u64>();
    let types = vec![element; all as usize];
    let mut scalars: Vec<u32> = if w.random.percent(50) {
        let names = w.results(&types);
        w.line(&format!("vector.to_elements %v{} : {ty}", vector.value));
        w.bind_all(&names, &types);
        names
    } else {
        types.iter().map(|ty| w.pick(ty)).collect()
    };
    if w.random.percent(50) {
        let at = w.random.below(all) as usize;
        scalars.rotate_left(at);
    }
    let scalars: Vec<String> = scalars.iter().map(|v| format!("%v{v}")).collect();
    let value = w.name();
    w.line(&format!("%v{value} = vector.from_elements {} : {ty}", scalars.join(", ")));
    FixedVector { value, ..vector.clone() }
}

/// Inserts an element, or a vector that is a part of the dimensions.
fn inserted(w: &mut ProgramWriter<'_>, vector: &FixedVector, all: &[FixedVector]) -> FixedVector {
    let rank = vector.extents.len();
    let is_part = |other: &&FixedVector| {
        other.element == vector.element && other.extents.len() < rank && vector.extents.ends_with(&other.extents)
    };
    let parts: Vec<&FixedVector> = all.iter().filter(is_part).collect();
    let (part, dims, of) = match parts.is_empty() || w.random.percent(40) {
        true => (w.pick(vector.element), rank, vector.element.to_owned()),
        false => {
            let part = w.random.pick(&parts);
            (part.value, rank - part.extents.len(), type_of(&part.extents, part.element))
        }
    };
    let at = position(w, &vector.extents[..dims]);
    let (list, ty, value) = (entries(w, &at), type_of(&vector.extents, vector.element), w.name());
    w.line(&format!("%v{value} = vector.insert %v{part}, %v{} [{list}] : {of} into {ty}", vector.value));
    FixedVector { value, ..vector.clone() }
}

/// Inserts elements and parts at positions that begin alike, each into the result of the one before, and extracts at one of them.
fn overwritten(w: &mut ProgramWriter<'_>, vector: &FixedVector) -> FixedVector {
    let (at, mut whole) = (position(w, &vector.extents), vector.clone());
    let ty = type_of(&vector.extents, vector.element);
    for _ in 0..2 + w.random.below(2) {
        let dims = 1 + w.random.below(at.len() as u64) as usize;
        let mut place = at[..dims].to_vec();
        if w.random.percent(30) {
            place = position(w, &vector.extents[..dims]);
        }
        let (of, scalar) = (part_type(&vector.extents[dims..], vector.element), w.pick(vector.element));
        let part = if dims == at.len() {
            scalar
        } else {
            w.op("", &format!("vector.broadcast %v{scalar} : {} to {of}", vector.element))
        };
        let (list, value) = (entries(w, &place), w.name());
        w.line(&format!("%v{value} = vector.insert %v{part}, %v{} [{list}] : {of} into {ty}", whole.value));
        whole.value = value;
    }
    let dims = 1 + w.random.below(at.len() as u64) as usize;
    let (list, of) = (entries(w, &at[..dims]), part_type(&vector.extents[dims..], vector.element));
    let element = if dims == at.len() { vector.element } else { "" };
    let value = w.op(element, &format!("vector.extract %v{}[{list}] : {of} from {ty}", whole.value));
    match dims == at.len() {
        true => whole,
        false => FixedVector { value, extents: vector.extents[dims..].to_vec(), element: vector.element },
    }
}

/// Returns the type of a part of a vector: an element, if it has no extents.
fn part_type(extents: &[u64], element: &str) -> String {
    if extents.is_empty() { element.to_owned() } else { type_of(extents, element) }
}

/// Inserts a vector of no more dimensions as a block; returns its place too.
fn put(w: &mut ProgramWriter<'_>, vector: &FixedVector, all: &[FixedVector]) -> (FixedVector, Vec<u64>) {
    let fits = |other: &&FixedVector| {
        let own = vector.extents.iter().rev();
        other.element == vector.element
            && other.extents.len() <= vector.extents.len()
            && other.extents.iter().rev().zip(own).all(|(part, whole)| part <= whole)
    };
    let blocks: Vec<&FixedVector> = all.iter().filter(fits).collect();
    // The vector itself fits.
    let block = w.random.pick(&blocks);
    let leading = vector.extents.len() - block.extents.len();
    let room = |(i, &whole): (usize, &u64)| whole - if i < leading { 1 } else { block.extents[i - leading] } + 1;
    let room: Vec<u64> = vector.extents.iter().enumerate().map(room).collect();
    let at = position(w, &room);
    let lists = format!("{{offsets = [{}], strides = [{}]}}", list(&at), list(&vec![1; block.extents.len()]));
    let [of, ty] = [block, vector].map(|v| type_of(&v.extents, v.element));
    let value = w.name();
    w.line(&format!(
        "%v{value} = vector.insert_strided_slice %v{}, %v{} {lists} : {of} into {ty}",
        block.value, vector.value
    ));
    (FixedVector { value, ..vector.clone() }, at)
}

/// Inserts all elements in any order, some of them twice.
fn filled(w: &mut ProgramWriter<'_>, vector: &FixedVector) -> FixedVector {
    let (element, ty) = (vector.element, type_of(&vector.extents, vector.element));
    let mut value = vector.value;
    let all = vector.extents.iter().product::<u64>();
    let mut left: Vec<u64> = (0..all).collect();
    left.extend((0..w.random.below(4)).map(|_| w.random.below(all)));
    while !left.is_empty() {
        let linear = left.swap_remove(w.random.below(left.len() as u64) as usize);
        let (at, scalar, next) = (position_of(linear, &vector.extents), w.pick(element), w.name());
        w.line(&format!("%v{next} = vector.insert %v{scalar}, %v{value} [{}] : {element} into {ty}", list(&at)));
        value = next;
    }
    FixedVector { value, ..vector.clone() }
}

/// Returns the position of an element by its number in row-major order.
fn position_of(mut linear: u64, extents: &[u64]) -> Vec<u64> {
    let mut at = vec![0; extents.len()];
    for (index, extent) in at.iter_mut().zip(extents).rev() {
        *index = linear % extent;
        linear /= extent;
    }
    at
}

/// Adds the elements of a vector of one dimension, and those that a mask selects, which is returned.
fn sum(w: &mut ProgramWriter<'_>, vector: &FixedVector) -> FixedVector {
    let sum = format!("vector.reduction <add>, %v{} : {} into i32", vector.value, type_of(&vector.extents, "i32"));
    w.op("i32", &sum);
    let mask = mask(w, vector.extents.clone());
    w.op("i32", &format!("vector.mask %v{} {{ {sum} }} : {} -> i32", mask.value, type_of(&mask.extents, "i1")));
    mask
}

/// Creates a mask of a box, by numbers or by values, which may be constant.
fn mask(w: &mut ProgramWriter<'_>, extents: Vec<u64>) -> FixedVector {
    let bounds: Vec<u64> = extents.iter().map(|&extent| w.random.below(extent + 1)).collect();
    let (value, ty) = (w.name(), type_of(&extents, "i1"));
    if w.random.percent(50) {
        let bound =
            |w: &mut ProgramWriter<'_>, n: u64| if w.random.percent(60) { w.index(n as i64) } else { w.pick("index") };
        let bounds: Vec<String> = bounds.into_iter().map(|n| format!("%v{}", bound(w, n))).collect();
        w.line(&format!("%v{value} = vector.create_mask {} : {ty}", bounds.join(", ")));
    } else {
        let bounds = if bounds.contains(&0) { vec![0; bounds.len()] } else { bounds };
        w.line(&format!("%v{value} = vector.constant_mask [{}] : {ty}", list(&bounds)));
    }
    FixedVector { value, extents, element: "i1" }
}

/// Extracts a block by its place in the first dimensions, often in all.
fn slice(w: &mut ProgramWriter<'_>, vector: &FixedVector) -> FixedVector {
    let dims = vector.extents.len() - w.random.below(vector.extents.len() as u64) as usize / 2;
    let offsets = position(w, &vector.extents[..dims]);
    slice_at(w, vector, &offsets)
}

/// Extracts a block of any size at a place in the first dimensions.
fn slice_at(w: &mut ProgramWriter<'_>, vector: &FixedVector, offsets: &[u64]) -> FixedVector {
    let dims = offsets.len();
    let sizes: Vec<u64> = vector.extents.iter().zip(offsets).map(|(&n, &at)| 1 + w.random.below(n - at)).collect();
    let lists = [offsets, &sizes, &vec![1; dims]].map(list);
    let lists = format!("{{offsets = [{}], sizes = [{}], strides = [{}]}}", lists[0], lists[1], lists[2]);
    let from = type_of(&vector.extents, vector.element);
    let extents = [&sizes[..], &vector.extents[dims..]].concat();
    made(w, &format!("vector.extract_strided_slice %v{} {lists} : {from}", vector.value), extents, vector.element)
}
