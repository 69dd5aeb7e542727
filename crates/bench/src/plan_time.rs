//! How long planning takes, and how that grows.

use std::time::{Duration, Instant};

use lance_index_plan::{
    error::PlanError,
    plan::plan_optimize,
    snapshot::{
        FragmentSnapshot, Index, IndexDefinition, IndexSnapshot, IndexedField, Merging, RowOrigins,
        SegmentSnapshot,
    },
    tiers::MergePolicy,
};
use rand::{Rng, SeedableRng, rngs::StdRng};
use roaring::RoaringBitmap;
use uuid::Uuid;

use crate::Result;

const TARGET_ROWS: u64 = 1_000_000;
const FRAGMENTS_PER_SEGMENT: u32 = 100;

/// Sizes of segments: a name, and the least and the most rows, spread evenly over the logarithm.
const SIZES: [(&str, u64, u64); 4] = [
    ("equal", 20_000, 20_000),
    ("all tiers", 100, 2_000_000),
    ("the floor", 100, 9_000),
    ("the highest tier", 130_000, 990_000),
];

/// A table in Markdown.
pub(crate) fn measure() -> Result<String> {
    let mut table = String::from(
        "| sizes | merge factor | 1,000 segments over 100,000 fragments, ms | 10,000 over 1,000,000, ms | ratio |\n\
         |---|---:|---:|---:|---:|\n",
    );
    for (name, least, most) in SIZES {
        for merge_factor in [2, 8, 1000] {
            let policy = MergePolicy::new(Some(TARGET_ROWS), Some(1 << 30), merge_factor)?;
            let small = time(&policy, &snapshot(1_000, least, most))?;
            let large = time(&policy, &snapshot(10_000, least, most))?;
            table += &format!(
                "| {name} | {merge_factor} | {:.1} | {:.1} | {:.1} |\n",
                small.as_secs_f64() * 1e3,
                large.as_secs_f64() * 1e3,
                large.as_secs_f64() / small.as_secs_f64(),
            );
        }
    }
    Ok(table)
}

/// From a snapshot to a plan; the best of several, since other programs run too.
fn time(policy: &MergePolicy, snapshot: &IndexSnapshot) -> Result<Duration> {
    let once = || {
        let start = Instant::now();
        let plan = plan_optimize(snapshot, "i", policy);
        let elapsed = start.elapsed();
        std::hint::black_box(plan).map(|_| elapsed)
    };
    let times: Result<Vec<Duration>, PlanError> = (0..9).map(|_| once()).collect();
    Ok(times?.into_iter().min().unwrap_or_default())
}

/// So many segments, each over neighbouring fragments; the last tenth of the fragments isn't
/// covered.
fn snapshot(segments: u32, least: u64, most: u64) -> IndexSnapshot {
    let mut random = StdRng::seed_from_u64(1);
    let covered = FRAGMENTS_PER_SEGMENT * 9 / 10;
    let all = segments * FRAGMENTS_PER_SEGMENT;
    let mut rows = Vec::new();
    let segment = |number: u32| {
        let first = number * covered;
        let size = least as f64 * (most as f64 / least as f64).powf(random.random::<f64>());
        let each = size as u64 / u64::from(covered);
        rows.extend((0..covered).map(|_| each));
        SegmentSnapshot {
            uuid: Uuid::from_u128(random.random()),
            declared: Some((first..first + covered).collect()),
            format: "btree".to_string(),
            kind: "btree".to_string(),
            merging: Merging::Exact,
            built_at: 1,
            bytes: Some(each * u64::from(covered) * 16),
            follows_rows: true,
            source: None,
            rewritten: RoaringBitmap::new(),
        }
    };
    let segments: Vec<SegmentSnapshot> = (0..segments).map(segment).collect();
    rows.resize(all as usize, 10_000);
    let field_files: std::sync::Arc<str> = "".into();
    let fragment = |(id, live_rows)| FragmentSnapshot {
        id,
        live_rows,
        field_files: field_files.clone(),
        // Each fragment is an append of its own to a table with stable row ids.
        rows: Some(RowOrigins {
            row_ids: Some((u64::from(id) * 10_000, u64::from(id) * 10_000 + 9_999)),
            oldest_created: u64::from(id) + 2,
            newest_changed: 0,
        }),
    };
    let field = IndexedField {
        id: 0,
        path: "x".to_string(),
        column: "x".to_string(),
        data_type: "Int64".to_string(),
    };
    let definition = IndexDefinition {
        name: "i".to_string(),
        field: field.clone(),
        index_type: "btree".to_string(),
        parameters: "{}".to_string(),
        format: "btree".to_string(),
        record: None,
    };
    IndexSnapshot {
        version: 1,
        fragments: (0..all).zip(rows).map(fragment).collect(),
        index: Some(Index { definition, segments }),
        field: Some(field),
    }
}
