//! Plans: which segments to write, and which existing ones they supersede.

mod create;
mod optimize;
mod refresh;
mod resume;
mod sizing;

use std::fmt;

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use create::plan_create;
pub use optimize::plan_optimize;
pub use refresh::plan_refresh;
pub(crate) use resume::are_unchanged;
pub use resume::build_on;
pub use sizing::{DEFAULT_ROWS_PER_SEGMENT, Parallelism, Sizing};

use crate::{
    coverage::format_ranges,
    snapshot::{IndexDefinition, SegmentSnapshot},
    tiers::Skipped,
    work::WorkUnit,
};

/// What a statement does to one index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MaintenancePlan {
    /// The table version that the plan was made from, and that its units read.
    pub read_version: u64,
    /// Which statement it is for.
    pub action: Action,
    /// What the new segments are made to be.
    pub definition: IndexDefinition,
    /// The segments that the index had at `read_version`: by them it is known again later.
    pub segments: Vec<Uuid>,
    /// The segments to write: over what is unindexed first, in order of its ids, then merges.
    pub units: Vec<WorkUnit>,
    /// Existing segments that the units' outputs replace, each with its reason.
    pub superseded: Vec<Superseded>,
    /// Existing segments with no live fragment left, to be removed beside an addition.
    pub retired: Vec<Uuid>,
    /// Existing segments that an OPTIMIZE leaves as they are, each with its reason.
    pub skipped: Vec<Skipped>,
}

/// The statement that a plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// `CREATE INDEX`: there must be no index of that name when it is published.
    Create,
    /// `CREATE OR REPLACE INDEX`: every segment of that name is replaced.
    Replace,
    /// `REFRESH INDEX`: cover what is unindexed.
    Refresh,
    /// `OPTIMIZE INDEX`: the same, and merge similar segments.
    Optimize,
}

impl Action {
    /// Whether it goes on with the index that is there; otherwise it makes a new one.
    pub fn continues(self) -> bool {
        match self {
            Self::Create | Self::Replace => false,
            Self::Refresh | Self::Optimize => true,
        }
    }
}

/// An existing segment that new ones replace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Superseded {
    /// The segment's UUID.
    pub uuid: Uuid,
    /// Why it goes.
    pub reason: Reason,
}

/// Why an existing segment is replaced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Reason {
    /// `CREATE OR REPLACE`.
    Replaced,
    /// It may hold postings of rows that are now in these unindexed fragments, with another value.
    Stale {
        /// Unindexed fragments that hold rows which the segment indexed before they changed.
        fragments: RoaringBitmap,
    },
    /// Its on-disk format is not the one that new segments get, and the two can't stand beside
    /// each other.
    OtherFormat {
        /// The format of the segment.
        found: String,
        /// The format of a new segment.
        expected: String,
    },
    /// It doesn't say which fragments it covers.
    Untracked,
    /// Another segment of the index has to be replaced, and that takes all of them.
    WithOthers,
    /// It is merged with others of its tier.
    Merged,
    /// The same, and as Lance can't merge all of them, their rows are indexed anew.
    MergedFromRows {
        /// Why Lance can't, if it is for this segment.
        why: Option<String>,
    },
}

impl Reason {
    /// Whether the segment is merged with others only for their size.
    pub fn is_merge(&self) -> bool {
        matches!(self, Self::Merged | Self::MergedFromRows { .. })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replaced => write!(f, "the index is replaced"),
            Self::Stale { fragments } => write!(
                f,
                "stale: may hold earlier values of rows now in fragments [{}]",
                format_ranges(fragments)
            ),
            Self::OtherFormat { found, expected } => {
                write!(f, "its format {found} can't stand beside {expected}")
            }
            Self::Untracked => write!(f, "it doesn't say which fragments it covers"),
            Self::WithOthers => write!(f, "the whole index is rebuilt"),
            Self::Merged => write!(f, "merged"),
            Self::MergedFromRows { why: Some(why) } => write!(f, "merged from rows: {why}"),
            Self::MergedFromRows { why: None } => write!(f, "merged from rows, with others"),
        }
    }
}

impl MaintenancePlan {
    /// Whether the plan changes nothing.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Every fragment that the units' segments cover.
    pub fn fragments(&self) -> RoaringBitmap {
        self.units.iter().fold(RoaringBitmap::new(), |all, unit| all | &unit.fragments)
    }

    /// Whether the plan supersedes the segment.
    pub fn supersedes(&self, uuid: Uuid) -> bool {
        self.superseded.iter().any(|superseded| superseded.uuid == uuid)
    }
}

fn uuids(segments: &[SegmentSnapshot]) -> Vec<Uuid> {
    segments.iter().map(|segment| segment.uuid).collect()
}

/// For the tests of plans.
#[cfg(test)]
mod testing {
    use super::*;
    use crate::snapshot::{FragmentSnapshot, testing::fragment};

    pub(super) const ONE: Parallelism = Parallelism { num_segments: None, target_partitions: 4 };

    pub(super) fn three() -> Vec<FragmentSnapshot> {
        vec![fragment(0, 10), fragment(1, 10), fragment(2, 10)]
    }

    /// The fragments of each unit.
    pub(super) fn ids(plan: &MaintenancePlan) -> Vec<String> {
        plan.units.iter().map(|unit| format_ranges(&unit.fragments)).collect()
    }
}
