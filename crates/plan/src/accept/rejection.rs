use std::fmt;

use roaring::RoaringBitmap;
use uuid::Uuid;

use crate::{coverage::format_ranges, plan::Action};

/// One reason why outcomes can't be committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// The index is gone, or what bears its name is another index.
    Dropped,
    /// `CREATE INDEX`, and an index of that name has come into being meanwhile.
    NameTaken,
    /// The index is of another type, or on another field, than it was.
    Redefined,
    /// The indexed field is gone, or has another type.
    FieldChanged,
    /// A unit has no outcome, or more than one, or one that covers other fragments than asked.
    BadOutcome {
        /// The unit.
        work_id: u32,
    },
    /// All fragments of the statement were retired by others.
    AllRetired,
    /// An outcome can't stand beside the segments that the index has now.
    OtherFormat {
        /// The outcome.
        uuid: Uuid,
    },
    /// What an outcome was merged from is gone, or covers more or less by now.
    InputsChanged {
        /// The outcome.
        uuid: Uuid,
    },
    /// The indexed column was rewritten in these fragments after they were read.
    Rewritten {
        /// The outcome.
        uuid: Uuid,
        /// The fragments.
        fragments: RoaringBitmap,
    },
    /// A segment, new or existing, may hold earlier values of rows in fragments that another one
    /// of the index covers.
    Stale {
        /// The segment.
        uuid: Uuid,
        /// Where the rows are now.
        fragments: RoaringBitmap,
    },
    /// An existing segment that the plan supersedes covers more by now than the outcomes do.
    Torn {
        /// The existing segment.
        uuid: Uuid,
        /// What only it covers.
        fragments: RoaringBitmap,
    },
    /// An existing segment that the plan doesn't supersede covers fragments of an outcome.
    Overlap {
        /// The outcome.
        uuid: Uuid,
        /// What both cover.
        fragments: RoaringBitmap,
    },
}

impl Rejection {
    /// Whether a new plan for the same action can get past it; otherwise the statement fails.
    pub fn can_replan(&self, action: Action) -> bool {
        match self {
            Self::Dropped
            | Self::NameTaken
            | Self::Redefined
            | Self::FieldChanged
            | Self::BadOutcome { .. } => false,
            // Segments that were to be merged are there, at other fragments.
            Self::AllRetired => action == Action::Optimize,
            Self::OtherFormat { .. }
            | Self::InputsChanged { .. }
            | Self::Rewritten { .. }
            | Self::Stale { .. }
            | Self::Torn { .. }
            | Self::Overlap { .. } => true,
        }
    }

    /// The outcome or existing segment that it is about.
    pub(super) fn uuid(&self) -> Option<Uuid> {
        match self {
            Self::OtherFormat { uuid }
            | Self::InputsChanged { uuid }
            | Self::Rewritten { uuid, .. }
            | Self::Stale { uuid, .. }
            | Self::Overlap { uuid, .. } => Some(*uuid),
            _ => None,
        }
    }
}

/// What happened, to be put after the index's name: `index i ...`.
impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = format_ranges;
        match self {
            Self::Dropped => write!(f, "was dropped while the statement ran"),
            Self::NameTaken => write!(f, "was created by another client while the statement ran"),
            Self::Redefined => {
                write!(f, "was replaced by one of another type or column while the statement ran")
            }
            Self::FieldChanged => {
                write!(f, "lost its column, or the column's type changed, while the statement ran")
            }
            Self::BadOutcome { work_id } => {
                write!(f, "got no single, complete segment from unit {work_id}")
            }
            Self::AllRetired => {
                write!(f, "got segments only for fragments that others have since replaced")
            }
            Self::OtherFormat { uuid } => {
                write!(f, "has segments beside which the new segment {uuid} can't stand")
            }
            Self::InputsChanged { uuid } => {
                write!(f, "got segment {uuid}, but others have replaced what it was merged from")
            }
            Self::Rewritten { uuid, fragments } => write!(
                f,
                "got segment {uuid}, but its column was rewritten in fragments [{}]",
                ranges(fragments)
            ),
            Self::Stale { uuid, fragments } => write!(
                f,
                "has segment {uuid}, which may hold earlier values of rows in fragments [{}]",
                ranges(fragments)
            ),
            Self::Torn { uuid, fragments } => write!(
                f,
                "has segment {uuid}, which has come to cover fragments [{}] as well",
                ranges(fragments)
            ),
            Self::Overlap { uuid, fragments } => write!(
                f,
                "got segment {uuid}, but fragments [{}] are covered by another one",
                ranges(fragments)
            ),
        }
    }
}
