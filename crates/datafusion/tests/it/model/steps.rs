//! What may happen to a table in a step.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator};
use futures::future::{BoxFuture, FutureExt};
use lance::{
    dataset::{
        MergeInsertBuilder, UpdateBuilder, WhenMatched, WhenNotMatched,
        optimize::{CompactionOptions, compact_files},
    },
    index::DatasetIndexExt,
};
use lance_index::{
    IndexType, frag_reuse::FRAG_REUSE_INDEX_NAME, optimize::OptimizeOptions,
    scalar::ScalarIndexParams,
};
use rand::Rng;

use super::{
    World,
    rows::{COLUMNS, Rows, array, batch, literal},
};
use crate::support::{config, nullable};

pub struct Step {
    pub name: &'static str,
    /// How often it is taken, beside the others.
    pub weight: u32,
    /// It is a statement about indexes, which loses no coverage.
    pub maintains: bool,
    /// Takes it and answers what came of it.
    pub take: for<'a> fn(&'a mut World) -> BoxFuture<'a, &'static str>,
}

macro_rules! steps {
    ($($weight:literal $maintains:literal $name:ident),* $(,)?) => {
        [$(Step {
            name: stringify!($name),
            weight: $weight,
            maintains: $maintains,
            take: |world| $name(world).boxed(),
        }),*]
    };
}

pub const STEPS: [Step; 28] = steps![
    // Of this library.
    8 true create,
    4 true replace,
    2 true drop,
    10 true refresh,
    6 true refresh_one,
    8 true optimize,
    2 true alter,
    4 true at_once,
    3 false optimize_table,
    2 false vacuum,
    4 false insert,
    5 false update,
    4 false delete,
    1 false insert_overwrite,
    1 false truncate,
    // Of other clients.
    8 false append,
    4 false their_update,
    3 false their_delete,
    4 false merge_insert,
    3 false rewrite_column,
    3 false compact,
    2 false compact_deferred,
    2 false their_drop,
    2 false their_create,
    2 false their_optimize,
    1 false overwrite,
    1 false restore,
    1 false cleanup,
];

fn name_of(column: usize) -> String {
    format!("by_{}", COLUMNS[column].name)
}

/// The `CREATE` statement of a random index; `verb` has the words up to the name.
fn creating(world: &mut World, verb: &str) -> (String, String) {
    let at = world.random.random_range(0..COLUMNS.len());
    let column = &COLUMNS[at];
    let name = name_of(at);
    let mut statement = format!("{verb} {name} ON t USING {} ({})", column.method, column.name);
    if world.random.random() {
        let (option, values) = column.option;
        statement += &format!(" WITH ({option} = {})", world.pick(values));
    } else if world.random.random_bool(0.2) {
        statement += " WITH (train = false)";
    }
    (name, statement)
}

async fn create(world: &mut World) -> &'static str {
    let (name, statement) = creating(world, "CREATE INDEX IF NOT EXISTS");
    world.must(&statement).await;
    // One that another client dropped still has its record.
    if !world.table.segments(&name).await.is_empty() {
        world.dropped.remove(&name);
    }
    "done"
}

async fn replace(world: &mut World) -> &'static str {
    let (name, statement) = creating(world, "CREATE OR REPLACE INDEX");
    world.must(&statement).await;
    world.dropped.remove(&name);
    "done"
}

/// The name of one of the indexes.
async fn one(world: &mut World) -> Option<String> {
    let names = world.indexes().await;
    if names.is_empty() {
        return None;
    }
    let at = world.random.random_range(0..names.len());
    Some(names[at].clone())
}

async fn drop(world: &mut World) -> &'static str {
    let Some(name) = one(world).await else { return "without an index" };
    world.must(&format!("DROP INDEX {name} ON t")).await;
    assert!(!world.indexes().await.contains(&name), "{name} is there");
    world.dropped.insert(name);
    "done"
}

async fn refresh(world: &mut World) -> &'static str {
    world.must("ALTER TABLE t REFRESH INDEXES").await;
    let version = world.table.version().await;
    world.must("ALTER TABLE t REFRESH INDEXES").await;
    assert_eq!(world.table.version().await, version, "work is left");
    "done"
}

async fn refresh_one(world: &mut World) -> &'static str {
    let Some(name) = one(world).await else { return "without an index" };
    let segments = world.random.random_range(1..4);
    world
        .must(&format!("ALTER TABLE t REFRESH INDEX {name} WITH (num_segments = {segments})"))
        .await;
    world.dropped.remove(&name);
    "done"
}

