//! What other writers do between a statement's build and its commit.

use std::{fmt, sync::Arc};

use arrow::array::RecordBatch;
use async_trait::async_trait;
use datafusion::execution::TaskContext;
use datafusion_lance_index::{
    WorkOutcome,
    error::Result,
    executor::{LocalExecutor, WorkAttempt, WorkExecutor},
    session::SessionConfigExt,
};
use futures::{FutureExt, future::BoxFuture};
use lance::index::DatasetIndexExt;
use tokio::sync::Mutex;

use crate::support::{Table, config, half_and_half, letters};

type Act = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// Lets another writer act once, when the first unit is built and before anything is committed.
struct Meanwhile(Mutex<Option<Act>>);

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Meanwhile")
    }
}

#[async_trait]
impl WorkExecutor for Meanwhile {
    fn name(&self) -> &str {
        "meanwhile"
    }

    fn slots(&self) -> usize {
        1
    }

    async fn run(&self, attempt: WorkAttempt, context: Arc<TaskContext>) -> Result<WorkOutcome> {
        let outcome = LocalExecutor.run(attempt, context).await;
        if let Some(act) = self.0.lock().await.take() {
            act().await;
        }
        outcome
    }
}

/// Runs the statement in a session whose first unit is followed by what another writer does.
pub async fn race<F>(
    table: &Arc<Table>,
    sql: &str,
    act: impl FnOnce(Arc<Table>) -> F + Send + 'static,
) -> Result<Vec<RecordBatch>, String>
where
    F: Future<Output = ()> + Send + 'static,
{
    let other = table.clone();
    let act: Act = Box::new(move || act(other).boxed());
    let executor = Arc::new(Meanwhile(Mutex::new(Some(act))));
    let session = table.again(config().with_work_executor(executor)).await;
    session.try_sql(sql).await.map_err(|error| error.strip_backtrace())
}

const REFRESH: &str = "ALTER TABLE t REFRESH INDEX i WITH (num_segments = 3)";

/// Fragment 0 is indexed by `i`; 1, 2 and 3 are not.
async fn due(method: &str, column: &str, stable_row_ids: bool) -> Arc<Table> {
    let table = Table::new(&[half_and_half()], stable_row_ids).await;
    table.sql(&format!("CREATE INDEX i ON t USING {method} ({column})")).await;
    for at in 1..4 {
        table.append(letters(at * 100..at * 100 + 100, |_| "A")).await;
    }
    Arc::new(table)
}

#[tokio::test]
async fn c46_drop_between_build_and_commit() {
    let table = due("btree", "id", false).await;
    let error = race(&table, REFRESH, async |other| {
        other.sql("DROP INDEX i ON t").await;
    })
    .await
    .unwrap_err();
    assert!(
        error.contains("index 'i' was dropped while the statement ran; nothing was committed"),
        "{error}"
    );
    assert!(table.segments("i").await.is_empty());
    table.same_rows("id = 150").await;
}

#[tokio::test]
async fn c47_drop_and_create_on_another_column() {
    let table = due("btree", "id", false).await;
    let error = race(&table, REFRESH, async |other| {
        other.sql("DROP INDEX i ON t; CREATE INDEX i ON t (other)").await;
    })
    .await
    .unwrap_err();
    assert!(error.contains("nothing was committed"), "{error}");
    assert_eq!(table.segments("i").await, [vec![0, 1, 2, 3]]);
    table.oracle("i", "other = 0").await;
}

#[tokio::test]
async fn c56_drop_and_create_of_the_same() {
    let table = due("btree", "id", false).await;
    let error = race(&table, REFRESH, async |other| {
        other.sql("DROP INDEX i ON t; CREATE INDEX i ON t (id)").await;
    })
    .await
    .unwrap_err();
    assert!(error.contains("was dropped while the statement ran"), "{error}");
    assert_eq!(table.segments("i").await, [vec![0, 1, 2, 3]]);
}

#[tokio::test]
async fn c48_another_refresh_was_faster() {
    for method in ["btree", "bitmap"] {
        let table = due(method, "cat", true).await;
        let done = race(&table, REFRESH, async |other| {
            other.sql("ALTER TABLE t REFRESH INDEX i").await;
        })
        .await;
        done.unwrap();
        assert_eq!(table.segments("i").await, [vec![0], vec![1, 2, 3]], "{method}");
        table.oracle("i", "cat = 'A'").await;
    }
}

#[tokio::test]
async fn c48_many_at_once() {
    let table = due("btree", "id", false).await;
    let mut statements = Vec::new();
    for _ in 0..4 {
        let session = table.again(config()).await;
        statements.push(async move { session.try_sql(REFRESH).await });
    }
    for done in futures::future::join_all(statements).await {
        done.unwrap();
    }
    let mut covered: Vec<u32> = table.segments("i").await.concat();
    covered.sort();
    assert_eq!(covered, [0, 1, 2, 3]);
    for id in [10, 110, 210, 310] {
        assert_eq!(table.oracle("i", &format!("id = {id}")).await, 1);
    }
}

