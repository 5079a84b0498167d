//! Sets of bytes.

use super::random::Rng;
use gradus_simulators::cluster::Runs;
use std::collections::BTreeSet;

/// A random set of runs that do not overlap.
fn nested(rng: &mut Rng) -> Runs {
    let bytes = u64::from(rng.range(1, 5));
    let (mut extent, mut dims) = (bytes, [(1, 0); 3]);
    for dim in &mut dims[..rng.range(0, 3) as usize] {
        let (count, stride) = (rng.range(1, 5).into(), extent + u64::from(rng.range(0, 4)));
        *dim = (count, stride);
        extent += (count - 1) * stride;
    }
    Runs::new(rng.range(0, 60).into(), bytes, dims)
}

#[test]
fn sets_meet_if_they_have_a_common_byte() {
    let (mut rng, mut met, all) = (Rng(24), 0, 20_000);
    for case in 0..all {
        let [a, b] = [nested(&mut rng), nested(&mut rng)];
        assert!(a.is_nested() && b.is_nested());
        let [bytes_a, bytes_b] = [&a, &b].map(|runs| runs.ranges().flatten().collect::<BTreeSet<u64>>());
        let common = bytes_a.intersection(&bytes_b).next();
        assert_eq!(a.meets(&b), common.is_some(), "{case}: {a:?} and {b:?}");
        assert_eq!(a.common(&b).map(|range| range.start), common.copied(), "{case}: {a:?} and {b:?}");
        if a.covers(&b) {
            assert!(bytes_b.is_subset(&bytes_a), "{case}: {a:?} and {b:?}");
        }
        met += u64::from(common.is_some());
    }
    assert!(met * 5 > all && met * 5 < 4 * all, "{met} of {all}");
}