fn policy(world: &mut World) -> String {
    let (rows, factor) = (world.pick(&[10, 100, 1000]), world.pick(&[2, 3, 8]));
    format!("target_rows_per_segment = {rows}, merge_factor = {factor}")
}

async fn optimize(world: &mut World) -> &'static str {
    let options = match world.random.random_range(0..4) {
        0 => String::new(),
        1 => " WITH (num_indices_to_merge = 2)".to_string(),
        _ => format!(" WITH ({})", policy(world)),
    };
    // Lance's own merges of stale segments are wrong, and refused.
    if options.contains("num_indices") {
        world.must("ALTER TABLE t REFRESH INDEXES").await;
    }
    match world.sql(&format!("ALTER TABLE t OPTIMIZE INDEXES{options}")).await {
        Ok(()) => "done",
        Err(error) if options.contains("num_indices") => {
            let known = ["has no segments", "can't be left to Lance"];
            assert!(known.iter().any(|known| error.contains(known)), "{error}");
            "refused"
        }
        Err(error) => panic!("{error}"),
    }
}

async fn alter(world: &mut World) -> &'static str {
    let Some(name) = one(world).await else { return "without an index" };
    let change = match world.random.random_bool(0.7) {
        true => format!("SET ({})", policy(world)),
        false => "RESET (target_rows_per_segment, merge_factor)".to_string(),
    };
    world.must(&format!("ALTER TABLE t ALTER INDEX {name} {change}")).await;
    "done"
}

/// Statements about indexes at once, and a writer of rows.
async fn at_once(world: &mut World) -> &'static str {
    let count = world.pick(&[2, 3, 8]);
    let statements: Vec<String> = (0..count)
        .map(|_| match world.random.random_range(0..3) {
            0 => "ALTER TABLE t REFRESH INDEXES".to_string(),
            1 => format!("ALTER TABLE t OPTIMIZE INDEXES WITH ({})", policy(world)),
            _ => format!("ALTER TABLE t REFRESH INDEX {} WITH (num_segments = 2)", name_of(1)),
        })
        .collect();
    let new = world.new_rows(8);
    world.note(format!("at once: append {} rows; {}", new.len(), statements.join("; ")));
    let is_there = world.indexes().await.contains(&name_of(1));
    let mut running = Vec::new();
    for statement in &statements {
        let session = world.table.again(config()).await;
        running.push(async move {
            let ran = session.try_sql(statement).await;
            ran.map(std::mem::drop).map_err(|error| error.strip_backtrace())
        });
    }
    let appended = world.table.append(batch(&new));
    let (ran, ()) = futures::join!(futures::future::join_all(running), appended);
    world.rows.extend(new);
    let (mut came, mut gave_way) = ("done", 0);
    for (statement, ran) in statements.iter().zip(ran) {
        let Err(error) = ran else { continue };
        gave_way += 1;
        let known = if is_there || statement.contains("INDEXES") {
            came = "done with a conflict";
            "nothing was committed"
        } else {
            "there is no index"
        };
        assert!(error.contains(known), "{statement}: {error}");
    }
    // Those that conflict do so with one that is done.
    let all_gave_way = gave_way == statements.len() && came != "done";
    assert!(!all_gave_way, "none of them is done");
    if !world.table.segments(&name_of(1)).await.is_empty() {
        world.dropped.remove(&name_of(1));
    }
    came
}

async fn optimize_table(world: &mut World) -> &'static str {
    follow_deferred(world).await;
    world.must("OPTIMIZE TABLE t WITH (target_rows_per_fragment = 100)").await;
    "done"
}

async fn vacuum(world: &mut World) -> &'static str {
    world.must("VACUUM TABLE t WITH (older_than = '0 seconds', retain_versions = 3)").await;
    "done"
}

async fn insert(world: &mut World) -> &'static str {
    let new = world.new_rows(6);
    let row = |(id, values): (&i64, &[super::rows::Value; 8])| {
        let values: Vec<String> =
            values.iter().enumerate().map(|(at, value)| literal(at, *value)).collect();
        format!("({id}, {})", values.join(", "))
    };
    let values: Vec<String> = new.iter().map(row).collect();
    world.must(&format!("INSERT INTO t VALUES {}", values.join(", "))).await;
    world.rows.extend(new);
    "done"
}

/// Some of the rows, as a predicate and by their ids.
fn some(world: &mut World) -> (String, impl Fn(i64) -> bool + Copy + use<>) {
    let by = world.random.random_range(2..7_i64);
    let rest = world.random.random_range(0..by);
    (format!("id % {by} = {rest}"), move |id: i64| id % by == rest)
}