#[tokio::test]
async fn another_index_is_no_conflict() {
    let table = due("btree", "id", false).await;
    race(&table, REFRESH, async |other| {
        other.sql("CREATE INDEX j ON t (cat)").await;
    })
    .await
    .unwrap();
    assert_eq!(table.segments("i").await.len(), 4);
    assert_eq!(table.segments("j").await.len(), 1);
}

#[tokio::test]
async fn create_of_a_name_that_was_taken_meanwhile() {
    let table = Arc::new(Table::new(&[half_and_half()], false).await);
    let error = race(&table, "CREATE INDEX i ON t (id)", async |other| {
        other.sql("CREATE INDEX i ON t (cat)").await;
    })
    .await
    .unwrap_err();
    assert!(error.contains("was created by another client"), "{error}");
    table.oracle("i", "cat = 'A'").await;
}

#[tokio::test]
async fn if_not_exists_takes_what_another_client_made() {
    let table = Arc::new(Table::new(&[half_and_half()], false).await);
    let create = "CREATE INDEX IF NOT EXISTS i ON t (id)";
    let done = race(&table, create, async |other| {
        other.sql("CREATE INDEX i ON t (cat)").await;
    });
    done.await.unwrap();
    table.oracle("i", "cat = 'A'").await;
    assert_eq!(table.reported("DROP INDEX IF EXISTS i ON t", "segments_removed").await, 1);
    assert_eq!(table.reported("DROP INDEX IF EXISTS i ON t", "segments_removed").await, 0);
}

#[tokio::test]
async fn replace_of_an_index_that_was_refreshed_or_dropped_meanwhile() {
    let table = due("btree", "id", false).await;
    let replace = "CREATE OR REPLACE INDEX i ON t USING bitmap (cat)";
    race(&table, replace, async |other| {
        other.sql(REFRESH).await;
    })
    .await
    .unwrap();
    assert_eq!(table.segments("i").await, [vec![0, 1, 2, 3]]);
    table.oracle("i", "cat = 'A'").await;
    let replace = "CREATE OR REPLACE INDEX i ON t (id)";
    race(&table, replace, async |other| {
        other.sql("DROP INDEX i ON t").await;
    })
    .await
    .unwrap();
    assert_eq!(table.segments("i").await, [vec![0, 1, 2, 3]]);
    table.oracle("i", "id = 150").await;
}

#[tokio::test]
async fn c49_compaction_of_everything_that_was_built() {
    let table = due("btree", "id", false).await;
    let version = table.version().await;
    let error = race(&table, REFRESH, async |other| other.compact().await).await.unwrap_err();
    assert!(error.contains("only for fragments that others have since replaced"), "{error}");
    assert!(table.version().await > version);
    table.sql("ALTER TABLE t REFRESH INDEX i").await;
    for id in [10, 110, 310] {
        assert_eq!(table.oracle("i", &format!("id = {id}")).await, 1);
    }
}

#[tokio::test]
async fn c49_deletion_of_some_fragments_that_were_built() {
    let table = due("btree", "id", false).await;
    let reported = race(&table, REFRESH, async |other| {
        other.delete("id >= 200 AND id < 300").await;
    })
    .await
    .unwrap();
    let indexed = reported[0].column_by_name("fragments_indexed").unwrap();
    let indexed = indexed.as_any().downcast_ref::<arrow::array::Int64Array>().unwrap();
    assert_eq!(indexed.value(0), 2);
    assert_eq!(table.segments("i").await, [vec![0], vec![1], vec![3]]);
    assert_eq!(table.oracle("i", "id = 250").await, 0);
    assert_eq!(table.oracle("i", "id = 350").await, 1);
}

#[tokio::test]
async fn c51_the_column_is_dropped() {
    let table = due("btree", "other", false).await;
    let error = race(&table, REFRESH, async |other| {
        other.open().await.drop_columns(&["other"]).await.unwrap();
    })
    .await
    .unwrap_err();
    assert!(error.contains("nothing was committed"), "{error}");
    let table = table.again(config()).await;
    assert_eq!(table.same_rows("id = 150").await, 1);
    assert_eq!(table.same_rows("cat = 'B'").await, 50);
}

#[tokio::test]
async fn c54_update_over_a_fragment_that_was_just_built() {
    for stable_row_ids in [true, false] {
        for method in ["btree", "bitmap", "zonemap"] {
            let table = due(method, "cat", stable_row_ids).await;
            race(&table, REFRESH, async |other| {
                other.update("id >= 100 AND id < 120", "cat", "'B'").await;
            })
            .await
            .unwrap();
            assert_eq!(table.oracle("i", "cat = 'B'").await, 70, "{method}");
            assert_eq!(table.oracle("i", "cat = 'A'").await, 330, "{method}");
            // And when the rows' new place is covered.
            table.sql("ALTER TABLE t REFRESH INDEX i").await;
            assert_eq!(table.oracle("i", "cat = 'B'").await, 70, "{method}");
            assert_eq!(table.oracle("i", "cat = 'A'").await, 330, "{method}");
        }
    }
}

