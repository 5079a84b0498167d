//! Ensembles of decision trees as standard operators: all trees descend one level at a time, by gathers from tables of their nodes.

use super::expansion::{F32, I64};
use super::rewrite::{Adapted, NodeRewrite, int_attr};
use gradus_ir::eval::{floats_to_tensor, ints_to_tensor};
use gradus_ir::tensor::{DType, Tensor};
use rustc_hash::{FxHashMap, FxHashSet};

#[rustfmt::skip]
pub(super) const REGRESSOR_ATTRIBUTES: &[&str] = &[
    "aggregate_function", "base_values", "base_values_as_tensor", "n_targets", "nodes_falsenodeids", "nodes_featureids", "nodes_hitrates",
    "nodes_hitrates_as_tensor", "nodes_missing_value_tracks_true", "nodes_modes", "nodes_nodeids", "nodes_treeids", "nodes_truenodeids",
    "nodes_values", "nodes_values_as_tensor", "post_transform", "target_ids", "target_nodeids", "target_treeids", "target_weights",
    "target_weights_as_tensor",
];
#[rustfmt::skip]
pub(super) const CLASSIFIER_ATTRIBUTES: &[&str] = &[
    "base_values", "base_values_as_tensor", "class_ids", "class_nodeids", "class_treeids", "class_weights", "class_weights_as_tensor",
    "classlabels_int64s", "nodes_falsenodeids", "nodes_featureids", "nodes_hitrates", "nodes_hitrates_as_tensor",
    "nodes_missing_value_tracks_true", "nodes_modes", "nodes_nodeids", "nodes_treeids", "nodes_truenodeids", "nodes_values",
    "nodes_values_as_tensor", "post_transform",
];
#[rustfmt::skip]
pub(super) const ATTRIBUTES: &[&str] = &[
    "aggregate_function", "leaf_targetids", "leaf_weights", "membership_values", "n_targets", "nodes_falseleafs", "nodes_falsenodeids", "nodes_featureids",
    "nodes_hitrates", "nodes_missing_value_tracks_true", "nodes_modes", "nodes_splits", "nodes_trueleafs", "nodes_truenodeids",
    "post_transform", "tree_roots",
];

/// Maximum number of levels of a tree, each of which becomes some nodes.
const MAX_DEPTH: usize = 256;
/// Maximum number of elements of the table of weights.
const MAX_WEIGHTS: usize = 1 << 26;

/// The comparison of a feature with the number of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    AtMost,
    Below,
    AtLeast,
    Above,
    Equal,
    NotEqual,
}

impl Mode {
    /// The comparisons, in the order of the numbers that stand for them.
    const ALL: [(Mode, &str); 6] = [
        (Mode::AtMost, "BRANCH_LEQ"),
        (Mode::Below, "BRANCH_LT"),
        (Mode::AtLeast, "BRANCH_GTE"),
        (Mode::Above, "BRANCH_GT"),
        (Mode::Equal, "BRANCH_EQ"),
        (Mode::NotEqual, "BRANCH_NEQ"),
    ];

    fn operator(self) -> &'static str {
        match self {
            Mode::AtMost => "LessOrEqual",
            Mode::Below => "Less",
            Mode::AtLeast => "GreaterOrEqual",
            Mode::Above => "Greater",
            Mode::Equal | Mode::NotEqual => "Equal",
        }
    }
}

/// A node of a tree.
struct TreeNode {
    /// The comparison; `None` for a leaf.
    mode: Option<Mode>,
    feature: i64,
    value: f64,
    /// Whether the comparison holds for NaN.
    missing_holds: bool,
    /// The nodes after a comparison that does not hold, and that holds; a leaf is followed by itself.
    next: [usize; 2],
}

impl TreeNode {
    /// Returns the leaf at a place in the list of nodes; what a model says of its feature does not count.
    fn leaf(at: usize) -> TreeNode {
        TreeNode { mode: None, feature: 0, value: 0.0, missing_holds: false, next: [at; 2] }
    }
}