/// A new value for a column of some of the rows.
fn change(world: &mut World) -> (usize, super::rows::Value) {
    (world.random.random_range(0..COLUMNS.len()), world.value())
}

async fn update(world: &mut World) -> &'static str {
    let ((predicate, is_one), (column, value)) = (some(world), change(world));
    let set = format!("{} = {}", COLUMNS[column].name, literal(column, value));
    world.must(&format!("UPDATE t SET {set} WHERE {predicate}")).await;
    let rows = world.rows.iter_mut().filter(|(id, _)| is_one(**id));
    rows.for_each(|(_, values)| values[column] = value);
    "done"
}

async fn delete(world: &mut World) -> &'static str {
    let (predicate, is_one) = some(world);
    world.must(&format!("DELETE FROM t WHERE {predicate}")).await;
    world.rows.retain(|id, _| !is_one(*id));
    "done"
}

async fn insert_overwrite(world: &mut World) -> &'static str {
    let (predicate, is_one) = some(world);
    world.must(&format!("INSERT OVERWRITE t SELECT * FROM t WHERE NOT ({predicate})")).await;
    world.rows.retain(|id, _| !is_one(*id));
    "done"
}

async fn truncate(world: &mut World) -> &'static str {
    world.must("TRUNCATE TABLE t").await;
    world.rows.clear();
    "done"
}

pub async fn append(world: &mut World) -> &'static str {
    let new = world.new_rows(30);
    world.note(format!("append {} rows", new.len()));
    world.table.append(batch(&new)).await;
    world.rows.extend(new);
    "done"
}

async fn their_update(world: &mut World) -> &'static str {
    let ((predicate, is_one), (column, value)) = (some(world), change(world));
    let (name, value_in_sql) = (COLUMNS[column].name, literal(column, value));
    world.note(format!("their update {name} = {value_in_sql} where {predicate}"));
    let typed = match name {
        "bt" => format!("CAST({value_in_sql} AS DOUBLE)"),
        "zm" => format!("CAST({value_in_sql} AS BIGINT)"),
        "ll" if value.is_none() => return "not of a list",
        _ => value_in_sql,
    };
    let update = UpdateBuilder::new(Arc::new(world.table.open().await))
        .update_where(&predicate)
        .and_then(|update| update.set(name, &typed))
        .and_then(|update| update.build())
        .unwrap();
    update.execute().await.unwrap();
    let rows = world.rows.iter_mut().filter(|(id, _)| is_one(**id));
    rows.for_each(|(_, values)| values[column] = value);
    "done"
}

async fn their_delete(world: &mut World) -> &'static str {
    let (predicate, is_one) = some(world);
    world.note(format!("their delete where {predicate}"));
    world.table.delete(&predicate).await;
    world.rows.retain(|id, _| !is_one(*id));
    "done"
}

async fn merge(world: &World, rows: RecordBatch, insert: bool) {
    let dataset = Arc::new(world.table.open().await);
    let reader = RecordBatchIterator::new([Ok(rows.clone())], rows.schema());
    let mut builder = MergeInsertBuilder::try_new(dataset, vec!["id".to_string()]).unwrap();
    builder.when_matched(WhenMatched::UpdateAll);
    let not_matched = if insert { WhenNotMatched::InsertAll } else { WhenNotMatched::DoNothing };
    builder.when_not_matched(not_matched);
    let job = builder.try_build().unwrap();
    job.execute_reader(Box::new(reader)).await.unwrap();
}

/// Whole rows, some of them new.
async fn merge_insert(world: &mut World) -> &'static str {
    let (_, is_one) = some(world);
    let mut changed: Rows = world.rows.clone();
    changed.retain(|id, _| is_one(*id));
    for values in changed.values_mut() {
        *values = std::array::from_fn(|_| world.value());
    }
    changed.extend(world.new_rows(3));
    world.note(format!("merge_insert of {} rows", changed.len()));
    merge(world, batch(&changed), true).await;
    world.rows.extend(changed);
    "done"
}

/// Of rows without their other columns, a merge rewrites the column in place.
async fn rewrite_column(world: &mut World) -> &'static str {
    let ((predicate, is_one), (column, value)) = (some(world), change(world));
    let ids: Vec<i64> = world.rows.keys().copied().filter(|id| is_one(*id)).collect();
    if ids.is_empty() {
        return "of no rows";
    }
    // Lance goes on using a label list over it, until a REFRESH.
    if COLUMNS[column].name == "ll" {
        return "not of a list";
    }
    let name = COLUMNS[column].name;
    world.note(format!("merge_insert of {name} = {} where {predicate}", literal(column, value)));
    let values = array(column, ids.iter().map(|_| value));
    let ids_of: ArrayRef = Arc::new(Int64Array::from(ids));
    merge(world, nullable(vec![("id", ids_of), (name, values)]), false).await;
    let rows = world.rows.iter_mut().filter(|(id, _)| is_one(**id));
    rows.for_each(|(_, values)| values[column] = value);
    "done"
}

