//! The groups to merge among the segments of one tier.
//!
//! Which subset of some numbers adds up closest to a target is the subset sum problem, and
//! cutting all of them into such subsets is bin packing; both are NP-hard. Two kinds of groups
//! are looked at instead, and the best one is taken again and again:
//!
//! - **by size**: of few segments the best group of all. Of many, a first segment, then always the
//!   largest that still fits below the target (first-fit decreasing: Johnson, *Near-optimal bin
//!   packing algorithms*, 1973), ended at each step by the smallest that reaches the target; this
//!   is tried from many first segments. It gets past the target by less than its last segment.
//! - **by place**: neighbours whose coverage is one contiguous run of live fragments. Lance
//!   compacts two neighbouring fragments into one only where exactly the same segments cover
//!   both, so this is taken where it is about as good.
//!
//! In all tiers but the highest one, even `merge_factor` segments don't reach the target: by size,
//! that is then the largest ones, and the output is in a higher tier. In the highest tier,
//! `merge_factor` segments always hold a group that reaches the target. So each row is written
//! once in each tier. The floor has another goal, see [`Goal::Even`].
//!
//! Takes O(segments x (merge factor + log segments)), times a constant (the first segments tried).

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{
    by_size::{BySize, Group},
    policy::{Share, TARGET},
};

/// A group by place is as good as one by size if its cost is above by no more than this part of
/// the group's size, or of its cost in the floor: deletions leave segments that were built alike a
/// little unequal.
const ABOUT: u64 = 16;

/// A segment of the tier.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    /// Its size, at least 1 and below the target.
    pub(super) share: Share,
    /// Together with the item before it, it covers one contiguous run of live fragments.
    pub(super) follows: bool,
}

/// What makes a group better than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// The output reaches the target, and is close to it.
    ///
    /// An output just below the target would be closer than many that reach it, but it isn't
    /// finished: all of it would be written once more.
    Target,
    /// The largest input is a small part of the output.
    ///
    /// Sizes in the floor tier differ by any factor. There, the group closest to the target would
    /// always be the one with the largest segments in it, and these would be written again for
    /// each few small ones. Merging what is smallest first makes the fewest writes, as in a
    /// Huffman tree (Knuth, *The Art of Computer Programming* 3, 5.4.9, optimum merge patterns).
    Even,
}

impl Goal {
    /// Lower is better. `None`: the merge isn't worth it, the output is less than half again as
    /// large as the largest input; or the output is too large.
    pub(super) fn cost(self, sum: Share, largest: Share) -> Option<u64> {
        if sum < least_worthwhile(largest) {
            return None;
        }
        match self {
            Self::Target if sum >= 2 * TARGET => None,
            Self::Target if sum >= TARGET => Some(sum - TARGET),
            Self::Target => Some(2 * TARGET - sum),
            Self::Even => {
                let part = u128::from(largest) * u128::from(TARGET) / u128::from(sum);
                Some(u64::try_from(part).unwrap_or(u64::MAX))
            }
        }
    }

    /// Whether a group by place, of that cost and length, is about as good as this one by size.
    fn is_tie(self, cost: u64, len: usize, by_size: &Group) -> bool {
        match self {
            Self::Even => cost <= by_size.cost.saturating_add(by_size.cost / ABOUT),
            Self::Target => {
                // Fewer segments might not get the output out of its tier.
                let rises = cost < TARGET || by_size.cost >= TARGET && len >= by_size.members.len();
                rises && cost <= by_size.cost.saturating_add(by_size.sum / ABOUT)
            }
        }
    }
}

/// What a merge with a largest input of that size has to make.
pub(super) fn least_worthwhile(largest: Share) -> Share {
    largest + largest.div_ceil(2)
}

