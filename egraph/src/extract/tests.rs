//! Extraction against exhaustive enumeration on small problems.

use super::problem::{CandidateNode, Chosen, Cost, NONE, Problem};
use super::steps::Steps;
use super::{disjoint, exact, landmarks, reduce, solve, trees};

/// A pseudo-random sequence.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }
}

fn node(cost: u64, children: &[u32]) -> CandidateNode {
    CandidateNode { cost, children: children.iter().copied().collect() }
}

/// Returns random classes with up to three nodes; the first node of each uses only earlier classes, so that a choice
/// exists. Others may use any class, including their own.
fn random_classes(random: &mut Random, count: u32, costs: u32) -> Vec<Vec<CandidateNode>> {
    let mut classes = Vec::new();
    for class in 0..count {
        let nodes = 1 + random.below(3);
        let of = |i: u32| {
            let below = if i == 0 { class } else { count };
            let arity = if below == 0 { 0 } else { random.below(4) };
            let children: Vec<u32> = (0..arity).map(|_| random.below(below)).collect();
            node(u64::from(random.below(costs)), &children)
        };
        classes.push((0..nodes).map(of).collect());
    }
    classes
}

/// Returns the least cost of all choices, by enumeration.
fn cheapest(classes: &[Vec<CandidateNode>], roots: &[u32]) -> Cost {
    let mut numbers = vec![0; classes.len()];
    let mut best = Cost::MAX;
    loop {
        best = best.min(cost(classes, roots, &numbers).unwrap_or(Cost::MAX));
        let Some(at) = (0..classes.len()).find(|&i| numbers[i] + 1 < classes[i].len()) else { return best };
        numbers[..at].fill(0);
        numbers[at] += 1;
    }
}

/// Returns the cost of a choice; `None` if it is cyclic.
fn cost(classes: &[Vec<CandidateNode>], roots: &[u32], numbers: &[usize]) -> Option<Cost> {
    fn visit(classes: &[Vec<CandidateNode>], class: u32, numbers: &[usize], state: &mut [u8]) -> Option<Cost> {
        match std::mem::replace(&mut state[class as usize], 1) {
            1 => return None,
            2 => {
                state[class as usize] = 2;
                return Some(0);
            }
            _ => {}
        }
        let node = &classes[class as usize][numbers[class as usize]];
        let mut sum = Cost::from(node.cost);
        for &child in &node.children {
            sum += visit(classes, child, numbers, state)?;
        }
        state[class as usize] = 2;
        Some(sum)
    }
    let mut state = vec![0; classes.len()];
    roots.iter().try_fold(0, |sum, &root| Some(sum + visit(classes, root, numbers, &mut state)?))
}

/// Returns the result after preprocessing: node indices, cost and bound.
fn extracted(classes: &[Vec<CandidateNode>], roots: &[u32], start: &[u32], steps: usize) -> (Vec<usize>, Cost, Cost) {
    let reduced = reduce::reduce(classes, roots, start);
    let mut numbers = reduced.free;
    let (mut cost, mut bound) = (0, 0);
    for part in &reduced.parts {
        let (best, _) = solve(&part.problem, &part.start, &mut Steps(steps));
        assert_eq!(part.problem.cost_of(&best.chosen), best.cost);
        part.in_whole(&best.chosen).for_each(|(class, node)| numbers[class as usize] = node);
        cost += best.cost;
        bound += best.bound;
    }
    (numbers.into_iter().map(|n| if n == NONE { 0 } else { n as usize }).collect(), cost, bound)
}

#[test]
fn the_best_of_all_choices_is_found() {
    let mut random = Random(1);
    let (mut tried, mut shared, mut cyclic) = (0, 0, 0);
    while tried < 1_000 {
        let count = 2 + random.below(11);
        let dear = [2, 4, 20][random.below(3) as usize];
        let classes = random_classes(&mut random, count, dear);
        let choices: usize = classes.iter().map(Vec::len).product();
        if choices > 1 << 12 {
            continue;
        }
        tried += 1;
        let roots: Vec<u32> = (0..1 + random.below(3)).map(|_| random.below(count)).collect();
        let best = cheapest(&classes, &roots);
        let none = vec![NONE; classes.len()];
        let (numbers, found, bound) = extracted(&classes, &roots, &none, usize::MAX);
        assert_eq!((found, bound), (best, best), "{classes:?} {roots:?}");
        assert_eq!(cost(&classes, &roots, &numbers), Some(best), "{classes:?} {roots:?}");
        // With few steps the result may be more expensive, and reports a gap.
        let (numbers, found, bound) = extracted(&classes, &roots, &none, 10);
        assert_eq!(cost(&classes, &roots, &numbers), Some(found));
        assert!(bound <= best && best <= found, "{bound} {best} {found}: {classes:?} {roots:?}");
        let whole = Problem::new(&classes, roots.clone());
        shared += u32::from(whole.cost_of(&trees::trees(&whole).chosen) > best);
        let last: Vec<usize> = classes.iter().map(|all| all.len() - 1).collect();
        cyclic += u32::from(cost(&classes, &roots, &last).is_none());
    }
    assert!(shared > 30 && cyclic > 150, "trees were wrong {shared} times, {cyclic} had cycles");
}

