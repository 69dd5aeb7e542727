//! The index types: what is known of each, in one table.

use std::fmt;

/// An index type that can be created and refreshed.
#[derive(Debug, PartialEq)]
pub struct IndexType {
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

const fn parameter(name: &'static str, values: Values) -> Parameter {
    Parameter { name, values }
}

const ROWS: Values = Values::Integer { min: 1, max: u32::MAX as u64 };
const LENGTH_LIMIT: Values = Values::Limit { min: 1, max: u16::MAX as u64 };
const LENGTH: Values = Values::Integer { min: 1, max: u16::MAX as u64 };

/// Every index type there is, in the order in which errors list them.
pub static INDEX_TYPES: [IndexType; 8] = [
    IndexType {
        name: "btree",
        synonyms: &[],
        lance_name: "BTREE",
        type_url: "/lance.table.BTreeIndexDetails",
        postings: Postings::Addresses,
        merge: Merge::Exact,
        parameters: &[parameter("zone_size", ROWS)],
    },
    IndexType {
        name: "bitmap",
        synonyms: &[],
        lance_name: "BITMAP",
        type_url: "/lance.table.BitmapIndexDetails",
        postings: Postings::RowIds,
        merge: Merge::Exact,
        parameters: &[],
    },
    IndexType {
        name: "label_list",
        synonyms: &["labellist"],
        lance_name: "LABELLIST",
        type_url: "/lance.table.LabelListIndexDetails",
        postings: Postings::RowIds,
        merge: Merge::Exact,
        parameters: &[],
    },
    IndexType {
        name: "ngram",
        synonyms: &[],
        lance_name: "NGRAM",
        type_url: "/lance.table.NGramIndexDetails",
        postings: Postings::Candidates,
        merge: Merge::OfLiveFragments,
        parameters: &[],
    },
    IndexType {
        name: "zonemap",
        synonyms: &["zone_map"],
        lance_name: "ZONEMAP",
        type_url: "/lance.table.ZoneMapIndexDetails",
        postings: Postings::Addresses,
        merge: Merge::Exact,
        parameters: &[parameter("rows_per_zone", ROWS)],
    },
    IndexType {
        name: "bloomfilter",
        synonyms: &["bloom_filter"],
        lance_name: "BLOOMFILTER",
        type_url: "/lance.index.pb.BloomFilterIndexDetails",
        postings: Postings::Addresses,
        merge: Merge::Exact,
        parameters: &[
            parameter("number_of_items", ROWS),
            parameter("probability", Values::Between { above: 0.0, below: 1.0 }),
        ],
    },
    IndexType {
        name: "fts",
        synonyms: &["inverted"],
        lance_name: "INVERTED",
        type_url: "/lance.table.InvertedIndexDetails",
        postings: Postings::RowIds,
        merge: Merge::KeepsDeleted,
        parameters: &[
            parameter("lance_tokenizer", Values::Text),
            parameter("base_tokenizer", Values::Text),
            parameter("language", Values::Text),
            parameter("with_position", Values::Boolean),
            parameter("max_token_length", LENGTH_LIMIT),
            parameter("lower_case", Values::Boolean),
            parameter("stem", Values::Boolean),
            parameter("remove_stop_words", Values::Boolean),
            parameter("ascii_folding", Values::Boolean),
            parameter("min_ngram_length", LENGTH),
            parameter("max_ngram_length", LENGTH),
            parameter("prefix_only", Values::Boolean),
            parameter("block_size", LENGTH),
            parameter("split_identifiers", Values::Boolean),
            parameter("split_on_numerics", Values::Boolean),
            parameter("preserve_original", Values::Boolean),
            parameter("index_operators", Values::Boolean),
        ],
    },
    IndexType {
        name: "fm",
        synonyms: &[],
        lance_name: "FM",
        type_url: "/lance.index.pb.FMIndexDetails",
        postings: Postings::Addresses,
        merge: Merge::Rebuild,
        parameters: &[],
    },
];

impl IndexType {
    /// The index type of that name or synonym, whatever its case.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        INDEX_TYPES.iter().find(|index_type| {
            let mut names = index_type.synonyms.iter().chain([&index_type.name]);
            names.any(|known| known.eq_ignore_ascii_case(name))
        })
    }

    /// The names of all types, for messages.
    pub fn names() -> String {
        let names: Vec<&str> = INDEX_TYPES.iter().map(|index_type| index_type.name).collect();
        names.join(", ")
    }

    /// The index type whose details have that type URL, in whatever package a version of Lance
    /// has kept them.
    pub fn by_type_url(type_url: &str) -> Option<&'static Self> {
        INDEX_TYPES
            .iter()
            .find(|index_type| message(index_type.type_url).eq_ignore_ascii_case(message(type_url)))
    }
}

/// The message name at the end of a type URL.
fn message(type_url: &str) -> &str {
    type_url.rsplit(['.', '/']).next().unwrap_or(type_url)
}

/// What to call an index whose details have that type URL but whose type is not among
/// [`INDEX_TYPES`]: `/lance.table.VectorIndexDetails` is `vector`.
pub fn name_of_unknown(type_url: &str) -> String {
    let name = message(type_url).to_ascii_lowercase();
    name.strip_suffix("indexdetails").unwrap_or(&name).to_string()
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
    fn details_of_other_versions() {
        let old = IndexType::by_type_url("/lance.index.pb.BTreeIndexDetails").unwrap();
        assert_eq!(old.name, "btree");
        assert_eq!(name_of_unknown("/lance.table.VectorIndexDetails"), "vector");
    }
}
