//! Check of incremental search: in unchanged classes, a rule has only the matches that it had before.

use crate::graph::Graph;
use crate::search::Match;
use egg::Id;
use gradus_ir::rules::Bindings;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// The identity of a match: rule, root classes and bound classes.
type MatchKey = (usize, SmallVec<[Id; 2]>, Bindings<Id>);

/// All matches that were found so far.
#[derive(Default)]
pub struct KnownMatches(Vec<MatchKey>);

impl KnownMatches {
    /// Adds matches of a rule, by its number. Says whether they and those before are all of `every`.
    pub fn includes(&mut self, graph: &Graph, rule: usize, found: &[Match], every: &[Match]) -> bool {
        let key = |m: &Match| (rule, m.results.clone(), m.bindings.clone());
        self.0.extend(found.iter().map(key));
        for known in &mut self.0 {
            *known = canonical(graph, known);
        }
        self.0.sort_unstable();
        self.0.dedup();
        let known: FxHashSet<&MatchKey> = self.0.iter().filter(|known| known.0 == rule).collect();
        every.iter().all(|m| known.contains(&canonical(graph, &key(m))))
    }
}

fn canonical(graph: &Graph, (rule, results, bindings): &MatchKey) -> MatchKey {
    let results = results.iter().map(|&node| graph.find(node)).collect();
    (*rule, results, bindings.map_values(|node| graph.find(node)))
}
