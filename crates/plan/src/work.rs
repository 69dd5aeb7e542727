//! Units of work: what one attempt builds.

use std::fmt;

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use crate::coverage::format_ranges;

/// One segment to be written. Units are independent of each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkUnit {
    /// The ordinal of the unit in its statement.
    pub work_id: u32,
    /// The fragments whose rows the segment indexes. None: the segment holds no row and only
    /// records the index's definition.
    pub fragments: RoaringBitmap,
    /// Live rows of these fragments.
    pub rows: u64,
}

/// `BuildCoverage unit=0 fragments=[0-3,7] rows=1200`
impl fmt::Display for WorkUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { work_id, fragments, rows } = self;
        let fragments = format_ranges(fragments);
        write!(f, "BuildCoverage unit={work_id} fragments=[{fragments}] rows={rows}")
    }
}
