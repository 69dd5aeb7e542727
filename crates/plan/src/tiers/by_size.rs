//! Groups of the segments of one tier by their sizes, wherever they are in the table.

use std::{cmp::Reverse, collections::BTreeSet};

use super::{
    policy::{Share, TARGET},
    select::{Goal, Item, least_worthwhile},
};

/// Of so many segments, every group is tried.
pub(super) const EXACT: usize = 12;

/// From how many first segments a group is looked for. Up to that many, all are tried.
const STARTS: u64 = 32;

/// Some of the items.
pub(super) struct Group {
    /// See [`Goal`].
    pub(super) cost: u64,
    /// The sizes of its members, added up.
    pub(super) sum: Share,
    /// The positions of the items, in no order.
    pub(super) members: Vec<usize>,
}

/// Orders items by size; of equal ones, the one that comes first in the table is the greater.
type Key = (u64, Reverse<usize>);

/// The items that are left, by size.
pub(super) struct BySize<'a> {
    items: &'a [Item],
    merge_factor: usize,
    goal: Goal,
    left: BTreeSet<Key>,
}

impl<'a> BySize<'a> {
    pub(super) fn new(items: &'a [Item], merge_factor: usize, goal: Goal) -> Self {
        let mut by_size = Self { items, merge_factor, goal, left: BTreeSet::new() };
        by_size.left = (0..items.len()).map(|at| by_size.key(at)).collect();
        by_size
    }

    /// In the floor, by the power of two only and the smallest last, so that what is nearly equal
    /// is merged in order of its fragments.
    fn key(&self, at: usize) -> Key {
        let share = self.items[at].share;
        match self.goal {
            Goal::Target => (share, Reverse(at)),
            Goal::Even => (u64::from(share.leading_zeros()), Reverse(at)),
        }
    }

    /// Takes out an item that is in a group.
    pub(super) fn remove(&mut self, at: usize) {
        self.left.remove(&self.key(at));
    }

    /// The best group of the items that are left.
    pub(super) fn best(&mut self) -> Option<Group> {
        match self.goal {
            Goal::Target if self.left.len() <= EXACT => self.best_of_all(),
            Goal::Target => {
                let groups = self.starts().into_iter().filter_map(|start| self.closest(start));
                groups.min_by_key(|group| (group.cost, group.members.iter().min().copied()))
            }
            Goal::Even => self.smallest(),
        }
    }

    /// Items over the whole range of sizes, the largest and the smallest among them.
    fn starts(&self) -> Vec<Key> {
        let (Some(smallest), Some(largest)) = (self.left.first(), self.left.last()) else {
            return Vec::new();
        };
        if self.left.len() as u64 <= STARTS {
            return self.left.iter().copied().collect();
        }
        let step = (largest.0 - smallest.0) / (STARTS - 1);
        let up_to = |n: u64| self.left.range(..=(smallest.0 + n * step, Reverse(0))).next_back();
        let mut starts: Vec<Key> = (0..STARTS - 1).filter_map(up_to).copied().collect();
        starts.push(*largest);
        starts.dedup();
        starts
    }

    /// The largest item of at most that size, and before `last`.
    fn up_to(&self, share: Share, last: Key) -> Option<&Key> {
        self.left.range(..last.min((share + 1, Reverse(usize::MAX)))).next_back()
    }

    /// The group closest to the target, by trying all; of equal ones the first in the table.
    fn best_of_all(&self) -> Option<Group> {
        let mut left: Vec<usize> = self.left.iter().map(|(_, Reverse(at))| *at).collect();
        left.sort_unstable();
        let members = |group: u32| {
            let within = left.iter().enumerate().filter(move |(bit, _)| group & (1 << bit) != 0);
            within.map(|(_, at)| *at)
        };
        let groups = (1u32..1 << left.len()).filter_map(|group| {
            if group.count_ones() < 2 || group.count_ones() as usize > self.merge_factor {
                return None;
            }
            let (sum, largest) = members(group).fold((0, 0), |(sum, largest), at| {
                let share = self.items[at].share;
                (sum + share, share.max(largest))
            });
            Some((self.goal.cost(sum, largest)?, Reverse(group.reverse_bits()), sum))
        });
        let (cost, Reverse(reversed), sum) = groups.min()?;
        Some(Group { cost, sum, members: members(reversed.reverse_bits()).collect() })
    }

    /// The group closest to the target of those that have `start` as their largest item.
    fn closest(&self, start: Key) -> Option<Group> {
        let (largest, Reverse(first)) = start;
        let mut members = vec![first];
        let (mut sum, mut last) = (largest, start);
        // The cost and sum of the best one: so many members, and possibly one that ends it.
        let mut best: Option<(u64, Share, usize, Option<usize>)> = None;
        let mut consider = |sum, len, end| {
            if let Some(cost) = self.goal.cost(sum, largest)
                && best.is_none_or(|(least, ..)| cost < least)
            {
                best = Some((cost, sum, len, end));
            }
        };
        while members.len() < self.merge_factor {
            let room = TARGET.saturating_sub(sum);
            let end = (room + 1).max(least_worthwhile(largest).saturating_sub(sum));
            let end = (end, Reverse(usize::MAX));
            if end < last
                && let Some((share, _)) = self.left.range(end..last).next()
                && let Some((_, Reverse(at))) = self.up_to(*share, last)
            {
                consider(sum + share, members.len(), Some(*at));
            }
            // A large one may need more than one that doesn't fit.
            let next = match self.up_to(room, last) {
                None if sum < least_worthwhile(largest) => self.left.range(..last).next_back(),
                fits => fits,
            };
            let Some(next) = next else { break };
            let (share, Reverse(at)) = *next;
            members.push(at);
            (sum, last) = (sum + share, *next);
            consider(sum, members.len(), None);
        }
        let (cost, sum, len, end) = best?;
        members.truncate(len);
        members.extend(end);
        Some(Group { cost, sum, members })
    }

    /// The most even group of the smallest items. Items that are worth no merge with what comes
    /// next in size are left alone from here on.
    fn smallest(&mut self) -> Option<Group> {
        while self.left.len() > 1 {
            let (mut sum, mut largest) = (0, 0);
            let mut best: Option<(u64, Share, usize)> = None;
            let smallest = self.left.iter().rev().take(self.merge_factor);
            let members: Vec<usize> = smallest.map(|(_, Reverse(at))| *at).collect();
            for (before, at) in members.iter().enumerate() {
                let share = self.items[*at].share;
                (sum, largest) = (sum + share, largest.max(share));
                if before > 0
                    && let Some(cost) = self.goal.cost(sum, largest)
                    && best.is_none_or(|(least, ..)| cost <= least)
                {
                    best = Some((cost, sum, before + 1));
                }
            }
            if let Some((cost, sum, len)) = best {
                return Some(Group { cost, sum, members: members[..len].to_vec() });
            }
            self.left.pop_last();
        }
        None
    }
}