async fn compacted(world: &mut World, defer_index_remap: bool) -> &'static str {
    world.note(format!("compact, deferred: {defer_index_remap}"));
    let options = CompactionOptions {
        target_rows_per_fragment: 100,
        defer_index_remap,
        ..Default::default()
    };
    compact_files(&mut world.table.open().await, options, None).await.unwrap();
    "done"
}

/// After a compaction with deferred remapping, another one loses rows for Lance itself, and ours is
/// refused: a REFRESH comes first (docs/correctness.md).
pub async fn follow_deferred(world: &mut World) {
    let dataset = world.table.open().await;
    let indexes = dataset.load_indices().await.unwrap();
    if indexes.iter().any(|index| index.name == FRAG_REUSE_INDEX_NAME) {
        world.must("ALTER TABLE t REFRESH INDEXES").await;
    }
}

async fn compact(world: &mut World) -> &'static str {
    if world.random.random() {
        follow_deferred(world).await;
    }
    compacted(world, false).await
}

async fn compact_deferred(world: &mut World) -> &'static str {
    // Lance makes no index of row ids over what a deferred compaction has left.
    if world.stable_row_ids {
        return "not with stable row ids";
    }
    compacted(world, true).await
}

async fn their_drop(world: &mut World) -> &'static str {
    let Some(name) = one(world).await else { return "without an index" };
    if world.table.segments(&name).await.is_empty() {
        return "without segments";
    }
    world.note(format!("their drop of {name}"));
    world.table.open().await.drop_index(&name).await.unwrap();
    world.dropped.insert(name);
    "done"
}

async fn their_create(world: &mut World) -> &'static str {
    let at = world.random.random_range(0..COLUMNS.len());
    let (name, column) = (name_of(at), &COLUMNS[at]);
    let (index_type, method) = match column.method {
        "fts" => (IndexType::Inverted, "inverted"),
        "fm" => return "not of fm",
        method => (IndexType::Scalar, method),
    };
    world.note(format!("their create of {name}"));
    let params = ScalarIndexParams::new(method.replace('_', "").to_string());
    let mut dataset = world.table.open().await;
    let made =
        dataset.create_index(&[column.name], index_type, Some(name.clone()), &params, true).await;
    match made {
        Ok(_) => {
            world.dropped.remove(&name);
            "done"
        }
        Err(error) => {
            world.note(format!("refused: {error}"));
            "refused"
        }
    }
}

/// After a REFRESH: over moved or rewritten rows, Lance's own makes wrong segments.
async fn their_optimize(world: &mut World) -> &'static str {
    world.must("ALTER TABLE t REFRESH INDEXES").await;
    let new = world.new_rows(10);
    world.note(format!("append {} rows, their optimize_indices", new.len()));
    world.table.append(batch(&new)).await;
    world.rows.extend(new);
    let options = match world.random.random() {
        true => OptimizeOptions::append(),
        false => OptimizeOptions::merge(2),
    };
    match world.table.open().await.optimize_indices(&options).await {
        Ok(()) => "done",
        Err(error) => {
            world.note(format!("refused: {error}"));
            "refused"
        }
    }
}

async fn overwrite(world: &mut World) -> &'static str {
    let new = world.new_rows(30);
    world.note(format!("overwrite with {} rows", new.len()));
    world.table.overwrite(batch(&new)).await;
    world.rows = new;
    "done"
}

async fn restore(world: &mut World) -> &'static str {
    let versions: Vec<u64> = world.past.keys().copied().collect();
    if versions.is_empty() {
        return "without a past";
    }
    let version = world.pick(&versions);
    let Ok(mut dataset) = world.table.open().await.checkout_version(version).await else {
        return "of a version that is gone";
    };
    world.note(format!("restore version {version}"));
    dataset.restore().await.unwrap();
    world.rows = world.past[&version].clone();
    world.dropped.clear();
    "done"
}

async fn cleanup(world: &mut World) -> &'static str {
    world.note("their cleanup");
    let dataset = world.table.open().await;
    dataset.cleanup_old_versions(chrono::Duration::zero(), None, None).await.unwrap();
    "done"
}
