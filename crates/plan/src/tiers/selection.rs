//! Which segments of an index to merge, and why the others aren't.

use std::{collections::BTreeMap, fmt};

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Candidate, Ineligible, MergePolicy, Tier,
    select::{Goal, Item, select},
};

/// What to do with each segment of an index: it is in one group, or skipped.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Selection {
    /// What to merge, in order of the lowest fragment of each.
    pub groups: Vec<MergeGroup>,
    /// The segments that are left as they are, in order of their lowest fragment.
    pub skipped: Vec<Skipped>,
}

/// Segments that are to become one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeGroup {
    /// The tier that they are in.
    pub tier: Tier,
    /// The segments, in order of their lowest fragment.
    pub inputs: Vec<Uuid>,
    /// The live fragments that the output is to cover.
    pub fragments: RoaringBitmap,
    /// The live rows of these fragments.
    pub rows: u64,
    /// The size of the inputs in bytes, `None` if unknown of any. The output takes less where
    /// rows were deleted.
    pub bytes: Option<u64>,
}

/// A segment that is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The segment.
    pub uuid: Uuid,
    /// Its tier, `None` where its size is unknown.
    pub tier: Option<Tier>,
    /// Why.
    pub reason: Skip,
}

/// Why a segment is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Skip {
    /// No merge may have it.
    Ineligible(Ineligible),
    /// It has reached the target.
    Finished,
    /// Only bytes count, and its number of bytes is unknown.
    UnknownSize,
    /// Its tier has too few segments for a merge, or too few left after the merges.
    TooFew {
        /// The segments in its tier, it included.
        found: usize,
        /// How many a merge takes.
        needed: usize,
    },
    /// Its tier would have enough segments, but not of its kind.
    OtherKinds {
        /// The segments of its kind in its tier, it included.
        found: usize,
        /// The segments of all kinds in its tier.
        in_tier: usize,
        /// How many a merge takes.
        needed: usize,
    },
    /// Its tier has enough segments, but a merge would grow the largest one by less than half.
    NotWorthwhile,
}

impl Skip {
    /// Whether it is for the number of other segments that it isn't merged, and not for itself.
    pub fn is_for_want_of_others(&self) -> bool {
        match self {
            Self::Ineligible(_) | Self::Finished | Self::UnknownSize => false,
            Self::TooFew { .. } | Self::OtherKinds { .. } | Self::NotWorthwhile => true,
        }
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ineligible(why) => write!(f, "{why}"),
            Self::Finished => write!(f, "it has reached the target"),
            Self::UnknownSize => write!(f, "its size in bytes is unknown"),
            Self::TooFew { found, needed } => {
                write!(f, "{found} of {needed} segments in its tier")
            }
            Self::OtherKinds { found, in_tier, needed } => write!(
                f,
                "{found} of {needed} segments in its tier: the others of {in_tier} have another \
                 type, version or parameters"
            ),
            Self::NotWorthwhile => {
                write!(f, "a merge would grow the largest segment by less than half")
            }
        }
    }
}