#[test]
fn bounds_hold() {
    let mut random = Random(2);
    let (mut tight, mut better) = (0, 0);
    for _ in 0..1_000 {
        let count = 2 + random.below(9);
        let classes = random_classes(&mut random, count, 10);
        let roots: Vec<u32> = (0..1 + random.below(3)).map(|_| random.below(count)).collect();
        let best = cheapest(&classes, &roots);
        let problem = Problem::new(&classes, roots.clone());
        let costs = (0..problem.num_nodes() as u32).map(|n| problem.cost(n)).collect();
        let mut all = landmarks::Landmarks::new(&problem);
        let marks = all.find(costs, &roots, Cost::MAX, &mut Steps(usize::MAX)).expect("there is a choice").bound;
        let apart = disjoint::bound(&problem);
        assert!(marks <= best && apart <= best, "{marks} {apart} {best}: {classes:?} {roots:?}");
        tight += u32::from(marks == best);
        better += u32::from(marks > apart);
    }
    assert!(tight > 900 && better > 100, "{tight} {better}");
}

/// Interval products: the two sides of a split share nothing, so no search is needed.
#[test]
fn the_cheapest_tree_of_disjoint_operands_is_the_optimum() {
    let (len, mut random) = (12, Random(5));
    let interval = |from: u32, to: u32| from * len + to;
    let mut classes = vec![Vec::new(); (len * len) as usize];
    for (from, to) in (0..len).flat_map(|from| (from..len).map(move |to| (from, to))) {
        let split = |at: u32| {
            let children = [interval(from, at), interval(at + 1, to)];
            node(1 + u64::from(random.below(100)), &children)
        };
        let all: Vec<CandidateNode> = if from == to { vec![node(0, &[])] } else { (from..to).map(split).collect() };
        classes[interval(from, to) as usize] = all;
    }
    let (_, found, bound) = extracted(&classes, &[interval(0, len - 1)], &[NONE; 144], 0);
    assert_eq!(found, bound);
}

/// Each of two sums alone is cheaper with a private part, but together they are cheaper with a shared one.
#[test]
fn what_is_shared_counts_once() {
    let classes = [
        vec![node(1, &[2]), node(1, &[3])],
        vec![node(1, &[2]), node(1, &[4])],
        vec![node(9, &[])],
        vec![node(8, &[])],
        vec![node(8, &[])],
    ];
    let problem = Problem::new(&classes, vec![0, 1]);
    assert_eq!(problem.cost_of(&trees::trees(&problem).chosen), 18);
    let (numbers, found, bound) = extracted(&classes, &[0, 1], &[NONE; 5], usize::MAX);
    assert_eq!((&numbers[..2], found, bound), (&[0, 0][..], 11, 11));
}

/// Two classes that are cheap only if each is made from the other.
#[test]
fn nothing_is_made_of_itself() {
    let classes = [vec![node(1, &[1]), node(10, &[])], vec![node(1, &[0]), node(12, &[])]];
    let (numbers, found, bound) = extracted(&classes, &[0, 1], &[NONE; 2], usize::MAX);
    assert_eq!((numbers, found, bound), (vec![1, 0], 11, 11));
}

#[test]
fn costs_may_be_huge() {
    let all = u64::MAX;
    let classes: Vec<Vec<CandidateNode>> = (0..200_u32)
        .map(|i| match i {
            0 => vec![node(all, &[])],
            _ => vec![node(all, &[i - 1]), node(all - 1, &[i - 1, i / 2])],
        })
        .collect();
    let (_, found, bound) = extracted(&classes, &[199], &[NONE; 200], 1_000_000);
    assert!(bound <= found && found <= 200 * Cost::from(all));
    assert!(bound >= 100 * Cost::from(all), "{bound}");
}

/// The original program is a choice, even if all others are worse.
#[test]
fn it_never_gets_dearer() {
    let mut random = Random(3);
    for _ in 0..500 {
        let count = 5 + random.below(40);
        let classes = random_classes(&mut random, count, 10);
        let roots: Vec<u32> = (0..1 + random.below(5)).map(|_| random.below(count)).collect();
        let start = vec![0; classes.len()];
        let before = cost(&classes, &roots, &vec![0; classes.len()]).expect("the first nodes are a choice");
        let (_, none, _) = extracted(&classes, &roots, &start, 0);
        let (_, some, bound) = extracted(&classes, &roots, &start, 20_000);
        assert!(none <= before && some <= before && bound <= some);
    }
}

/// A set cover problem: hard, with a known optimum.
#[test]
fn many_points_are_covered_by_few_sets() {
    let (points, sets) = (40, 25);
    let mut random = Random(4);
    let mut classes: Vec<Vec<CandidateNode>> =
        (0..sets).map(|_| vec![node(100 + u64::from(random.below(100)), &[])]).collect();
    for _ in 0..points {
        let of: Vec<u32> = (0..4).map(|_| random.below(sets)).collect();
        classes.push(of.iter().map(|&set| node(1, &[set])).collect());
    }
    let roots: Vec<u32> = (sets..sets + points).collect();
    let problem = Problem::new(&classes, roots.clone());
    let trees: Chosen = trees::trees(&problem).chosen;
    let mut best = exact::Best { cost: problem.cost_of(&trees), chosen: trees, bound: 0 };
    let before = best.cost;
    exact::improve(&problem, &mut best, &mut Steps(100_000_000));
    assert!(best.cost < before && best.cost == best.bound, "{before} {} {}", best.cost, best.bound);
}

/// Among choices of equal cost the original one is kept, even if another part becomes cheaper.
#[test]
fn what_costs_the_same_stays() {
    let classes = [
        vec![node(1, &[1, 2])],
        vec![node(3, &[]), node(3, &[3])],
        vec![node(5, &[]), node(4, &[])],
        vec![node(0, &[])],
    ];
    for own in [0, 1] {
        let (numbers, found, _) = extracted(&classes, &[0], &[0, own, 0, 0], 1000);
        assert_eq!((numbers[1], numbers[2], found), (own as usize, 1, 8));
    }
}
