//! Tables, sessions, and the oracle: rows found with the index are the rows a full scan finds.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    path::Path,
    sync::Arc,
};

use arrow::{
    array::{
        ArrayRef, Int64Array, ListBuilder, RecordBatch, RecordBatchIterator, StringArray,
        StringBuilder,
    },
    util::pretty::pretty_format_batches,
};
use async_trait::async_trait;
use datafusion::{
    execution::{SessionStateBuilder, TaskContext},
    physical_plan::displayable,
    prelude::{SessionConfig, SessionContext},
};
use datafusion_lance_index::{
    WorkOutcome,
    error::Result,
    executor::{RemoteAttempt, WorkAttempt, WorkExecutor},
    session::{SessionConfigExt, SessionContextExt, SessionStateBuilderExt},
    table::LanceTable,
};
use lance::{
    Dataset,
    dataset::{
        UpdateBuilder, WriteMode, WriteParams,
        optimize::{CompactionOptions, compact_files},
    },
    index::DatasetIndexExt,
};
use tempfile::TempDir;

/// A table in a directory of its own, and a session that knows it as `t`, and as `scan` with no
/// use of indexes.
pub struct Table {
    pub session: SessionContext,
    pub uri: String,
    _dir: Option<TempDir>,
}

pub fn config() -> SessionConfig {
    SessionConfig::new().with_target_partitions(4)
}

/// Units run as another process would, from what it is told of them.
pub fn elsewhere() -> SessionConfig {
    config().with_work_executor(Arc::new(Elsewhere))
}

#[derive(Debug)]
struct Elsewhere;

#[async_trait]
impl WorkExecutor for Elsewhere {
    fn name(&self) -> &str {
        "elsewhere"
    }

    fn slots(&self) -> usize {
        4
    }

    async fn run(&self, attempt: WorkAttempt, _: Arc<TaskContext>) -> Result<WorkOutcome> {
        let told = serde_json::to_vec(&RemoteAttempt::try_new(&attempt)?).unwrap();
        let remote: RemoteAttempt = serde_json::from_slice(&told).unwrap();
        Ok(remote.run().await)
    }
}

pub fn session(config: SessionConfig) -> SessionContext {
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features()
        .with_lance_index()
        .build();
    SessionContext::new_with_state(state)
}

impl Table {
    /// A table with the rows of these batches, each a fragment.
    pub async fn new(fragments: &[RecordBatch], stable_row_ids: bool) -> Self {
        Self::with_config(fragments, stable_row_ids, config()).await
    }

    pub async fn with_config(
        fragments: &[RecordBatch],
        stable_row_ids: bool,
        config: SessionConfig,
    ) -> Self {
        let dir = TempDir::new().unwrap();
        let uri = dir.path().join("t").to_str().unwrap().to_string();
        let (first, rest) = fragments.split_first().unwrap();
        write(&uri, first.clone(), WriteMode::Create, stable_row_ids).await;
        for batch in rest {
            write(&uri, batch.clone(), WriteMode::Append, stable_row_ids).await;
        }
        Self::register(uri, Some(dir), config).await
    }