/// Trees, and the weight that each leaf adds to each target.
struct TreeEnsemble {
    nodes: Vec<TreeNode>,
    roots: Vec<usize>,
    /// Leaf, target and weight.
    weights: Vec<(usize, usize, f64)>,
    targets: usize,
}

/// Returns the numbers of an attribute that is a list of f32, or a tensor in its other form.
fn numbers(n: &NodeRewrite<'_>, name: &str) -> Adapted<Vec<f64>> {
    let list = n.floats(name).into_iter().map(f64::from).collect();
    Ok(n.tensor(&format!("{name}_as_tensor"))?.map_or(list, |tensor| tensor.to_f64()))
}

impl TreeEnsemble {
    /// Reads the nodes that are named by tree and number; `kind` is that of the weights, `target` or `class`.
    fn of(n: &NodeRewrite<'_>, kind: &str, targets: usize) -> Adapted<TreeEnsemble> {
        let [trees, ids, features, yes, no, missing] = [
            "nodes_treeids",
            "nodes_nodeids",
            "nodes_featureids",
            "nodes_truenodeids",
            "nodes_falsenodeids",
            "nodes_missing_value_tracks_true",
        ]
        .map(|name| n.ints(name));
        let values = numbers(n, "nodes_values")?;
        let modes = n.attr("nodes_modes").map_or(&[][..], |a| &a.strings);
        let count = ids.len();
        let counts = [trees.len(), features.len(), yes.len(), no.len(), values.len(), modes.len()];
        if counts.iter().any(|&have| have != count) || !(missing.is_empty() || missing.len() == count) {
            return Err("the attributes of nodes are not of one length".into());
        }
        let places: FxHashMap<(i64, i64), usize> = (0..count).map(|i| ((trees[i], ids[i]), i)).collect();
        if places.len() != count {
            return Err("a node is named twice".into());
        }
        let place = |tree: i64, id: i64| {
            places.get(&(tree, id)).copied().ok_or_else(|| format!("tree {tree} has no node {id}"))
        };
        let mut nodes = Vec::with_capacity(count);
        for i in 0..count {
            let Some(mode) = mode_of(&String::from_utf8_lossy(&modes[i]))? else {
                nodes.push(TreeNode::leaf(i));
                continue;
            };
            let next = [place(trees[i], no[i])?, place(trees[i], yes[i])?];
            let missing_holds = missing.get(i).is_some_and(|&on| on != 0);
            nodes.push(TreeNode {
                mode: Some(mode),
                feature: feature(features[i])?,
                value: values[i],
                missing_holds,
                next,
            });
        }
        let [trees, ids, targets_of] = ["treeids", "nodeids", "ids"].map(|name| n.ints(&format!("{kind}_{name}")));
        let weights = numbers(n, &format!("{kind}_weights"))?;
        if [trees.len(), ids.len(), targets_of.len()].iter().any(|&have| have != weights.len()) {
            return Err("the attributes of weights are not of one length".into());
        }
        let mut of_leaves = Vec::with_capacity(weights.len());
        for (i, &weight) in weights.iter().enumerate() {
            of_leaves.push((place(trees[i], ids[i])?, target(targets_of[i], targets)?, weight));
        }
        let (roots, trees) = (roots(&nodes), places.keys().map(|(tree, _)| tree).collect::<FxHashSet<_>>());
        if roots.len() != trees.len() {
            return Err("a tree has not one root".into());
        }
        Ok(TreeEnsemble { roots, nodes, weights: of_leaves, targets })
    }