/// Chooses disjoint groups of 2..=`merge_factor` items until fewer than `merge_factor` are left,
/// or no group that is worth it. Items are in order of their fragments; groups are of positions.
pub(super) fn select(items: &[Item], merge_factor: usize, goal: Goal) -> Vec<Vec<usize>> {
    let mut groups = Vec::new();
    if items.len() < merge_factor {
        return groups;
    }
    let mut by_size = BySize::new(items, merge_factor, goal);
    let mut by_place = by_place(items, merge_factor, goal);
    let mut taken = vec![false; items.len()];
    let mut left = items.len();
    while left >= merge_factor {
        while let Some(Reverse((_, start, len))) = by_place.peek()
            && taken[*start..start + len].contains(&true)
        {
            by_place.pop();
        }
        let neighbours = by_place.peek().map(|Reverse(place)| *place);
        let members = match (by_size.best(), neighbours) {
            (Some(group), Some((cost, start, len))) if goal.is_tie(cost, len, &group) => {
                (start..start + len).collect()
            }
            (None, Some((_, start, len))) => (start..start + len).collect(),
            (Some(group), _) => {
                let mut members = group.members;
                members.sort_unstable();
                members
            }
            (None, None) => break,
        };
        for at in &members {
            taken[*at] = true;
            by_size.remove(*at);
        }
        left -= members.len();
        groups.push(members);
    }
    groups
}

