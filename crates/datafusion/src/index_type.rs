//! What is known of an index type.

use std::fmt;

use lance_index_plan::snapshot::IndexDefinition;
use serde_json::Value;

pub(crate) use crate::store::types::DEFAULT_TYPE;
pub use crate::store::types::INDEX_TYPES;
use crate::{
    error::{Error, Result},
    store::types::storage::Storage,
};

/// What the ids of Lance's own types begin with.
pub(crate) const LANCE: &str = "lance:";

/// An index type that can be created and refreshed.
#[derive(Debug)]
pub struct IndexType {
    /// Identifies it in the record of an index. Never changes.
    pub id: &'static str,
    /// Its name in SQL and in every output.
    pub name: &'static str,
    /// Other names that SQL takes for it.
    pub synonyms: &'static [&'static str],
    /// Its name in Lance's `IndexType`.
    pub lance_name: &'static str,
    /// The type URL of the details that this version of Lance writes for it.
    pub type_url: &'static str,
    /// What its postings are.
    pub postings: Postings,
    /// What Lance's merge of its segments is.
    pub merge: Merge,
    /// Its build parameters, by the names that Lance reads.
    pub parameters: &'static [Parameter],
    /// What else is particular to it in Lance.
    pub(crate) storage: &'static dyn Storage,
}

impl PartialEq for IndexType {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// What the postings of an index type are, and so, when they are no longer true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Postings {
    /// Addresses (fragment and offset) of rows, some of which at least are believed without a look
    /// at the row, as zone maps and bloom filters do with nulls. Wrong after the indexed column is
    /// rewritten in place.
    Addresses,
    /// Row ids, believed without a look at the row. Wrong after an in-place rewrite, and, with
    /// stable row ids, after an update moved the row.
    RowIds,
    /// Candidates: the scan looks at each row again. Never wrong.
    Candidates,
}

/// What Lance's merge of segments of a type is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// It merges postings. Those of rows that were deleted since are left out, or change no answer.
    Exact,
    /// The same, but segments that cover a fragment which is gone are refused.
    OfLiveFragments,
    /// It merges postings, and keeps those of deleted rows, which queries count in the scores of
    /// others.
    KeepsDeleted,
    /// It indexes the rows anew.
    Rebuild,
}

/// A build parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// The option's name, which is also its key in Lance's JSON parameters.
    pub name: &'static str,
    /// The values that it takes.
    pub values: Values,
}

/// The values that an option takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Values {
    /// Whole numbers from `min` to `max`, both included.
    Integer {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// The same, or NULL where there is to be no limit.
    Limit {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// Numbers between `above` and `below`, both excluded.
    Between {
        /// The lower bound.
        above: f64,
        /// The upper bound.
        below: f64,
    },
    /// Numbers from 0 to 1, both included.
    Fraction,
    /// Lengths of time, as `7 days` or `1 day 12 hours`.
    Duration,
    /// `true` or `false`.
    Boolean,
    /// A string.
    Text,
}

impl Values {
    /// Whether this is one of them, as Lance's parameters have it.
    pub(crate) fn have(&self, value: &Value) -> bool {
        let is_within =
            |min: u64, max: u64| value.as_u64().is_some_and(|it| min <= it && it <= max);
        let number = value.as_f64();
        match *self {
            Self::Integer { min, max } => is_within(min, max),
            Self::Limit { min, max } => value.is_null() || is_within(min, max),
            Self::Between { above, below } => number.is_some_and(|it| above < it && it < below),
            Self::Fraction => number.is_some_and(|it| (0.0..=1.0).contains(&it)),
            Self::Duration => value.is_u64(),
            Self::Boolean => value.is_boolean(),
            Self::Text => value.is_string(),
        }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Limit { min, max } => {
                write!(f, "a whole number from {min} to {max}, or NULL for no limit")
            }
            Self::Between { above, below } => {
                write!(f, "a number above {above} and below {below}")
            }
            Self::Fraction => write!(f, "a number from 0 to 1"),
            Self::Duration => write!(
                f,
                "a length of time in weeks, days, hours, minutes or seconds, as '7 days' or \
                 '1 day 12 hours'"
            ),
            Self::Boolean => write!(f, "true or false"),
            Self::Text => write!(f, "a string"),
        }
    }
}

/// Rows of which Lance makes one zone or block.
pub(crate) const ROWS: Values = Values::Integer { min: 1, max: u32::MAX as u64 };

impl IndexType {
    fn find(is_it: impl Fn(&Self) -> bool) -> Option<&'static Self> {
        INDEX_TYPES.iter().copied().find(|index_type| is_it(index_type))
    }

    /// The index type of that name or synonym, whatever its case.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        Self::find(|index_type| {
            let mut names = index_type.synonyms.iter().chain([&index_type.name]);
            names.any(|known| known.eq_ignore_ascii_case(name))
        })
    }

    /// The index type of that id.
    pub fn by_id(id: &str) -> Option<&'static Self> {
        Self::find(|index_type| index_type.id == id)
    }

    /// The type of an index that is maintained here.
    pub(crate) fn of(definition: &IndexDefinition) -> Result<&'static Self> {
        let name = &definition.index_type;
        Self::by_name(name).ok_or_else(|| Error::internal(format!("no index type {name}")))
    }

    /// The names of all types, for messages.
    pub fn names() -> String {
        let names: Vec<&str> = INDEX_TYPES.iter().map(|index_type| index_type.name).collect();
        names.join(", ")
    }

    /// The index type whose details have that type URL, in whatever package a version of Lance
    /// has kept them.
    pub fn by_type_url(type_url: &str) -> Option<&'static Self> {
        Self::find(|index_type| {
            message(index_type.type_url).eq_ignore_ascii_case(message(type_url))
        })
    }
}

/// The message name at the end of a type URL.
fn message(type_url: &str) -> &str {
    type_url.rsplit(['.', '/']).next().unwrap_or(type_url)
}

/// The id of an index whose details have that type URL but whose type is not among
/// [`INDEX_TYPES`]: that of `/lance.table.VectorIndexDetails` is `lance:vector`.
pub(crate) fn id_of_unknown(type_url: &str) -> String {
    let name = message(type_url).to_ascii_lowercase();
    format!("{LANCE}{}", name.strip_suffix("indexdetails").unwrap_or(&name))
}

/// Whether an index method of that name would be one of Lance's vector indexes.
pub(crate) fn is_vector_method(name: &str) -> bool {
    let name = name.to_lowercase();
    ["ivf", "hnsw", "vector", "pq"].iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(IndexType::by_name("BTree").unwrap().name, "btree");
        assert_eq!(IndexType::by_name("inverted"), IndexType::by_name("FTS"));
        assert!(IndexType::by_name("gin").is_none());
    }

    #[test]
    fn each_is_another() {
        for index_type in INDEX_TYPES {
            assert_eq!(index_type.id, format!("{LANCE}{}", index_type.name));
            assert_eq!(IndexType::by_id(index_type.id), Some(*index_type));
            assert_eq!(IndexType::by_type_url(index_type.type_url), Some(*index_type));
            for name in index_type.synonyms.iter().chain([&index_type.name]) {
                assert_eq!(IndexType::by_name(name), Some(*index_type));
            }
        }
        assert_eq!(IndexType::by_id("acme:geo"), None);
    }

    #[test]
    fn details_of_other_versions() {
        let old = IndexType::by_type_url("/lance.index.pb.BTreeIndexDetails").unwrap();
        assert_eq!(old.name, "btree");
        assert_eq!(id_of_unknown("/lance.table.VectorIndexDetails"), "lance:vector");
    }
}