    /// Reads nodes and leaves that are named by their place in a list.
    fn of_places(n: &NodeRewrite<'_>) -> Adapted<TreeEnsemble> {
        let targets = usize::try_from(n.int("n_targets", 0)).map_err(|_| "the number of targets is negative")?;
        let [features, yes, no, yes_leaf, no_leaf, missing, roots] = [
            "nodes_featureids",
            "nodes_truenodeids",
            "nodes_falsenodeids",
            "nodes_trueleafs",
            "nodes_falseleafs",
            "nodes_missing_value_tracks_true",
            "tree_roots",
        ]
        .map(|name| n.ints(name));
        let list = |name: &str| n.tensor(name).map(|tensor| tensor.map_or(Vec::new(), |tensor| tensor.to_f64()));
        let (splits, modes, leaf_weights) = (list("nodes_splits")?, list("nodes_modes")?, list("leaf_weights")?);
        let members = list("membership_values")?;
        let (count, leaf_targets) = (features.len(), n.ints("leaf_targetids"));
        let counts = [yes.len(), no.len(), yes_leaf.len(), no_leaf.len(), splits.len(), modes.len()];
        if counts.iter().any(|&have| have != count) || leaf_targets.len() != leaf_weights.len() {
            return Err("the attributes of nodes are not of one length".into());
        }
        // Leaves stand behind the nodes.
        let place = |id: i64, is_leaf: bool| {
            let (first, len) = if is_leaf { (count, leaf_weights.len()) } else { (0, count) };
            let id = usize::try_from(id).ok().filter(|&id| id < len);
            id.map(|id| first + id).ok_or_else(|| "a node is followed by one that does not exist".to_owned())
        };
        let mut nodes = Vec::with_capacity(count + leaf_weights.len());
        for i in 0..count {
            // A test of membership becomes one of equality with each member.
            let mode = Some(Mode::ALL.get(modes[i] as usize).map_or(Mode::Equal, |(mode, _)| *mode));
            let next = [place(no[i], no_leaf[i] != 0)?, place(yes[i], yes_leaf[i] != 0)?];
            let missing_holds = missing.get(i).is_some_and(|&on| on != 0);
            nodes.push(TreeNode { mode, feature: feature(features[i])?, value: splits[i], missing_holds, next });
        }
        let mut weights = Vec::with_capacity(leaf_weights.len());
        for (i, &weight) in leaf_weights.iter().enumerate() {
            let leaf = count + i;
            nodes.push(TreeNode::leaf(leaf));
            weights.push((leaf, target(leaf_targets[i], targets)?, weight));
        }
        let roots = roots.into_iter().map(|root| place(root, false)).collect::<Result<_, _>>()?;
        let mut forest = TreeEnsemble { nodes, roots, weights, targets };
        let mut sets = members.split(|member| member.is_nan());
        for i in (0..count).filter(|&i| modes[i] as usize >= Mode::ALL.len()) {
            forest.test_members(i, sets.next().unwrap_or(&[]))?;
        }
        Ok(forest)
    }

    /// Makes a node test equality with the first member of a set, and nodes after it with the others.
    fn test_members(&mut self, at: usize, members: &[f64]) -> Adapted {
        let (&first, others) = members.split_first().ok_or("a set of members is missing")?;
        let TreeNode { feature, next: [no, yes], .. } = self.nodes[at];
        let mut last = at;
        self.nodes[at].value = first;
        for &value in others {
            let new = self.nodes.len();
            self.nodes[last].next[0] = new;
            self.nodes.push(TreeNode {
                mode: Some(Mode::Equal),
                feature,
                value,
                missing_holds: false,
                next: [no, yes],
            });
            last = new;
        }
        Ok(())
    }

    /// Returns the number of levels below the roots.
    fn depth(&self) -> Adapted<usize> {
        let (mut level, mut depth) = (self.roots.clone(), 0);
        loop {
            let next = level.iter().filter(|&&i| self.nodes[i].mode.is_some()).flat_map(|&i| self.nodes[i].next);
            let mut next: Vec<usize> = next.collect();
            // A node may be reached in more than one way.
            next.sort_unstable();
            next.dedup();
            if next.is_empty() {
                return Ok(depth);
            }
            (level, depth) = (next, depth + 1);
            if depth > MAX_DEPTH {
                return Err(format!("trees of more than {MAX_DEPTH} levels are not supported").into());
            }
        }
    }

    /// Whether each leaf has a weight for each target.
    fn has_all_weights(&self) -> bool {
        let given: FxHashSet<_> = self.weights.iter().map(|&(leaf, target, _)| (leaf, target)).collect();
        let leaves = (0..self.nodes.len()).filter(|&i| self.nodes[i].mode.is_none());
        leaves.into_iter().all(|leaf| (0..self.targets).all(|target| given.contains(&(leaf, target))))
    }

