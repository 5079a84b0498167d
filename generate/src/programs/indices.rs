//! Linear indices, split by sizes and joined again by the same or nearly the same ones.

use super::writer::ProgramWriter;
use gradus_ir::random::Random;

/// Percentage of splits and joins without the outermost size.
const OMITTED: u64 = 50;

/// Percentage of joins whose sizes differ in one from those that split the indices.
const NEAR_MISSES: u64 = 25;

/// An index with the size that bounds it, as text in a basis.
#[derive(Clone)]
struct BoundedIndex {
    value: u32,
    size: Option<String>,
}

/// Draws a function that splits and joins indices.
pub(super) fn draw(random: &mut Random) -> String {
    let mut w = ProgramWriter::new(random);
    let count = 2 + w.random.below(3) as usize;
    w.function("func.func @made0", &["index"; 4], &vec!["index"; count]);
    let mut splits: Vec<Vec<BoundedIndex>> = Vec::new();
    let mut joins: Vec<(u32, Vec<BoundedIndex>)> = Vec::new();
    for _ in 0..3 + w.random.below(5) {
        if w.random.percent(50) {
            let parts = parts(&mut w, &splits);
            let value = join(&mut w, &parts);
            joins.push((value, parts));
        } else {
            let split = split(&mut w, &joins);
            splits.push(split);
        }
    }
    let mut known = w.known("index");
    known.reverse();
    let recent = &known[..known.len().min(8)];
    let results: Vec<String> = (0..count).map(|_| format!("%v{}", w.random.pick(recent))).collect();
    w.line(&format!("return {} : {}\n}}", results.join(", "), vec!["index"; count].join(", ")));
    w.text
}

/// Draws a size of at least one: a number, a constant, or an argument reduced.
fn size(w: &mut ProgramWriter<'_>) -> String {
    let number = w.random.pick(&[1, 2, 2, 3, 4, 6]);
    match w.random.below(6) {
        0 => format!("%v{}", w.index(number)),
        1 => {
            let (any, three, one) = (w.pick("index"), w.index(3), w.index(1));
            let rest = w.op("index", &format!("arith.remui %v{any}, %v{three} : index"));
            format!("%v{}", w.op("index", &format!("arith.addi %v{rest}, %v{one} : index")))
        }
        _ => number.to_string(),
    }
}

fn sizes(w: &mut ProgramWriter<'_>) -> Vec<Option<String>> {
    let count = 1 + w.random.below(4);
    (0..count).map(|_| Some(size(w))).collect()
}

/// Splits a joined index by its sizes, by those with the last one divided, or by new ones; or splits any index.
fn split(w: &mut ProgramWriter<'_>, joins: &[(u32, Vec<BoundedIndex>)]) -> Vec<BoundedIndex> {
    let (index, mut list) = if joins.is_empty() || w.random.percent(30) {
        (w.pick("index"), sizes(w))
    } else {
        let (value, parts) = &joins[w.random.below(joins.len() as u64) as usize];
        (*value, parts.iter().map(|part| part.size.clone()).collect())
    };
    if w.random.percent(30)
        && let Some(Some(last)) = list.last()
        && let Some(factors) = [("4", ["2", "2"]), ("6", ["2", "3"])].into_iter().find(|(n, _)| n == last)
    {
        list.pop();
        list.extend(factors.1.map(|factor| Some(factor.to_owned())));
    }
    if w.random.percent(NEAR_MISSES) {
        disturb(w, &mut list);
    }
    if list.len() > 1 && w.random.percent(OMITTED) {
        list[0] = None;
    }
    // Only the outermost size may be omitted.
    let whole: Vec<Option<String>> =
        list.into_iter().enumerate().map(|(i, s)| s.or_else(|| (i > 0).then(|| "2".to_owned()))).collect();
    let types = vec!["index"; whole.len()];
    let names = w.results(&types);
    let basis: Vec<&str> = whole.iter().flatten().map(String::as_str).collect();
    w.line(&format!("affine.delinearize_index %v{index} into ({}) : {}", basis.join(", "), types.join(", ")));
    w.bind_all(&names, &types);
    names.into_iter().zip(whole).map(|(value, size)| BoundedIndex { value, size }).collect()
}

/// Draws other sizes for one position, or one position less.
fn disturb(w: &mut ProgramWriter<'_>, list: &mut Vec<Option<String>>) {
    let at = w.random.below(list.len() as u64) as usize;
    if list.len() > 2 && w.random.percent(30) {
        list.remove(at);
    } else {
        list[at] = Some(size(w));
    }
}

/// Draws indices in bounds with their sizes: a run of a split index, with others around it.
fn parts(w: &mut ProgramWriter<'_>, splits: &[Vec<BoundedIndex>]) -> Vec<BoundedIndex> {
    let mut parts = Vec::new();
    for _ in 0..w.random.below(3) {
        parts.push(bounded(w));
    }
    if !splits.is_empty() && w.random.percent(80) {
        let split = &splits[w.random.below(splits.len() as u64) as usize];
        let first = if w.random.percent(60) { 0 } else { w.random.below(split.len() as u64) as usize };
        let most = split.len() - first;
        let len = if w.random.percent(60) { most } else { 1 + w.random.below(most as u64) as usize };
        let at = w.random.below(parts.len() as u64 + 1) as usize;
        parts.splice(at..at, split[first..first + len].iter().cloned());
        if at > 0 && parts[at].size.is_none() {
            parts[at].size = Some(size(w));
        }
        if w.random.percent(NEAR_MISSES) {
            let at = w.random.below(parts.len() as u64) as usize;
            // Another index, or one of the same split.
            match w.random.percent(50) {
                true => parts[at].value = split[w.random.below(split.len() as u64) as usize].value,
                false => parts[at] = bounded(w),
            }
        }
    }
    if parts.is_empty() {
        parts.push(bounded(w));
    }
    parts
}

/// An index below its size: zero, or any reduced by the size.
fn bounded(w: &mut ProgramWriter<'_>) -> BoundedIndex {
    let size = size(w);
    let value = if w.random.percent(30) {
        w.index(0)
    } else {
        let any = w.pick("index");
        let by = match size.parse() {
            Ok(number) => w.index(number),
            Err(_) => size["%v".len()..].parse().unwrap_or(0),
        };
        w.op("index", &format!("arith.remui %v{any}, %v{by} : index"))
    };
    BoundedIndex { value, size: Some(size) }
}

/// Joins indices to a linear one.
fn join(w: &mut ProgramWriter<'_>, parts: &[BoundedIndex]) -> u32 {
    let indices: Vec<String> = parts.iter().map(|part| format!("%v{}", part.value)).collect();
    let skipped = usize::from(parts[0].size.is_none() || parts.len() > 1 && w.random.percent(OMITTED));
    let mut basis: Vec<String> = parts.iter().skip(skipped).flat_map(|part| part.size.clone()).collect();
    // Indices that another size bounds are not disjoint.
    let mut is_disjoint = w.random.percent(60);
    if !basis.is_empty() && w.random.percent(NEAR_MISSES) {
        let at = w.random.below(basis.len() as u64) as usize;
        basis[at] = size(w);
        is_disjoint = false;
    }
    let disjoint = if is_disjoint { "disjoint " } else { "" };
    w.op(
        "index",
        &format!("affine.linearize_index {disjoint}[{}] by ({}) : index", indices.join(", "), basis.join(", ")),
    )
}
