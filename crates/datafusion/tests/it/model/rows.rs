//! The rows of a model table, and how each of their values looks in its column.

use std::{collections::BTreeMap, sync::Arc};

use arrow::array::{
    ArrayRef, Float64Array, Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder,
};

use crate::support::nullable;

/// A value, of which each column makes its own; `None` is NULL.
pub type Value = Option<u8>;

/// The values are below this.
pub const VALUES: u8 = 12;

pub struct Column {
    pub name: &'static str,
    /// The method of the index on it.
    pub method: &'static str,
    /// An option of the method with some of its values.
    pub option: (&'static str, &'static [&'static str]),
}

pub const COLUMNS: [Column; 8] = [
    Column { name: "bt", method: "btree", option: ("zone_size", &["16", "4096"]) },
    Column { name: "bm", method: "bitmap", option: ("num_segments", &["1", "2"]) },
    Column { name: "ll", method: "label_list", option: ("num_segments", &["1", "2"]) },
    Column { name: "ng", method: "ngram", option: ("num_segments", &["1", "3"]) },
    Column { name: "zm", method: "zonemap", option: ("rows_per_zone", &["4", "64"]) },
    Column { name: "bf", method: "bloomfilter", option: ("number_of_items", &["8", "1000"]) },
    // With the second, it answers `contains_tokens`.
    Column {
        name: "ft",
        method: "fts",
        option: ("stem", &["true", "false, max_token_length = NULL"]),
    },
    Column { name: "fm", method: "fm", option: ("num_segments", &["1", "2"]) },
];

/// None of them is a stop word, or another one's stem.
const WORDS: [&str; VALUES as usize] = [
    "amber", "birch", "cedar", "drift", "ember", "flint", "grotto", "heron", "inlet", "knoll",
    "maroon", "quartz",
];

/// The rows of a table by their ids.
pub type Rows = BTreeMap<i64, [Value; COLUMNS.len()]>;

fn double(value: u8) -> f64 {
    match value {
        0 => -2.5,
        1 => 0.0,
        2 => f64::INFINITY,
        value => f64::from(value) / 4.0,
    }
}

fn text(value: u8) -> String {
    format!("{} {}", word(value), word((value + 5) % VALUES))
}

pub fn word(value: u8) -> &'static str {
    WORDS[usize::from(value)]
}

fn labels(value: u8) -> [String; 2] {
    [format!("l{value}"), format!("l{}", (value + 1) % VALUES)]
}

/// The values of one column.
pub fn array(column: usize, values: impl Iterator<Item = Value>) -> ArrayRef {
    match COLUMNS[column].name {
        "bt" => Arc::new(Float64Array::from_iter(values.map(|value| value.map(double)))),
        "zm" => Arc::new(Int64Array::from_iter(values.map(|value| value.map(i64::from)))),
        "ll" => {
            let mut lists = ListBuilder::new(StringBuilder::new());
            for value in values {
                value.iter().flat_map(|value| labels(*value)).for_each(|label| {
                    lists.values().append_value(label);
                });
                lists.append(value.is_some());
            }
            Arc::new(lists.finish())
        }
        "bm" | "bf" => Arc::new(StringArray::from_iter(
            values.map(|value| value.map(|value| format!("v{value}"))),
        )),
        _ => Arc::new(StringArray::from_iter(values.map(|value| value.map(text)))),
    }
}

/// The rows as a batch, in order of their ids.
pub fn batch(rows: &Rows) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.keys().copied()));
    let columns = COLUMNS
        .iter()
        .enumerate()
        .map(|(at, column)| (column.name, array(at, rows.values().map(move |values| values[at]))));
    nullable([("id", ids)].into_iter().chain(columns).collect())
}

/// The value as SQL has it.
pub fn literal(column: usize, value: Value) -> String {
    let Some(value) = value else { return "NULL".to_string() };
    match COLUMNS[column].name {
        "bt" if value == 2 => "'Infinity'::double".to_string(),
        "bt" => format!("{:?}", double(value)),
        "zm" => value.to_string(),
        "ll" => format!("make_array('{}')", labels(value).join("', '")),
        "bm" | "bf" => format!("'v{value}'"),
        _ => format!("'{}'", text(value)),
    }
}

/// A predicate that an index on the column may answer, negated once in a while.
pub fn predicate(column: usize, value: u8, kind: u8) -> String {
    let predicate = plain_predicate(column, value, kind);
    if kind < 210 { predicate } else { format!("NOT ({predicate})") }
}

fn plain_predicate(column: usize, value: u8, kind: u8) -> String {
    let name = COLUMNS[column].name;
    let is = literal(column, Some(value));
    let other = literal(column, Some((value + 3) % VALUES));
    match (name, kind % 4) {
        ("bt" | "zm", 1) => format!("{name} < {is}"),
        ("bt" | "zm", 2) => format!("{name} >= {is}"),
        ("bt" | "zm" | "bm" | "bf", 3) => format!("{name} IS NULL"),
        ("bt" | "zm" | "bm" | "bf", 0) => format!("{name} = {is}"),
        ("bt" | "zm" | "bm" | "bf", _) => format!("{name} IN ({is}, {other})"),
        ("ll", 0 | 1) => format!("array_has(ll, 'l{value}')"),
        ("ll", _) => format!("array_has_any(ll, ['l{value}', 'l{}'])", (value + 4) % VALUES),
        ("ft", 0 | 1) => format!("contains_tokens(ft, '{}')", word(value)),
        ("ft", _) => {
            format!("contains_tokens(ft, '{} {}')", word((value + 5) % VALUES), word(value))
        }
        (name, 0) => format!("contains({name}, '{}')", &word(value)[..4]),
        (name, _) => format!("contains({name}, '{}')", word(value)),
    }
}