    /// Returns the table of weights `[nodes, targets]`, with 0 where a leaf has none.
    fn table(&self) -> Adapted<Vec<f64>> {
        let len = self.nodes.len().checked_mul(self.targets).filter(|&len| len <= MAX_WEIGHTS);
        let mut table = vec![0.0; len.ok_or("a table of weights is too large")?];
        self.weights.iter().for_each(|&(leaf, target, weight)| table[leaf * self.targets + target] += weight);
        Ok(table)
    }

    /// Returns the weights of all targets by all trees, `[N, trees, targets]`, for rows `x` of features.
    fn descend(&self, n: &mut NodeRewrite<'_>, x: &str, dtype: DType) -> Adapted<String> {
        let table = floats_to_tensor(dtype, &[self.nodes.len(), self.targets], self.table()?);
        let depth = self.depth()?;
        let rows = n.emit("Shape", &[x], vec![int_attr("start", 0), int_attr("end", 1)]);
        let trees = n.list(&[self.roots.len() as i64]);
        let shape = n.emit("Concat", &[&rows, &trees], vec![int_attr("axis", 0)]);
        let roots: Vec<i64> = self.roots.iter().map(|&root| root as i64).collect();
        let roots = n.list(&roots);
        let mut at = n.emit("Expand", &[&roots, &shape], vec![]);
        let tables = NodeTables::of(self, n, dtype);
        for _ in 0..depth {
            at = tables.step(n, x, &at);
        }
        let table = n.constant(&table);
        Ok(n.emit("Gather", &[&table, &at], vec![]))
    }
}

/// Returns a comparison; `None` for a leaf.
fn mode_of(word: &str) -> Adapted<Option<Mode>> {
    if word == "LEAF" {
        return Ok(None);
    }
    let known = Mode::ALL.iter().find(|(_, name)| *name == word);
    Ok(Some(known.ok_or_else(|| format!("mode '{word}' is not supported"))?.0))
}

fn feature(id: i64) -> Adapted<i64> {
    if id < 0 { Err(format!("feature {id} does not exist").into()) } else { Ok(id) }
}

fn target(id: i64, targets: usize) -> Adapted<usize> {
    let known = usize::try_from(id).ok().filter(|&id| id < targets);
    known.ok_or_else(|| format!("target {id} is not one of {targets}").into())
}

/// Returns the nodes that follow no other one.
fn roots(nodes: &[TreeNode]) -> Vec<usize> {
    let mut is_root = vec![true; nodes.len()];
    for node in nodes.iter().filter(|node| node.mode.is_some()) {
        node.next.iter().for_each(|&next| is_root[next] = false);
    }
    (0..nodes.len()).filter(|&i| is_root[i]).collect()
}

/// Constants of the nodes of all trees.
struct NodeTables {
    features: String,
    values: String,
    /// The next nodes, `[nodes, 2]` as one list.
    next: String,
    /// The comparisons that occur, each with the nodes that have it if there are several.
    modes: Vec<(Mode, Option<String>)>,
    /// The nodes whose comparison holds for NaN, if there are some.
    missing: Option<String>,
    two: String,
}

