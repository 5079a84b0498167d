//! Tests of reassociations and rank reduction.

use gradus_dialects::views::{Reassociation, collapsing, compose, dropped_dims, regroup};
use gradus_ir::DYNAMIC as D;

fn groups(lists: &[&[i64]]) -> Reassociation {
    lists.iter().map(|g| g.to_vec()).collect()
}

#[test]
fn shapes_collapse_in_one_way_or_none() {
    assert_eq!(collapsing(&[2, 3, 4], &[6, 4]), Some(groups(&[&[0, 1], &[2]])));
    assert_eq!(collapsing(&[D, 2, 3, 5], &[D, 15]), Some(groups(&[&[0, 1], &[2, 3]])));
    assert_eq!(collapsing(&[2, D, 3], &[D]), Some(groups(&[&[0, 1, 2]])));
    // Unit dimensions may join any group.
    assert_eq!(collapsing(&[2, 1, 3], &[2, 3]), Some(groups(&[&[0], &[1, 2]])));
    assert_eq!(collapsing(&[1, 1], &[]), Some(groups(&[&[0, 1]])));
    assert_eq!(collapsing(&[4, 1, 1], &[4]), Some(groups(&[&[0, 1, 2]])));
    // Ambiguous or impossible.
    assert_eq!(collapsing(&[D, D, D], &[D, D]), None);
    assert_eq!(collapsing(&[D, 2, D], &[D, D]), None);
    assert_eq!(collapsing(&[2, 2, D], &[2, D]), None);
    assert_eq!(collapsing(&[2, 3], &[5]), None);
    assert_eq!(collapsing(&[2, 3], &[2, 3]), None);
    assert_eq!(collapsing(&[3, 2], &[]), None);
    assert_eq!(collapsing(&[i64::MAX, i64::MAX, 0], &[0]), None);
}

#[test]
fn reassociations_compose() {
    let (fine, coarse) = (groups(&[&[0, 1], &[2], &[3, 4]]), groups(&[&[0, 1], &[2]]));
    assert_eq!(compose(&fine, &coarse), Some(groups(&[&[0, 1, 2], &[3, 4]])));
    assert_eq!(compose(&coarse, &fine), compose(&fine, &coarse));
    assert_eq!(compose(&fine, &fine), None);
    assert_eq!(compose(&fine, &[]), Some(vec![]));
    assert_eq!(compose(&fine, &groups(&[&[0, 7, 8]])), None);

    assert_eq!(regroup(&groups(&[&[0], &[1], &[2, 3]]), &groups(&[&[0, 1], &[2, 3]])), Some(groups(&[&[0, 1], &[2]])));
    assert_eq!(regroup(&groups(&[&[0, 1], &[2]]), &groups(&[&[0], &[1, 2]])), None);
}

#[test]
fn unit_dimensions_are_left_out_from_the_left() {
    assert_eq!(dropped_dims(&[1, 4, 1], &[4]), Some(vec![true, false, true]));
    assert_eq!(dropped_dims(&[1, 4, 1], &[1, 4]), Some(vec![false, false, true]));
    assert_eq!(dropped_dims(&[4, 4], &[4]), None);
    assert_eq!(dropped_dims(&[4], &[4, 4]), None);
}