impl MergePolicy {
    /// Chooses what to merge. `live` are the live fragments of the table.
    ///
    /// The order of the candidates is of no matter. Outputs are not merged again: where there was
    /// a backlog, another selection may go on from the result of this one; after a few, there are
    /// no groups any more.
    pub fn select(&self, candidates: &[Candidate], live: &RoaringBitmap) -> Selection {
        let mut ordered: Vec<&Candidate> = candidates.iter().collect();
        ordered.sort_by_cached_key(|it| (it.fragments.min(), it.uuid));

        let mut reasons: Vec<Option<Skip>> = Vec::with_capacity(ordered.len());
        // The positions of those that may be merged with each other.
        let mut together: BTreeMap<(Tier, &str), Vec<usize>> = BTreeMap::new();
        for (at, candidate) in ordered.iter().enumerate() {
            let reason = self.alone(candidate);
            if let (None, Some(tier)) = (&reason, self.tier_of(candidate)) {
                together.entry((tier, candidate.kind.as_str())).or_default().push(at);
            }
            reasons.push(reason);
        }

        let mut groups = Vec::new();
        let mut left = Vec::new();
        for ((tier, _), members) in together {
            let goal = if tier == Tier::Floor { Goal::Even } else { Goal::Target };
            let items = self.items(&ordered, &members, live);
            let mut rest: Vec<Option<usize>> = members.iter().copied().map(Some).collect();
            for group in select(&items, self.merge_factor(), goal) {
                let inputs: Vec<usize> = group.iter().filter_map(|at| rest[*at].take()).collect();
                groups.push((inputs.first().copied(), group_of(tier, &ordered, &inputs)));
            }
            left.push((tier, rest.into_iter().flatten().collect::<Vec<usize>>()));
        }

        let mut in_tier: BTreeMap<Tier, usize> = BTreeMap::new();
        for (tier, rest) in &left {
            *in_tier.entry(*tier).or_default() += rest.len();
        }
        let needed = self.merge_factor();
        for (tier, rest) in left {
            let (found, in_tier) = (rest.len(), in_tier.get(&tier).copied().unwrap_or_default());
            let reason = if found >= needed {
                Skip::NotWorthwhile
            } else if in_tier >= needed {
                Skip::OtherKinds { found, in_tier, needed }
            } else {
                Skip::TooFew { found, needed }
            };
            for at in rest {
                reasons[at] = Some(reason.clone());
            }
        }

        groups.sort_by_key(|(first, _)| *first);
        let skipped = ordered.iter().zip(reasons).filter_map(|(candidate, reason)| {
            let tier = self.tier_of(candidate);
            reason.map(|reason| Skipped { uuid: candidate.uuid, tier, reason })
        });
        Selection {
            skipped: skipped.collect(),
            groups: groups.into_iter().map(|(_, group)| group).collect(),
        }
    }

    /// Why the segment isn't merged, whatever others there are.
    fn alone(&self, candidate: &Candidate) -> Option<Skip> {
        if let Some(why) = &candidate.ineligible {
            return Some(Skip::Ineligible(why.clone()));
        }
        if candidate.fragments.is_empty() {
            return Some(Skip::Ineligible(Ineligible::Retired));
        }
        match self.tier_of(candidate) {
            None => Some(Skip::UnknownSize),
            Some(Tier::Finished) => Some(Skip::Finished),
            Some(_) => None,
        }
    }

    fn items(&self, ordered: &[&Candidate], members: &[usize], live: &RoaringBitmap) -> Vec<Item> {
        let mut before = None;
        let item = |at: &usize| {
            let candidate = ordered[*at];
            let run = contiguous(&candidate.fragments, live);
            let follows = before.zip(run).is_some_and(|((_, last), (first, _))| {
                last < first && live.range_cardinality(last..=first) == 2
            });
            before = run;
            Item { share: self.share_of(candidate).unwrap_or(1), follows }
        };
        members.iter().map(item).collect()
    }
}

/// The first and the last of these fragments if no other live one is between them.
fn contiguous(fragments: &RoaringBitmap, live: &RoaringBitmap) -> Option<(u32, u32)> {
    let (first, last) = (fragments.min()?, fragments.max()?);
    (live.range_cardinality(first..=last) == fragments.len()).then_some((first, last))
}