    /// A copy of a table that is kept with the tests.
    pub async fn fixture(name: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let from = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap())
            .join("tests/fixtures")
            .join(name);
        let to = dir.path().join("t");
        copy(&from, &to);
        Self::register(to.to_str().unwrap().to_string(), Some(dir), config()).await
    }

    /// The same table in another session.
    pub async fn again(&self, config: SessionConfig) -> Self {
        Self::at(&self.uri, config).await
    }

    /// A table that stays when this is dropped.
    pub async fn at(uri: &str, config: SessionConfig) -> Self {
        Self::register(uri.to_string(), None, config).await
    }

    async fn register(uri: String, dir: Option<TempDir>, config: SessionConfig) -> Self {
        let session = session(config);
        let open = async || LanceTable::open(&uri, HashMap::new()).await.unwrap();
        session.register_table("t", Arc::new(open().await)).unwrap();
        let scan = open().await.with_use_index(false);
        session.register_table("scan", Arc::new(scan)).unwrap();
        Self { session, uri, _dir: dir }
    }

    /// Runs a text and answers the last statement's rows.
    pub async fn try_sql(&self, sql: &str) -> datafusion::error::Result<Vec<RecordBatch>> {
        self.session.lance_sql(sql).await?.collect().await
    }

    pub async fn sql(&self, sql: &str) -> Vec<RecordBatch> {
        self.try_sql(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// The rows as a printed table.
    pub async fn print(&self, sql: &str) -> String {
        pretty_format_batches(&self.sql(sql).await).unwrap().to_string()
    }

    /// The text of the error that the statement ends in.
    pub async fn error(&self, sql: &str) -> String {
        match self.try_sql(sql).await {
            Ok(rows) => panic!("{sql} succeeded: {}", pretty_format_batches(&rows).unwrap()),
            Err(error) => error.strip_backtrace(),
        }
    }

    /// The one number that the query answers.
    pub async fn number(&self, sql: &str) -> i64 {
        let rows = self.sql(sql).await;
        let column = rows[0].column_by_name(rows[0].schema().field(0).name()).unwrap();
        column.as_any().downcast_ref::<Int64Array>().unwrap().value(0)
    }

    /// A count of what a CREATE or REFRESH answered.
    pub async fn reported(&self, sql: &str, column: &str) -> i64 {
        let rows = self.sql(sql).await;
        let column = rows[0].column_by_name(column).unwrap_or_else(|| panic!("no {column}"));
        column.as_any().downcast_ref::<Int64Array>().unwrap().value(0)
    }

    /// Checks that the predicate finds the same rows with the index as without, that the plan
    /// names the index, and answers how many rows that is.
    pub async fn oracle(&self, index: &str, predicate: &str) -> usize {
        let query = |table: &str| format!("SELECT * FROM {table} WHERE {predicate}");
        let plan = self.plan(&query("t")).await;
        let used = plan.contains(&format!("@{index}("));
        assert!(used, "{predicate} doesn't use {index}: {plan}");
        self.same_rows(predicate).await
    }

    /// Checks that the predicate finds the same rows with indexes as without.
    pub async fn same_rows(&self, predicate: &str) -> usize {
        let query = |table: &str| format!("SELECT * FROM {table} WHERE {predicate}");
        let scan = self.plan(&query("scan")).await;
        assert!(!scan.contains("ScalarIndex"), "{predicate} scans by index: {scan}");
        let (found, truth) = (self.rows(&query("t")).await, self.rows(&query("scan")).await);
        assert_eq!(found, truth, "{predicate}: with the index, without");
        found.len()
    }

    /// Whether an index finds rows for the predicate.
    pub async fn is_answered_by_index(&self, predicate: &str) -> bool {
        let plan = self.plan(&format!("SELECT id FROM t WHERE {predicate}")).await;
        plan.contains("ScalarIndexQuery") || plan.contains("MaterializeIndex")
    }

    async fn plan(&self, sql: &str) -> String {
        let plan = self.session.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
        displayable(plan.as_ref()).indent(true).to_string()
    }

    /// The rows of a query, each printed, in order of their text.
    async fn rows(&self, sql: &str) -> Vec<String> {
        let text = pretty_format_batches(&self.sql(sql).await).unwrap().to_string();
        let mut rows: Vec<String> =
            text.lines().filter(|line| line.starts_with('|')).skip(1).map(str::to_string).collect();
        rows.sort();
        rows
    }

    pub async fn open(&self) -> Dataset {
        Dataset::open(&self.uri).await.unwrap()
    }

    pub async fn version(&self) -> u64 {
        self.open().await.version().version
    }

    pub async fn append(&self, batch: RecordBatch) {
        write(&self.uri, batch, WriteMode::Append, false).await;
    }

    pub async fn overwrite(&self, batch: RecordBatch) {
        write(&self.uri, batch, WriteMode::Overwrite, false).await;
    }

    pub async fn update(&self, predicate: &str, column: &str, value: &str) {
        UpdateBuilder::new(Arc::new(self.open().await))
            .update_where(predicate)
            .unwrap()
            .set(column, value)
            .unwrap()
            .build()
            .unwrap()
            .execute()
            .await
            .unwrap();
    }

    pub async fn delete(&self, predicate: &str) {
        self.open().await.delete(predicate).await.unwrap();
    }

    pub async fn compact(&self) {
        compact_files(&mut self.open().await, CompactionOptions::default(), None).await.unwrap();
    }

    /// All rows, each printed, in order of their text.
    pub async fn content(&self) -> Vec<String> {
        self.rows("SELECT * FROM scan").await
    }

    /// Checks that no two segments of an index cover the same fragment.
    pub async fn check_overlap(&self, context: &dyn fmt::Display) {
        let dataset = self.open().await;
        let segments = DatasetIndexExt::load_indices(&dataset).await.unwrap();
        let mut covered = BTreeSet::new();
        for segment in segments.iter() {
            for fragment in segment.fragment_bitmap.iter().flatten() {
                let is_new = covered.insert((&segment.name, fragment));
                assert!(is_new, "{fragment} is covered twice by {}: {context}", segment.name);
            }
        }
    }

    /// Whether segments of the index cover all rows.
    pub async fn is_covered(&self, index: &str) -> bool {
        let covered: BTreeSet<u32> = self.segments(index).await.concat().into_iter().collect();
        self.open().await.fragment_bitmap().iter().all(|fragment| covered.contains(&fragment))
    }

    /// The segments of the index, in manifest order.
    pub async fn uuids(&self, index: &str) -> Vec<String> {
        let indexes = DatasetIndexExt::load_indices(&self.open().await).await.unwrap();
        let segments = indexes.iter().filter(|segment| segment.name == index);
        segments.map(|segment| segment.uuid.to_string()).collect()
    }

    /// The fragments of each segment of the index, in order of the first.
    pub async fn segments(&self, index: &str) -> Vec<Vec<u32>> {
        let mut segments: Vec<Vec<u32>> = DatasetIndexExt::load_indices(&self.open().await)
            .await
            .unwrap()
            .iter()
            .filter(|segment| segment.name == index)
            .map(|segment| segment.fragment_bitmap.iter().flatten().collect())
            .collect();
        segments.sort();
        segments
    }
}

async fn write(uri: &str, batch: RecordBatch, mode: WriteMode, enable_stable_row_ids: bool) {
    let schema = batch.schema();
    let params = WriteParams { mode, enable_stable_row_ids, ..Default::default() };
    let reader = RecordBatchIterator::new([Ok(batch)], schema);
    Dataset::write(reader, uri, Some(params)).await.unwrap();
}

/// The end of a CREATE, so that the index answers predicates and not searches alone.
pub fn answering(method: &str) -> &'static str {
    if method == "fts" { " WITH (stem = false, max_token_length = NULL)" } else { "" }
}

pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Rows `ids` with the columns `id`, `cat` (the given letter, in `txt` with more words, in `tags`
/// with another label), `other` and `note`.
pub fn letters(ids: std::ops::Range<i64>, letter: impl Fn(i64) -> &'static str) -> RecordBatch {
    let letters: Vec<&str> = ids.clone().map(&letter).collect();
    let mut tags = ListBuilder::new(StringBuilder::new());
    for letter in &letters {
        tags.values().append_value(letter);
        tags.values().append_value("all");
        tags.append(true);
    }
    let text = letters.iter().map(|letter| format!("{letter}pple common"));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from_iter_values(ids.clone()))),
        ("cat", Arc::new(StringArray::from_iter_values(&letters))),
        ("txt", Arc::new(StringArray::from_iter_values(text))),
        ("tags", Arc::new(tags.finish())),
        ("other", Arc::new(Int64Array::from_iter_values(ids.clone().map(|_| 0)))),
        ("note", Arc::new(StringArray::from_iter_values(ids.map(|_| "n")))),
    ];
    nullable(columns)
}

/// A batch of columns that may all hold nulls.
pub fn nullable(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// 50 rows of A, 50 of B.
pub fn half_and_half() -> RecordBatch {
    letters(0..100, |id| if id < 50 { "A" } else { "B" })
}

/// A seed for random numbers that no run before had.
pub fn fresh_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    since.as_nanos() as u64 % 1_000_000_000
}
