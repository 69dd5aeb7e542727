//! What SHOW says, from manifests alone.

use std::collections::BTreeMap;

use lance_index_plan::tiers::{Candidate, MergePolicy, Tier};
use lance_table::format::IndexMetadata;
use roaring::RoaringBitmap;

use super::{
    definition::{self, type_id, type_name},
    fields,
    indexes::Indexes,
    mergeable::{self, Mergeable},
    parameters,
    snapshot::live_rows,
    version::TableVersion,
};
use crate::error::Result;

/// One index of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IndexDescription {
    pub name: String,
    /// Paths of the indexed fields.
    pub fields: String,
    pub index_type: String,
    pub indexed_fragments: u64,
    pub indexed_rows: u64,
    pub unindexed_fragments: u64,
    pub unindexed_rows: u64,
    pub segments: Vec<SegmentDescription>,
    pub state: State,
    /// Build parameters as JSON, where they are known.
    pub config: Option<String>,
    /// Where this is known from.
    pub source: String,
}

/// One segment of an index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SegmentDescription {
    pub uuid: uuid::Uuid,
    /// Live fragments that it covers.
    pub fragments: RoaringBitmap,
    pub rows: u64,
    pub bytes: Option<u64>,
    pub index_version: i32,
    pub built_at_version: u64,
    /// Milliseconds since the epoch.
    pub created_at: Option<i64>,
    /// The size tier that an OPTIMIZE finds it in; `None` where its size is unknown, and for
    /// segments that are merged by Lance alone.
    pub tier: Option<Tier>,
}

/// What maintenance an index needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It is recorded, and covers no row of a table that has some.
    Unbuilt,
    /// Some rows are unindexed.
    RefreshDue,
    /// Every row is indexed, and an OPTIMIZE would merge segments.
    OptimizeDue,
    /// Every row is indexed.
    Ready,
    /// It is recorded, and another client has dropped it.
    DroppedElsewhere,
    /// It is recorded and has no segment, and no history tells why.
    Gone,
    /// It is recorded for a column that isn't there any more, or has become another one.
    ColumnChanged,
    /// Its entries in the manifest don't fit together, or this version of Lance can't read it.
    Unreadable,
}

impl State {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Unbuilt => "unbuilt",
            Self::RefreshDue => "refresh due",
            Self::OptimizeDue => "optimize due",
            Self::Ready => "ready",
            Self::DroppedElsewhere => "dropped elsewhere",
            Self::Gone => "gone",
            Self::ColumnChanged => "column changed",
            Self::Unreadable => "unreadable",
        }
    }
}

/// The indexes of these names, each with its policy, and any others of the table that have segments;
/// by name. Opens no index file.
pub(crate) async fn indexes(
    table: &TableVersion,
    indexes: &Indexes,
    policies: &BTreeMap<String, MergePolicy>,
) -> Result<Vec<IndexDescription>> {
    let mut rows = BTreeMap::new();
    for fragment in table.dataset.fragments().iter() {
        rows.insert(fragment.id as u32, live_rows(table, fragment).await?);
    }
    let surroundings = Surroundings { table, rows, mergeable: Mergeable::of(table).await? };
    let default = MergePolicy::default();
    let policy = |name: &str| policies.get(name).unwrap_or(&default);
    let readable = indexes.readable.iter().map(|(name, segments)| (name, segments, true));
    let hidden = indexes.hidden.iter().map(|(name, segments)| (name, segments, false));
    let mut described: Vec<_> = readable
        .chain(hidden)
        .map(|(name, segments, readable)| {
            surroundings.describe(name, segments, readable, policy(name))
        })
        .collect();
    let known = |name: &String| described.iter().any(|index| index.name == *name);
    let other: Vec<_> = policies.keys().filter(|name| !known(name)).collect();
    let without = |name: &&String| surroundings.describe(name, &[], false, policy(name));
    described.extend(other.iter().map(without));
    described.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(described)
}