fn group_of(tier: Tier, ordered: &[&Candidate], inputs: &[usize]) -> MergeGroup {
    let inputs = || inputs.iter().map(|at| ordered[*at]);
    let mut fragments = RoaringBitmap::new();
    for candidate in inputs() {
        fragments |= &candidate.fragments;
    }
    let add_bytes = |sum: Option<u64>, it: &Candidate| Some(sum?.saturating_add(it.bytes?));
    MergeGroup {
        tier,
        inputs: inputs().map(|it| it.uuid).collect(),
        fragments,
        rows: inputs().fold(0, |sum, it| sum.saturating_add(it.rows)),
        bytes: inputs().fold(Some(0), add_bytes),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::candidate::testing::candidate, *};

    fn policy(merge_factor: u64) -> MergePolicy {
        MergePolicy::new(Some(1_000_000), None, merge_factor).unwrap()
    }

    fn live(candidates: &[Candidate]) -> RoaringBitmap {
        candidates.iter().fold(RoaringBitmap::new(), |all, it| all | &it.fragments)
    }

    /// One fragment each.
    fn of_rows(rows: &[u64]) -> Vec<Candidate> {
        let one = |(id, rows): (u32, &u64)| candidate(u128::from(id) + 1, id..id + 1, *rows);
        (0..).zip(rows).map(one).collect()
    }

    fn select(policy: &MergePolicy, candidates: &[Candidate]) -> Selection {
        policy.select(candidates, &live(candidates))
    }

    /// The UUIDs in each group, as numbers.
    fn groups(selection: &Selection) -> Vec<Vec<u128>> {
        let inputs = |group: &MergeGroup| group.inputs.iter().map(Uuid::as_u128).collect();
        selection.groups.iter().map(inputs).collect()
    }

    fn reasons(selection: &Selection) -> Vec<Skip> {
        selection.skipped.iter().map(|it| it.reason.clone()).collect()
    }

    /// The segments after the merges.
    fn merged(candidates: &[Candidate], selection: &Selection) -> Vec<Candidate> {
        let mut after = candidates.to_vec();
        for group in &selection.groups {
            let first = candidates.iter().find(|it| group.inputs.contains(&it.uuid)).unwrap();
            after.retain(|it| !group.inputs.contains(&it.uuid));
            after.push(Candidate {
                uuid: Uuid::from_u128(u128::MAX - first.uuid.as_u128()),
                fragments: group.fragments.clone(),
                rows: group.rows,
                bytes: group.bytes,
                ..first.clone()
            });
        }
        after
    }

    /// How many selections it takes until there is nothing to merge, and what is left then.
    fn settled(policy: &MergePolicy, mut candidates: Vec<Candidate>) -> (usize, Vec<Candidate>) {
        for round in 0.. {
            let selection = select(policy, &candidates);
            if selection.groups.is_empty() {
                return (round, candidates);
            }
            candidates = merged(&candidates, &selection);
        }
        unreachable!()
    }

    #[test]
    fn equal_segments() {
        let of = |count| select(&policy(8), &of_rows(&vec![20_000; count]));
        let too_few = |found, count| vec![Skip::TooFew { found, needed: 8 }; count];
        assert_eq!((groups(&of(7)), reasons(&of(7))), (vec![], too_few(7, 7)));
        assert_eq!((groups(&of(8)), reasons(&of(8))), (vec![(1..=8).collect()], vec![]));
        let two = vec![(1..=8).collect(), (9..=16).collect()];
        assert_eq!((groups(&of(17)), reasons(&of(17))), (two, too_few(1, 1)));
        assert_eq!(select(&policy(8), &[]), Selection::default());
    }

    #[test]
    fn five_fifths_are_finished() {
        let five = vec![vec![1, 2, 3, 4, 5]];
        assert_eq!(groups(&select(&policy(8), &of_rows(&[200_000; 8]))), five);
    }

    #[test]
    fn a_large_segment_is_never_merged_with_tiny_ones() {
        let large = MergePolicy::new(Some(10_000_000), None, 8).unwrap();
        let mut rows = vec![1_000_000, 10, 10, 10, 10, 10, 10, 10];
        let selection = select(&large, &of_rows(&rows));
        assert_eq!(groups(&selection), [[0u128; 0]; 0]);
        let found = reasons(&selection);
        assert_eq!(found[0], Skip::TooFew { found: 1, needed: 8 });
        assert_eq!(found[1..], vec![Skip::TooFew { found: 7, needed: 8 }; 7]);
        rows.push(10);
        assert_eq!(groups(&select(&large, &of_rows(&rows))), [(2..=9).collect::<Vec<_>>()]);
    }

    #[test]
    fn hundreds_of_tiny_segments() {
        let rows: Vec<u64> = (0..500).map(|at| at * 7919 % 997).collect();
        let (rounds, left) = settled(&policy(8), of_rows(&rows));
        assert!(rounds <= 4, "{rounds} rounds");
        assert!(left.len() <= 14, "{} left", left.len());
        assert_eq!(left.iter().map(|it| it.rows).sum::<u64>(), rows.iter().sum::<u64>());
    }

    #[test]
    fn only_equal_kinds_are_grouped() {
        let mut candidates = of_rows(&[20_000; 8]);
        for other in candidates.iter_mut().step_by(2) {
            other.kind = "zonemap, rows_per_zone 2048".to_string();
        }
        let selection = select(&policy(8), &candidates);
        assert_eq!(groups(&selection), [[0u128; 0]; 0]);
        let other_kinds = Skip::OtherKinds { found: 4, in_tier: 8, needed: 8 };
        assert_eq!(reasons(&selection), vec![other_kinds; 8]);
        let selection = select(&policy(4), &candidates);
        assert_eq!(groups(&selection), [[1, 3, 5, 7], [2, 4, 6, 8]]);
    }

    /// The worked example of docs/optimize.md.
    #[test]
    fn each_tier_by_itself() {
        let (t1, t3) = ([640_000, 300_000, 420_000, 350_000], [20_000; 5]);
        let rows = [&[1_200_000][..], &t1, &t3, &[9_000, 40, 35]].concat();
        let selection = select(&policy(4), &of_rows(&rows));
        assert_eq!(groups(&selection), [vec![3, 4, 5], vec![6, 7, 8, 9]]);
        let rows: Vec<u64> = selection.groups.iter().map(|group| group.rows).collect();
        assert_eq!(rows, [1_070_000, 80_000]);
        let too_few = |found| Skip::TooFew { found, needed: 4 };
        let mut expected = vec![Skip::Finished, too_few(1), too_few(1)];
        expected.extend(vec![too_few(3); 3]);
        assert_eq!(reasons(&selection), expected);
    }

    #[test]
    fn what_is_never_merged() {
        let bytes = MergePolicy::new(None, Some(1 << 30), 2).unwrap();
        let mut candidates = of_rows(&[1; 6]);
        for (at, candidate) in candidates.iter_mut().enumerate() {
            candidate.bytes = [Some(1 << 30), Some(1 << 30), None, Some(5), Some(5), Some(5)][at];
        }
        candidates[1].ineligible = Some(Ineligible::OtherBase);
        candidates[3].fragments.clear();
        candidates[4].ineligible = Some(Ineligible::Untracked);
        let selection = select(&bytes, &candidates);
        assert_eq!(groups(&selection), [[0u128; 0]; 0]);
        let skipped: Vec<(u128, Option<Tier>, Skip)> = selection
            .skipped
            .into_iter()
            .map(|it| (it.uuid.as_u128(), it.tier, it.reason))
            .collect();
        let expected = [
            (4, Some(Tier::Floor), Skip::Ineligible(Ineligible::Retired)),
            (1, Some(Tier::Finished), Skip::Finished),
            (2, Some(Tier::Finished), Skip::Ineligible(Ineligible::OtherBase)),
            (3, None, Skip::UnknownSize),
            (5, Some(Tier::Floor), Skip::Ineligible(Ineligible::Untracked)),
            (6, Some(Tier::Floor), Skip::TooFew { found: 1, needed: 2 }),
        ];
        assert_eq!(skipped, expected);
    }

    #[test]
    fn a_merge_that_is_not_worthwhile() {
        let selection = select(&policy(2), &of_rows(&[9_000, 100]));
        assert_eq!(reasons(&selection), [Skip::NotWorthwhile, Skip::NotWorthwhile]);
    }

    #[test]
    fn what_a_group_says_of_its_output() {
        let mut candidates = of_rows(&[20_000, 30_000]);
        candidates[0].bytes = Some(100);
        let group = select(&policy(2), &candidates).groups.remove(0);
        assert_eq!(group.tier.to_string(), "6");
        assert_eq!((group.rows, group.bytes), (50_000, None));
        assert_eq!(group.fragments, RoaringBitmap::from([0, 1]));
        candidates[1].bytes = Some(200);
        assert_eq!(select(&policy(2), &candidates).groups[0].bytes, Some(300));
    }

    #[test]
    fn ties_prefer_what_no_live_fragment_parts() {
        let mut candidates = of_rows(&[20_000; 4]);
        candidates[3].fragments = RoaringBitmap::from([9]);
        let all = live(&candidates);
        assert_eq!(groups(&policy(3).select(&candidates, &all)), [[1, 2, 3]]);
        // Fragment 0 is apart from the others, and nothing live is between 2 and 9.
        candidates[0].fragments = RoaringBitmap::from([0, 20]);
        assert_eq!(groups(&policy(3).select(&candidates, &live(&candidates))), [[2, 3, 4]]);
    }

    #[test]
    fn reasons_print() {
        let cases = [
            (Skip::Ineligible(Ineligible::OtherBase), "its files are in another base path"),
            (Skip::Finished, "it has reached the target"),
            (Skip::UnknownSize, "its size in bytes is unknown"),
            (Skip::TooFew { found: 3, needed: 8 }, "3 of 8 segments in its tier"),
            (
                Skip::OtherKinds { found: 3, in_tier: 9, needed: 8 },
                "3 of 8 segments in its tier: the others of 9 have another type, version or \
                 parameters",
            ),
            (Skip::NotWorthwhile, "a merge would grow the largest segment by less than half"),
        ];
        for (reason, text) in cases {
            assert_eq!(reason.to_string(), text);
        }
    }

    fn any_candidates() -> impl Strategy<Value = Vec<Candidate>> {
        let one = (0.0f64..15.0, prop::option::of(0.0f64..22.0), 0..10, 1u32..4);
        prop::collection::vec(one, 0..120).prop_map(|all| {
            let mut next = 0;
            let one = |(at, (rows, bytes, kind, width)): (usize, (f64, Option<f64>, i32, u32))| {
                let start = next;
                next += width;
                Candidate {
                    bytes: bytes.map(|bytes| bytes.exp() as u64),
                    kind: if kind < 3 { "a" } else { "b" }.to_string(),
                    ineligible: (kind == 9).then_some(Ineligible::OtherBase),
                    ..candidate(at as u128 + 1, start..next, rows.exp() as u64)
                }
            };
            all.into_iter().enumerate().map(one).collect()
        })
    }

    fn any_policy() -> impl Strategy<Value = MergePolicy> {
        (prop::option::of(1u64..3_000_000), 1u64..3_000_000_000, any::<bool>(), 2u64..12).prop_map(
            |(rows, bytes, both, merge_factor)| {
                let bytes = (both || rows.is_none()).then_some(bytes);
                MergePolicy::new(rows, bytes, merge_factor).unwrap()
            },
        )
    }

    proptest! {
        #[test]
        fn each_segment_is_in_one_group_or_skipped(
            policy in any_policy(),
            candidates in any_candidates(),
        ) {
            let selection = select(&policy, &candidates);
            let mut seen: Vec<Uuid> = selection.skipped.iter().map(|it| it.uuid).collect();
            seen.extend(selection.groups.iter().flat_map(|group| &group.inputs));
            seen.sort();
            let mut all: Vec<Uuid> = candidates.iter().map(|it| it.uuid).collect();
            all.sort();
            prop_assert_eq!(seen, all);
        }

        #[test]
        fn groups_are_of_equals(policy in any_policy(), candidates in any_candidates()) {
            for group in select(&policy, &candidates).groups {
                prop_assert!((2..=policy.merge_factor()).contains(&group.inputs.len()));
                let inputs: Vec<&Candidate> =
                    candidates.iter().filter(|it| group.inputs.contains(&it.uuid)).collect();
                prop_assert_eq!(group.rows, inputs.iter().map(|it| it.rows).sum::<u64>());
                prop_assert_eq!(group.fragments.len(), inputs.iter().map(|it| it.fragments.len()).sum::<u64>());
                for input in &inputs {
                    prop_assert_eq!(&input.ineligible, &None);
                    prop_assert_eq!(&input.kind, &inputs[0].kind);
                    prop_assert_eq!(policy.tier_of(input), Some(group.tier));
                }
                let shares = inputs.iter().map(|it| policy.share_of(it).unwrap());
                let (least, most) = (shares.clone().min().unwrap(), shares.max().unwrap());
                let factor = policy.merge_factor() as u64;
                prop_assert!(group.tier == Tier::Floor || most <= least * factor + factor);
            }
        }

        #[test]
        fn the_order_of_segments_is_of_no_matter(
            policy in any_policy(),
            (candidates, shuffled) in any_candidates()
                .prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        ) {
            prop_assert_eq!(select(&policy, &candidates), select(&policy, &shuffled));
        }

        #[test]
        fn soon_there_is_nothing_to_do(policy in any_policy(), candidates in any_candidates()) {
            let (rounds, left) = settled(&policy, candidates);
            prop_assert!(rounds <= 12, "{} rounds", rounds);
            // A regular tier is never left with enough segments for a merge.
            let mut counts: BTreeMap<(Tier, String), usize> = BTreeMap::new();
            for it in left.into_iter().filter(|it| it.ineligible.is_none()) {
                if let Some(tier @ Tier::Regular(_)) = policy.tier_of(&it) {
                    *counts.entry((tier, it.kind)).or_default() += 1;
                }
            }
            prop_assert!(counts.values().all(|count| *count < policy.merge_factor()));
        }
    }
}