/// For each item the best group of it and those right behind it, as cost, start and length, the
/// best one on top; equal ones in order of their fragments.
fn by_place(
    items: &[Item],
    merge_factor: usize,
    goal: Goal,
) -> BinaryHeap<Reverse<(u64, usize, usize)>> {
    let best_from = |start: usize| {
        let (mut sum, mut largest) = (items[start].share, items[start].share);
        let behind = items[start + 1..].iter().take_while(|item| item.follows);
        let groups = behind.take(merge_factor - 1).enumerate().filter_map(|(at, item)| {
            sum += item.share;
            largest = largest.max(item.share);
            goal.cost(sum, largest).map(|cost| (cost, start, at + 2))
        });
        groups.min().map(Reverse)
    };
    (0..items.len()).filter_map(best_from).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::by_size::EXACT, *};

    fn items(percent: &[u64]) -> Vec<Item> {
        let item = |(at, share): (usize, &u64)| Item {
            share: (share * TARGET).div_ceil(100),
            follows: at > 0,
        };
        percent.iter().enumerate().map(item).collect()
    }

    fn apart(percent: &[u64]) -> Vec<Item> {
        items(percent).into_iter().map(|item| Item { follows: false, ..item }).collect()
    }

    fn target(items: &[Item], merge_factor: usize) -> Vec<Vec<usize>> {
        select(items, merge_factor, Goal::Target)
    }

    #[test]
    fn the_group_closest_to_the_target() {
        // Too few are left after that.
        assert_eq!(target(&apart(&[50, 60, 40, 30]), 4), [[1, 2]]);
        assert_eq!(target(&apart(&[70, 60, 65]), 3), [[1, 2]]);
        // The first, third and fourth add up to 98, which is closer and not finished.
        assert_eq!(target(&apart(&[30, 90, 40, 28, 35]), 5), [[2, 3, 4]]);
    }

    #[test]
    fn two_that_a_merge_factor_of_two_allows() {
        assert_eq!(target(&apart(&[80, 55, 50, 90]), 2), [vec![1, 2], vec![0, 3]]);
    }

    #[test]
    fn below_the_highest_tier_the_largest_ones() {
        assert_eq!(target(&apart(&[2, 5, 3, 6, 4]), 3), [[1, 3, 4]]);
    }

    #[test]
    fn ties_prefer_neighbours_then_the_first_fragments() {
        let mut equal = items(&[2; 7]);
        assert_eq!(target(&equal, 3), [[0, 1, 2], [3, 4, 5]]);
        equal[1].follows = false;
        assert_eq!(target(&equal, 3), [[1, 2, 3], [4, 5, 6]]);
        for item in &mut equal {
            item.follows = false;
        }
        assert_eq!(target(&equal, 3), [[0, 1, 2], [3, 4, 5]]);
    }

    #[test]
    fn nearly_equal_neighbours_are_a_tie() {
        let mut nearly = items(&[1000, 1001, 1000, 999, 1001, 1001].map(|share| share / 100));
        for (at, share) in [200, 205, 200, 199, 205, 205].into_iter().enumerate() {
            nearly[at].share = share;
        }
        nearly[1].follows = false;
        nearly[4].follows = false;
        assert_eq!(target(&nearly, 3)[0], [1, 2, 3]);
    }

    #[test]
    fn a_merge_that_hardly_grows_its_largest_input() {
        assert_eq!(target(&items(&[90, 40]), 2), [[0usize; 0]; 0]);
        assert_eq!(target(&items(&[90, 45]), 2), [[0, 1]]);
        // The three small ones are no help for the large one, and too few when they are merged.
        assert_eq!(target(&items(&[90, 13, 13, 13]), 4), [[1, 2, 3]]);
    }

    #[test]
    fn the_floor_merges_what_is_even() {
        let even =
            |percent: &[u64], merge_factor| select(&apart(percent), merge_factor, Goal::Even);
        // Not the 8: it would be written again to grow by less than it is.
        assert_eq!(even(&[8, 1, 1, 1, 1, 1, 1, 1], 8), [[1, 2, 3, 4, 5, 6, 7]]);
        assert_eq!(even(&[8, 7, 6, 5, 4, 3, 2, 1], 8), [[0, 1, 2, 3, 4, 5, 6, 7]]);
        assert_eq!(even(&[1, 3, 9, 27, 81], 4), [[0usize; 0]; 0]);
        // The smallest first.
        assert_eq!(even(&[45, 20, 21, 1], 3), [[1, 2, 3]]);
        // One that is worth no merge doesn't keep others from each other.
        assert_eq!(even(&[1, 40, 41], 2), [[1, 2]]);
    }

    /// The least cost of any group.
    fn brute_force(items: &[Item], merge_factor: usize) -> Option<u64> {
        let groups = (0u32..1 << items.len()).filter(|group| {
            (2..=merge_factor).contains(&usize::try_from(group.count_ones()).unwrap())
        });
        let cost = |group: u32| {
            let members = (0..items.len()).filter(|at| group & (1 << at) != 0);
            let shares: Vec<u64> = members.map(|at| items[at].share).collect();
            Goal::Target.cost(shares.iter().sum(), *shares.iter().max().unwrap())
        };
        groups.filter_map(cost).min()
    }

    /// A merge factor, and a highest tier with enough segments for it: their sizes are evenly
    /// spread over the logarithm.
    fn full_tier(most: usize) -> impl Strategy<Value = (usize, Vec<Item>)> {
        (2usize..=most.min(17)).prop_flat_map(move |merge_factor| {
            let low = 100.0 / merge_factor as f64;
            let size = (0.0f64..1.0).prop_map(move |x| (low * (99.0 / low).powf(x)).ceil() as u64);
            let sizes = prop::collection::vec(size, merge_factor..=most);
            (Just(merge_factor), sizes.prop_map(|sizes| apart(&sizes)))
        })
    }

    fn sum(items: &[Item], group: &[usize]) -> u64 {
        group.iter().map(|at| items[*at].share).sum()
    }

    proptest! {
        #[test]
        fn the_best_of_few((merge_factor, items) in full_tier(EXACT)) {
            let first = &target(&items, merge_factor)[0];
            let largest = first.iter().map(|at| items[*at].share).max().unwrap();
            let cost = Goal::Target.cost(sum(&items, first), largest);
            prop_assert_eq!(cost, brute_force(&items, merge_factor));
        }

        /// So in the highest tier each row is written just once.
        #[test]
        fn a_full_highest_tier_is_merged_to_finished_segments((merge_factor, items) in full_tier(60)) {
            let groups = target(&items, merge_factor);
            prop_assert!(!groups.is_empty());
            let mut left = items.len();
            for group in &groups {
                let full = left >= merge_factor;
                let size = sum(&items, group);
                prop_assert!(full && (TARGET..2 * TARGET).contains(&size), "{:?}", group);
                left -= group.len();
            }
            prop_assert!(left < merge_factor, "{} left", left);
        }

        #[test]
        fn disjoint_groups_of_allowed_lengths_until_too_few_are_left(
            merge_factor in 2usize..9,
            even: bool,
            shares in prop::collection::vec((1u64..1000, any::<bool>()), 0..80),
        ) {
            let items: Vec<Item> =
                shares.iter().map(|(share, follows)| Item { share: *share, follows: *follows }).collect();
            let goal = if even { Goal::Even } else { Goal::Target };
            let groups = select(&items, merge_factor, goal);
            let mut taken = vec![false; items.len()];
            for group in &groups {
                prop_assert!((2..=merge_factor).contains(&group.len()));
                prop_assert!(group.is_sorted());
                for at in group {
                    prop_assert!(!std::mem::replace(&mut taken[*at], true));
                }
                let sum: u64 = group.iter().map(|at| items[*at].share).sum();
                let largest = group.iter().map(|at| items[*at].share).max().unwrap();
                prop_assert!(2 * sum >= 3 * largest);
            }
        }
    }
}
