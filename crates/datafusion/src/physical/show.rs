use std::{fmt, sync::Arc};

use arrow::{
    array::{
        ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
    },
    datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit},
};
use async_trait::async_trait;
use lance_index_plan::coverage::format_ranges;

use super::answer::Answer;
use crate::{
    catalog,
    error::{Error, Result},
    settings::RunSettings,
    store::describe::{IndexDescription, SegmentDescription},
    table::Target,
};

/// `SHOW INDEXES` and `SHOW INDEX SEGMENTS`: what the manifests say.
#[derive(Debug, Clone)]
pub(crate) enum Show {
    Indexes { target: Arc<Target> },
    Segments { target: Arc<Target>, index: Option<String> },
}

impl Show {
    fn target(&self) -> &Target {
        match self {
            Self::Indexes { target } | Self::Segments { target, .. } => target,
        }
    }
}

#[async_trait]
impl Answer for Show {
    fn name(&self) -> &'static str {
        "ShowExec"
    }

    fn schema(&self) -> SchemaRef {
        match self {
            Self::Indexes { .. } => indexes_schema(),
            Self::Segments { .. } => segments_schema(),
        }
    }

    async fn answer(&self, _settings: RunSettings) -> Result<RecordBatch> {
        let described = catalog::describe(self.target().table()).await?;
        let columns = match self {
            Self::Indexes { .. } => index_columns(&described),
            Self::Segments { index, .. } => segment_columns(&described, index.as_deref()),
        };
        RecordBatch::try_new(self.schema(), columns)
            .map_err(|error| Error::internal(format!("SHOW: {error}")))
    }
}

/// The schema of what `SHOW INDEXES` answers.
pub(crate) fn indexes_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        column("name", DataType::Utf8),
        column("fields", DataType::Utf8),
        column("index_type", DataType::Utf8),
        column("num_indexed_fragments", DataType::Int64),
        column("num_indexed_rows", DataType::Int64),
        column("num_unindexed_fragments", DataType::Int64),
        column("num_unindexed_rows", DataType::Int64),
        column("indexed_percent", DataType::Float64).with_nullable(true),
        column("num_segments", DataType::Int64),
        column("size_bytes", DataType::Int64).with_nullable(true),
        column("state", DataType::Utf8),
        column("config", DataType::Utf8).with_nullable(true),
        column("source", DataType::Utf8),
    ]))
}

/// The schema of what `SHOW INDEX SEGMENTS` answers.
pub(crate) fn segments_schema() -> SchemaRef {
    let time = DataType::Timestamp(TimeUnit::Millisecond, None);
    Arc::new(Schema::new(vec![
        column("index_name", DataType::Utf8),
        column("segment", DataType::Utf8),
        column("fragments", DataType::Utf8),
        column("num_fragments", DataType::Int64),
        column("num_rows", DataType::Int64),
        column("size_bytes", DataType::Int64).with_nullable(true),
        column("index_version", DataType::Int64),
        column("built_at_version", DataType::Int64),
        column("created_at", time).with_nullable(true),
        column("tier", DataType::Utf8).with_nullable(true),
    ]))
}

fn column(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, false)
}

impl fmt::Display for Show {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Indexes { target } => write!(f, "ShowIndexes: {}", target.name()),
            Self::Segments { target, index: Some(index) } => {
                write!(f, "ShowIndexSegments: {index} ON {}", target.name())
            }
            Self::Segments { target, index: None } => {
                write!(f, "ShowIndexSegments: {}", target.name())
            }
        }
    }
}

fn text<T: Into<String>>(values: impl Iterator<Item = T>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values.map(Into::into)))
}

fn counts(values: impl Iterator<Item = u64>) -> ArrayRef {
    some_counts(values.map(Some))
}

fn some_counts(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    let count = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    Arc::new(Int64Array::from_iter(values.map(|value| value.map(count))))
}

fn index_columns(indexes: &[IndexDescription]) -> Vec<ArrayRef> {
    let all = || indexes.iter();
    let size = |index: &IndexDescription| index.segments.iter().map(|s| s.bytes).sum();
    vec![
        text(all().map(|index| index.name.as_str())),
        text(all().map(|index| index.fields.as_str())),
        text(all().map(|index| index.index_type.as_str())),
        counts(all().map(|index| index.indexed_fragments)),
        counts(all().map(|index| index.indexed_rows)),
        counts(all().map(|index| index.unindexed_fragments)),
        counts(all().map(|index| index.unindexed_rows)),
        Arc::new(Float64Array::from_iter(all().map(percent))),
        counts(all().map(|index| index.segments.len() as u64)),
        some_counts(all().map(size)),
        text(all().map(|index| index.state.as_str())),
        Arc::new(StringArray::from_iter(all().map(|index| index.config.as_deref()))),
        text(all().map(|index| index.source.as_str())),
    ]
}

/// Truncated to two decimals, so that it is never 100 while a row is missing.
fn percent(index: &IndexDescription) -> Option<f64> {
    let total = u128::from(index.indexed_rows) + u128::from(index.unindexed_rows);
    let hundredths = (u128::from(index.indexed_rows) * 10_000).checked_div(total)?;
    Some(hundredths as f64 / 100.0)
}

fn segment_columns(indexes: &[IndexDescription], only: Option<&str>) -> Vec<ArrayRef> {
    let rows: Vec<(&str, &SegmentDescription)> = indexes
        .iter()
        .filter(|index| only.is_none_or(|only| only == index.name))
        .flat_map(|index| index.segments.iter().map(|segment| (index.name.as_str(), segment)))
        .collect();
    let all = || rows.iter().map(|(_, segment)| *segment);
    let signed = |values: Vec<i64>| Arc::new(Int64Array::from(values)) as ArrayRef;
    vec![
        text(rows.iter().map(|(name, _)| *name)),
        text(all().map(|segment| segment.uuid.to_string())),
        text(all().map(|segment| format_ranges(&segment.fragments))),
        counts(all().map(|segment| segment.fragments.len())),
        counts(all().map(|segment| segment.rows)),
        some_counts(all().map(|segment| segment.bytes)),
        signed(all().map(|segment| i64::from(segment.index_version)).collect()),
        counts(all().map(|segment| segment.built_at_version)),
        Arc::new(TimestampMillisecondArray::from_iter(all().map(|segment| segment.created_at))),
        Arc::new(StringArray::from_iter(
            all().map(|segment| segment.tier.map(|it| it.to_string())),
        )),
    ]
}
