//! Reads what planning may know from the manifests.

use std::collections::BTreeMap;

use lance_index_plan::snapshot::{
    FragmentSnapshot, Index, IndexDefinition, IndexSnapshot, SegmentSnapshot,
};
use lance_table::format::{Fragment, IndexMetadata};
use roaring::RoaringBitmap;
use serde_json::Value;

use super::{
    definition, fields, indexes::Indexes, lineage, mergeable::Mergeable, types,
    version::TableVersion,
};
use crate::{
    catalog::Recorded,
    error::{Error, Result},
    index_type::{IndexType, Postings},
};

/// Which index of a table a snapshot is of.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Subject<'a> {
    /// The index name.
    pub name: &'a str,
    /// The field that the statement is about, where that is known before the index is looked up.
    pub field_id: Option<i32>,
    /// The format that new segments have turned out to get; derived if not given.
    pub format: Option<&'a str>,
    /// What the index is, where that is recorded; told from its segments if not given.
    pub recorded: Option<&'a Recorded>,
    /// Fragments that segments which stand beside the listed ones know. Where there are such
    /// segments, it matters also of other covered fragments where their rows come from.
    pub known: Option<&'a RoaringBitmap>,
}

/// The snapshot of one index in that version of the table.
///
/// Reads manifests, and row lineage that is kept in data files; opens no index file.
///
/// # Errors
/// [`NotSupported`](crate::error::ErrorKind::NotSupported) for an index that this version can't
/// maintain.
pub(crate) async fn read(table: &TableVersion, subject: Subject<'_>) -> Result<IndexSnapshot> {
    read_if(table, subject, |index_type| index_type.is_some()).await
}

/// The same for an index of any type that Lance knows.
pub(crate) async fn read_any_type(table: &TableVersion, name: &str) -> Result<IndexSnapshot> {
    let subject = Subject { name, ..Subject::default() };
    read_if(table, subject, |_| true).await
}

/// The snapshot of an index whose type is accepted; `None` is one that isn't maintained here.
async fn read_if(
    table: &TableVersion,
    subject: Subject<'_>,
    accepted: fn(Option<&IndexType>) -> bool,
) -> Result<IndexSnapshot> {
    let stable_row_ids = table.stable_row_ids();
    let indexes = Indexes::read(table).await?;
    if indexes.hidden.contains_key(subject.name) {
        return Err(Error::not_supported(format!(
            "index '{}' has segments that this version of Lance can't read; a newer one maintains \
             it, CREATE OR REPLACE INDEX makes it anew",
            subject.name
        )));
    }
    let metadata = indexes.segments(subject.name);
    let index_definition = match (subject.recorded, metadata.last()) {
        (Some(recorded), _) => Some(recorded.definition_with(subject.format)),
        (None, Some(newest)) if !accepted(definition::type_of(newest)) => {
            return Err(not_maintained(newest));
        }
        (None, Some(newest)) => Some(define(table, metadata, newest, subject.format)?),
        (None, None) => None,
    };
    let by_index = index_definition.as_ref().map(|index| index.field.id);
    let field_id = subject.field_id.or(by_index);
    let follows_rows = metadata.iter().any(|s| definition::follows_rows(s, stable_row_ids));
    let uncovered = uncovered(table, metadata);

    let index = match index_definition {
        Some(definition) => {
            let mut segments = segments(table, &definition, metadata, &uncovered).await?;
            subject.recorded.iter().for_each(|recorded| recorded.tell_apart(&mut segments));
            Some(Index { definition, segments })
        }
        None => None,
    };
    // Only what is new to a segment can make it stale.
    let mut new = uncovered;
    if let Some(known) = subject.known {
        new |= table.fragments() - known;
    }
    let lineage = (follows_rows && !new.is_empty()).then_some(&new);
    Ok(IndexSnapshot {
        version: table.number(),
        fragments: fragments(table, field_id, lineage).await?,
        index,
        field: field_id.and_then(|id| fields::by_id(table.dataset.schema(), id)),
    })
}

/// The same for an index that is to be replaced whole, so that nothing about it but its name and
/// its segments' UUIDs is of interest: it may be of any type, or broken.
pub(crate) async fn read_to_replace(
    table: &TableVersion,
    name: &str,
    field_id: Option<i32>,
) -> Result<IndexSnapshot> {
    let stable_row_ids = table.stable_row_ids();
    let field = field_id.and_then(|id| fields::by_id(table.dataset.schema(), id));
    let indexes = Indexes::read(table).await?;
    let metadata = indexes.segments(name);
    let index = match (metadata.is_empty(), &field) {
        (false, Some(field)) => Some(Index {
            definition: IndexDefinition {
                name: name.to_string(),
                field: field.clone(),
                index_type: String::new(),
                parameters: String::new(),
                format: String::new(),
                record: None,
            },
            segments: metadata
                .iter()
                .map(|metadata| definition::segment(metadata, stable_row_ids))
                .collect(),
        }),
        _ => None,
    };
    Ok(IndexSnapshot {
        version: table.number(),
        fragments: fragments(table, field_id, None).await?,
        index,
        field,
    })
}

fn not_maintained(newest: &IndexMetadata) -> Error {
    Error::not_supported(format!(
        "index '{}' is of type {}; REFRESH maintains {}, OPTIMIZE leaves the others to Lance's own \
         optimize_indices",
        newest.name,
        definition::type_name(newest),
        IndexType::names(),
    ))
}

