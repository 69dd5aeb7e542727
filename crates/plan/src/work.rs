//! Units of work: what one attempt builds.

use std::fmt;

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{coverage::format_ranges, tiers::Tier};

/// One segment to be written. Units are independent of each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkUnit {
    /// The ordinal of the unit in its statement.
    pub work_id: u32,
    /// What the segment is made from.
    pub work: Work,
    /// The fragments that the segment covers. None: the segment holds no row and only records the
    /// index's definition.
    pub fragments: RoaringBitmap,
    /// Live rows of these fragments.
    pub rows: u64,
    /// The size that the segment should have, in bytes; `None` where nothing tells.
    pub bytes: Option<u64>,
}

/// What a segment is made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Work {
    /// From the rows of its fragments.
    BuildCoverage,
    /// From the postings of other segments.
    MergeSegments {
        /// The tier that they are in.
        tier: Tier,
        /// The segments, in order of their lowest fragment.
        inputs: Vec<MergeInput>,
    },
}

/// A segment that is merged with others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeInput {
    /// The segment's UUID.
    pub uuid: Uuid,
    /// The live fragments that it covers.
    pub fragments: RoaringBitmap,
}

impl WorkUnit {
    /// The segments that it merges; none if it builds from rows.
    pub fn inputs(&self) -> &[MergeInput] {
        match &self.work {
            Work::BuildCoverage => &[],
            Work::MergeSegments { inputs, .. } => inputs,
        }
    }

    /// Whether it reads the rows of its fragments.
    pub fn reads_rows(&self) -> bool {
        self.work == Work::BuildCoverage
    }
}

/// `BuildCoverage unit=0 fragments=[0-3,7] rows=1200`, and for a merge also its tier and segments;
/// both with the expected bytes, where they are known.
impl fmt::Display for WorkUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { work_id, work, fragments, rows, bytes } = self;
        match work {
            Work::BuildCoverage => write!(f, "BuildCoverage unit={work_id}")?,
            Work::MergeSegments { tier, inputs } => {
                write!(f, "MergeSegments unit={work_id} tier={tier} segments=[")?;
                for (at, input) in inputs.iter().enumerate() {
                    write!(f, "{}{}", if at == 0 { "" } else { "," }, input.uuid)?;
                }
                write!(f, "]")?;
            }
        }
        write!(f, " fragments=[{}] rows={rows}", format_ranges(fragments))?;
        bytes.map_or(Ok(()), |bytes| write!(f, " bytes~{bytes}"))
    }
}