/// What of a table an index is described by.
struct Surroundings<'a> {
    table: &'a TableVersion,
    /// Live rows by fragment.
    rows: BTreeMap<u32, u64>,
    mergeable: Mergeable,
}

impl Surroundings<'_> {
    fn describe(
        &self,
        name: &str,
        metadata: &[IndexMetadata],
        readable: bool,
        policy: &MergePolicy,
    ) -> IndexDescription {
        let Self { table, rows, mergeable } = self;
        let live: RoaringBitmap = rows.keys().copied().collect();
        let total: u64 = rows.values().sum();
        let rows_of = |set: &RoaringBitmap| set.iter().filter_map(|id| rows.get(&id)).sum::<u64>();
        let candidates: Vec<Candidate> = metadata
            .iter()
            .map(|segment| {
                let fragments = segment.effective_fragment_bitmap(&live).unwrap_or_default();
                Candidate {
                    uuid: segment.uuid,
                    rows: rows_of(&fragments),
                    fragments,
                    bytes: segment.total_size_bytes(),
                    kind: mergeable::kind(segment, table.stable_row_ids()),
                    ineligible: mergeable.ineligible(segment),
                }
            })
            .collect();
        let segments: Vec<SegmentDescription> = metadata
            .iter()
            .zip(&candidates)
            .map(|(segment, candidate)| {
                let is_ours = definition::type_of(segment).is_some();
                SegmentDescription {
                    uuid: segment.uuid,
                    rows: candidate.rows,
                    fragments: candidate.fragments.clone(),
                    tier: policy.tier_of(candidate).filter(|_| is_ours),
                    bytes: segment.total_size_bytes(),
                    index_version: segment.index_version,
                    built_at_version: segment.dataset_version,
                    created_at: segment.created_at.map(|at| at.timestamp_millis()),
                }
            })
            .collect();
        let covered = segments.iter().fold(RoaringBitmap::new(), |all, s| all | &s.fragments);
        let indexed_rows = rows_of(&covered);
        let unindexed_fragments = live.len() - covered.len();
        let sound = readable && is_sound(table, metadata);
        let state = match () {
            _ if !sound => State::Unreadable,
            _ if covered.is_empty() && !live.is_empty() => State::Unbuilt,
            _ if unindexed_fragments > 0 => State::RefreshDue,
            _ if !policy.select(&candidates, &live).groups.is_empty() => State::OptimizeDue,
            _ => State::Ready,
        };
        let newest = metadata.last();
        IndexDescription {
            name: name.to_string(),
            fields: newest.map(|segment| field_paths(table, segment)).unwrap_or_default(),
            index_type: newest.map(type_name).unwrap_or_default(),
            indexed_fragments: covered.len(),
            indexed_rows,
            unindexed_fragments,
            unindexed_rows: total.saturating_sub(indexed_rows),
            config: newest.and_then(parameters::in_manifest),
            segments,
            state,
            source: "inferred".to_string(),
        }
    }
}

/// Whether all segments are of one type on one set of fields that the table still has, and say
/// which fragments they cover.
fn is_sound(table: &TableVersion, metadata: &[IndexMetadata]) -> bool {
    let Some(newest) = metadata.last() else { return false };
    let known = |id: &i32| table.dataset.schema().field_by_id(*id).is_some();
    newest.fields.iter().all(known)
        && metadata.iter().all(|segment| {
            segment.fields == newest.fields
                && type_id(segment) == type_id(newest)
                && segment.fragment_bitmap.is_some()
        })
}

fn field_paths(table: &TableVersion, segment: &IndexMetadata) -> String {
    let path = |id: &i32| match fields::by_id(table.dataset.schema(), *id) {
        Some(field) => field.column,
        None => format!("(field {id}, gone)"),
    };
    segment.fields.iter().map(path).collect::<Vec<_>>().join(", ")
}