pub(super) fn define(
    table: &TableVersion,
    metadata: &[IndexMetadata],
    newest: &IndexMetadata,
    format: Option<&str>,
) -> Result<IndexDefinition> {
    let name = &newest.name;
    let index_type = definition::type_of(newest);
    let id = match (&newest.fields[..], index_type) {
        ([id], _) => Some(*id),
        // One of another type may carry columns beside the one that it is on.
        (_, None) => newest.keyed_field(),
        (_, Some(_)) => None,
    };
    let Some(id) = id else {
        return Err(Error::not_supported(format!(
            "index '{name}' carries more than one column; Lance's own optimize_indices \
             maintains it"
        )));
    };
    let alike = |segment: &IndexMetadata| {
        segment.fields == newest.fields && definition::type_of(segment) == index_type
    };
    if !metadata.iter().all(alike) {
        return Err(Error::invalid(format!(
            "the segments of index '{name}' are not all of one type on one column; \
             CREATE OR REPLACE INDEX makes it anew"
        )));
    }
    let field = fields::by_id(table.dataset.schema(), id).ok_or_else(|| {
        Error::invalid(format!("the column of index '{name}' is gone; DROP INDEX ends the index"))
    })?;
    let stable_row_ids = table.stable_row_ids();
    let format = match (format, index_type) {
        (Some(format), _) => format.to_string(),
        (None, Some(index_type)) => definition::format_beside(index_type, newest, stable_row_ids),
        (None, None) => definition::format_of(newest, stable_row_ids),
    };
    Ok(IndexDefinition {
        name: name.clone(),
        field,
        index_type: definition::type_name(newest),
        parameters: Value::Object(Default::default()).to_string(),
        format,
        record: None,
    })
}

async fn segments(
    table: &TableVersion,
    definition: &IndexDefinition,
    metadata: &[IndexMetadata],
    uncovered: &RoaringBitmap,
) -> Result<Vec<SegmentSnapshot>> {
    let stable_row_ids = table.stable_row_ids();
    let believed = IndexType::by_name(&definition.index_type)
        .is_none_or(|index_type| index_type.postings != Postings::Candidates)
        && !metadata.iter().all(types::is_vector);
    let rewritten = if believed {
        lineage::rewritten(table, definition.field.id, metadata, uncovered).await?
    } else {
        vec![RoaringBitmap::new(); metadata.len()]
    };
    // As with lineage; a rewritten fragment that is covered is covered anew.
    let new = !uncovered.is_empty() || rewritten.iter().any(|r| !r.is_empty());
    let sources = if !new {
        BTreeMap::new()
    } else {
        let follow = metadata.iter().filter(|s| definition::follows_rows(s, stable_row_ids));
        lineage::sources(table, follow.map(|segment| segment.dataset_version)).await?
    };
    let mergeable = Mergeable::of(table).await?;
    let segments = metadata.iter().zip(rewritten).map(|(metadata, rewritten)| SegmentSnapshot {
        rewritten,
        merging: mergeable.merging(metadata),
        source: sources.get(&metadata.dataset_version).cloned(),
        ..definition::segment(metadata, stable_row_ids)
    });
    Ok(segments.collect())
}

/// The live fragments that no segment declares.
fn uncovered(table: &TableVersion, metadata: &[IndexMetadata]) -> RoaringBitmap {
    let declared = metadata.iter().filter_map(|segment| segment.fragment_bitmap.as_ref());
    declared.fold(table.fragments(), |live, declared| live - declared)
}

/// The live fragments; with `lineage`, where their rows come from: of those in that set all that is
/// recorded, of the others their row ids.
async fn fragments(
    table: &TableVersion,
    field_id: Option<i32>,
    lineage: Option<&RoaringBitmap>,
) -> Result<Vec<FragmentSnapshot>> {
    let ids =
        field_id.map(|id| fields::related_ids(table.dataset.schema(), id)).unwrap_or_default();
    let mut fragments = Vec::with_capacity(table.dataset.fragments().len());
    for fragment in table.dataset.fragments().iter() {
        fragments.push(FragmentSnapshot {
            id: fragment.id as u32,
            live_rows: live_rows(table, fragment).await?,
            field_files: fields::files_of(fragment, &ids),
            rows: match lineage {
                Some(full) => {
                    let full = full.contains(fragment.id as u32);
                    Some(lineage::row_origins(table, fragment, full).await?)
                }
                None => None,
            },
        });
    }
    fragments.sort_by_key(|fragment| fragment.id);
    Ok(fragments)
}

/// The rows of the fragment that are not deleted. Only for fragments of old versions of Lance is
/// anything but the manifest read.
pub(crate) async fn live_rows(table: &TableVersion, fragment: &Fragment) -> Result<u64> {
    if let Some(rows) = fragment.num_rows() {
        return Ok(rows as u64);
    }
    let failed =
        |error| Error::failed(format!("counting the rows of fragment {}", fragment.id), error);
    let Some(fragment) = table.dataset.get_fragment(fragment.id as usize) else {
        return Ok(0);
    };
    Ok(fragment.count_rows(None).await.map_err(failed)? as u64)
}