impl NodeTables {
    fn of(forest: &TreeEnsemble, n: &mut NodeRewrite<'_>, dtype: DType) -> NodeTables {
        let nodes = &forest.nodes;
        let flags = |n: &mut NodeRewrite<'_>, is: &dyn Fn(&TreeNode) -> bool| {
            let flags: Vec<i64> = nodes.iter().map(|node| i64::from(is(node))).collect();
            n.constant(&ints_to_tensor(DType::Bool, &[flags.len()], &flags))
        };
        let features: Vec<i64> = nodes.iter().map(|node| node.feature).collect();
        let next: Vec<i64> = nodes.iter().flat_map(|node| node.next.map(|next| next as i64)).collect();
        let values = nodes.iter().map(|node| node.value).collect();
        let present = |mode: Mode| nodes.iter().any(|node| node.mode == Some(mode));
        let modes: Vec<Mode> = Mode::ALL.iter().map(|(mode, _)| *mode).filter(|&mode| present(mode)).collect();
        let is_one = modes.len() < 2;
        let modes = modes
            .into_iter()
            .map(|mode| (mode, (!is_one).then(|| flags(n, &|node| node.mode == Some(mode)))))
            .collect();
        let missing = nodes.iter().any(|node| node.missing_holds).then(|| flags(n, &|node| node.missing_holds));
        NodeTables {
            features: n.list(&features),
            values: n.constant(&floats_to_tensor(dtype, &[nodes.len()], values)),
            next: n.list(&next),
            modes,
            missing,
            two: n.constant(&Tensor::scalar(2_i64)),
        }
    }

    /// Returns the nodes `[N, trees]` that follow those at `at`.
    fn step(&self, n: &mut NodeRewrite<'_>, x: &str, at: &str) -> String {
        let [feature, value] = [&self.features, &self.values].map(|table| n.emit("Gather", &[table, at], vec![]));
        let have = n.emit("GatherElements", &[x, &feature], vec![int_attr("axis", 1)]);
        let mut holds: Option<String> = None;
        for (mode, nodes) in &self.modes {
            let mut one = n.emit(mode.operator(), &[&have, &value], vec![]);
            if *mode == Mode::NotEqual {
                one = n.emit("Not", &[&one], vec![]);
            }
            if let Some(nodes) = nodes {
                let is_of_mode = n.emit("Gather", &[nodes, at], vec![]);
                one = n.emit("And", &[&one, &is_of_mode], vec![]);
            }
            holds = Some(match holds {
                Some(other) => n.emit("Or", &[&other, &one], vec![]),
                None => one,
            });
        }
        let mut holds = holds.unwrap_or_default();
        if let Some(missing) = &self.missing {
            let (is_missing, tracks) = (n.emit("IsNaN", &[&have], vec![]), n.emit("Gather", &[missing, at], vec![]));
            let missing_holds = n.emit("And", &[&is_missing, &tracks], vec![]);
            holds = n.emit("Or", &[&holds, &missing_holds], vec![]);
        }
        let (first, holds) = (n.emit("Mul", &[at, &self.two], vec![]), n.cast(&holds, I64));
        let place = n.emit("Add", &[&first, &holds], vec![]);
        n.emit("Gather", &[&self.next, &place], vec![])
    }
}

/// Returns the rows of features, and their type: f64, or f32 for all others.
fn features(n: &mut NodeRewrite<'_>) -> (String, DType) {
    let (x, shape) = (n.at(0), n.values.shape(n.input(0)));
    let rank_one = shape.as_ref().is_some_and(|(shape, _)| shape.len() == 1);
    let x = if rank_one { n.reshaped(&x, &[1, -1]) } else { x };
    match shape.map(|(_, dtype)| dtype) {
        Some(dtype @ (DType::F32 | DType::F64)) => (x, dtype),
        _ => (n.cast(&x, F32), DType::F32),
    }
}

/// Returns the scores `[N, targets]`: the sum, mean, least or greatest of the weights of all trees, and the base values.
fn scores(n: &mut NodeRewrite<'_>, forest: &TreeEnsemble, aggregate: &str, base: &[f64]) -> Adapted<String> {
    let (x, dtype) = features(n);
    let operator = match aggregate {
        "SUM" | "AVERAGE" => "ReduceSum",
        "MIN" | "MAX" if !forest.has_all_weights() => {
            return Err(format!("aggregate_function '{aggregate}' of leaves without weights is not supported").into());
        }
        "MIN" => "ReduceMin",
        "MAX" => "ReduceMax",
        other => return Err(format!("aggregate_function '{other}' is not known").into()),
    };
    let weights = forest.descend(n, &x, dtype)?;
    let axis = n.list(&[1]);
    let mut scores = n.emit(operator, &[&weights, &axis], vec![int_attr("keepdims", 0)]);
    if aggregate == "AVERAGE" {
        let trees = n.constant(&floats_to_tensor(dtype, &[], vec![forest.roots.len() as f64]));
        scores = n.emit("Div", &[&scores, &trees], vec![]);
    }
    if !base.is_empty() {
        if base.len() != 1 && base.len() != forest.targets {
            return Err("the base values are not those of the targets".into());
        }
        let base = n.constant(&floats_to_tensor(dtype, &[base.len()], base.to_vec()));
        scores = n.emit("Add", &[&scores, &base], vec![]);
    }
    Ok(scores)
}