/// A row is moved while its old place is indexed, and another statement covers its new place
/// before the first one commits.
#[tokio::test]
async fn update_and_refresh_by_others_over_what_was_just_built() {
    for method in ["btree", "bitmap"] {
        let table = due(method, "cat", true).await;
        race(&table, REFRESH, async |other| {
            other.update("id >= 100 AND id < 120", "cat", "'B'").await;
            other.sql("ALTER TABLE t REFRESH INDEX i").await;
        })
        .await
        .unwrap();
        assert_eq!(table.oracle("i", "cat = 'B'").await, 70, "{method}");
        assert_eq!(table.oracle("i", "cat = 'A'").await, 330, "{method}");
    }
}

#[tokio::test]
async fn c55_update_of_another_column() {
    for method in ["btree", "bitmap", "zonemap"] {
        let table = due(method, "cat", true).await;
        race(&table, REFRESH, async |other| {
            other.update("id < 20 OR (id >= 100 AND id < 120)", "other", "7").await;
        })
        .await
        .unwrap();
        table.oracle("i", "cat = 'A'").await;
        table.sql("ALTER TABLE t REFRESH INDEX i").await;
        let mut covered = table.segments("i").await.concat();
        covered.sort();
        assert_eq!(covered, [0, 1, 2, 3, 4], "{method}");
        assert_eq!(table.oracle("i", "cat = 'A'").await, 350, "{method}");
    }
}

#[tokio::test]
async fn append_and_delete_are_no_conflict() {
    let table = due("bitmap", "cat", true).await;
    race(&table, REFRESH, async |other| {
        other.append(letters(400..410, |_| "C")).await;
        other.delete("id < 10").await;
    })
    .await
    .unwrap();
    assert_eq!(table.segments("i").await.concat().len(), 4);
    assert_eq!(table.oracle("i", "cat = 'A'").await, 340);
    assert_eq!(table.oracle("i", "cat = 'C'").await, 10);
}

#[tokio::test]
async fn overwrite_ends_the_statement() {
    let table = due("btree", "id", false).await;
    let error = race(&table, REFRESH, async |other| {
        let batch = half_and_half();
        let reader = arrow::array::RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
        let params = lance::dataset::WriteParams {
            mode: lance::dataset::WriteMode::Overwrite,
            ..Default::default()
        };
        lance::Dataset::write(reader, &other.uri, Some(params)).await.unwrap();
    })
    .await
    .unwrap_err();
    assert!(error.contains("nothing was committed"), "{error}");
    assert!(table.segments("i").await.is_empty());
}

#[tokio::test]
async fn what_was_built_in_vain_leaves_no_files() {
    let table = due("btree", "id", false).await;
    let directories = || std::fs::read_dir(format!("{}/_indices", table.uri)).unwrap().count();
    let before = directories();
    let error = race(&table, REFRESH, async |other| {
        other.open().await.drop_index("i").await.unwrap();
    })
    .await
    .unwrap_err();
    assert!(error.contains("dropped"), "{error}");
    assert_eq!(directories(), before);
}

#[tokio::test]
async fn c53_the_table_follows_other_clients() {
    let table = due("btree", "id", false).await;
    assert!(table.print("SHOW INDEXES FROM t").await.contains("refresh due"));
    let mut other = table.open().await;
    let params = lance_index::optimize::OptimizeOptions::append();
    other.optimize_indices(&params).await.unwrap();
    assert!(table.print("SHOW INDEXES FROM t").await.contains("ready"));
    table.append(letters(400..410, |_| "C")).await;
    assert_eq!(table.number("SELECT count(*) FROM t").await, 410);
    table.compact().await;
    assert_eq!(table.oracle("i", "id = 405").await, 1);
}

/// A cleanup that spares nothing takes the files of new segments, which no version names yet.
#[tokio::test]
async fn files_that_a_cleanup_took_are_not_committed() {
    for method in ["btree", "fts"] {
        let column = if method == "fts" { "txt" } else { "id" };
        let table = due(method, column, false).await;
        let version = table.version().await;
        let vacuum = "VACUUM TABLE t WITH (older_than = '0 seconds', delete_unverified = true)";
        let act = move |table: Arc<Table>| async move { drop(table.sql(vacuum).await) };
        let error = race(&table, REFRESH, act).await.unwrap_err();
        assert!(error.contains("were removed by a cleanup"), "{error}");
        assert_eq!(table.version().await, version);
        table.sql(REFRESH).await;
        table.same_rows("id < 150").await;
    }
}