/// Returns scores of trees on f64 as f32.
fn as_single(n: &mut NodeRewrite<'_>, scores: String) -> String {
    let is_double = n.values.shape(n.input(0)).is_some_and(|(_, dtype)| dtype == DType::F64);
    if is_double { n.cast(&scores, F32) } else { scores }
}

pub(super) fn regressor(n: &mut NodeRewrite<'_>) -> Adapted {
    let targets = usize::try_from(n.int("n_targets", 1)).map_err(|_| "the number of targets is negative")?;
    let (forest, base) = (TreeEnsemble::of(n, "target", targets)?, numbers(n, "base_values")?);
    let scores = scores(n, &forest, &n.word("aggregate_function", "SUM"), &base)?;
    let (scores, transform) = (as_single(n, scores), n.word("post_transform", "NONE"));
    let scores = n.transformed(&scores, targets, &transform)?;
    n.end("Identity", &[&scores], vec![])
}

/// The functions after the scores, and those of the weights of trees, by the numbers that stand for them.
const TRANSFORMS: [&str; 5] = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"];
const AGGREGATES: [&str; 4] = ["AVERAGE", "SUM", "MIN", "MAX"];

pub(super) fn ensemble(n: &mut NodeRewrite<'_>) -> Adapted {
    let named = |names: &[&'static str], number: i64| usize::try_from(number).ok().and_then(|i| names.get(i).copied());
    let aggregate = named(&AGGREGATES, n.int("aggregate_function", 1)).ok_or("the aggregate function is not known")?;
    let transform = named(&TRANSFORMS, n.int("post_transform", 0)).ok_or("the function after scores is not known")?;
    let forest = TreeEnsemble::of_places(n)?;
    let scores = scores(n, &forest, aggregate, &[])?;
    let scores = n.transformed(&scores, forest.targets, transform)?;
    n.end("Identity", &[&scores], vec![])
}

pub(super) fn classifier(n: &mut NodeRewrite<'_>) -> Adapted {
    let labels = n.labels("classlabels_int64s")?;
    let (forest, base) = (TreeEnsemble::of(n, "class", labels.len())?, numbers(n, "base_values")?);
    let transform = n.word("post_transform", "NONE");
    let first = forest.weights.first().map(|(_, target, _)| *target);
    let has_one = forest.weights.iter().all(|(_, target, _)| Some(*target) == first);
    let (&[_, _], Some(first), true) = (&labels[..], first, has_one) else {
        let scores = scores(n, &forest, "SUM", &base)?;
        let (index, scores) = (n.index_of_largest(&scores), as_single(n, scores));
        let scores = n.transformed(&scores, labels.len(), &transform)?;
        return n.end_with_labels(&labels, &index, &scores);
    };
    // The weights are those of one of two classes.
    let are_probabilities = forest.weights.iter().all(|(.., weight)| *weight >= 0.0);
    let least = if are_probabilities { 0.5 } else { 0.0 };
    if base.len() > usize::from(first == 0) {
        return Err("these base values of one of two classes are not supported".into());
    }
    if first == 1 {
        let both = scores(n, &forest, "SUM", &[])?;
        let both = as_single(n, both);
        let second = n.sliced(&both, 1, 1, 2);
        let (index, scores) = (n.index_above(&second, least), n.transformed(&both, labels.len(), &transform)?);
        return n.end_with_labels(&labels, &index, &scores);
    }
    let forest = TreeEnsemble { targets: 1, ..forest };
    let score = scores(n, &forest, "SUM", &base)?;
    let score = as_single(n, score);
    let index = n.index_above(&score, least);
    let scores = n.of_two_classes(&score, are_probabilities, &transform)?;
    n.end_with_labels(&labels, &index, &scores)
}
