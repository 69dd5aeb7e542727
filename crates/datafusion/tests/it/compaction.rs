//! `OPTIMIZE TABLE` beside other writers, and what it leaves behind.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use arrow::array::{Int64Array, RecordBatch};
use datafusion::{
    common::{DataFusionError, Result},
    execution::{SendableRecordBatchStream, TaskContext},
    physical_plan::{
        DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, collect,
        stream::RecordBatchStreamAdapter,
    },
    prelude::SessionContext,
};
use datafusion_lance_index::{progress::Progress, session::SessionContextExt};
use futures::{FutureExt, TryStreamExt, future::BoxFuture};

use crate::{
    commits::index_directories,
    foreign::full_text,
    scripted::{Does, run, scripted},
    support::{Table, config, letters},
};

type Act = BoxFuture<'static, ()>;

/// The work of a compaction, and what another writer does when the first task has been done.
struct Meanwhile {
    work: Arc<dyn ExecutionPlan>,
    act: Arc<tokio::sync::Mutex<Option<Act>>>,
}

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Meanwhile")
    }
}

impl DisplayAs for Meanwhile {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Meanwhile")
    }
}

impl ExecutionPlan for Meanwhile {
    fn name(&self) -> &str {
        "Meanwhile"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.work.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![]
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let rows = self.work.execute(partition, context)?;
        let (schema, act) = (rows.schema(), self.act.clone());
        let rows = futures::stream::once(async move {
            let rows: Vec<RecordBatch> = rows.try_collect().await?;
            if let Some(act) = act.lock().await.take() {
                act.await;
            }
            Ok::<_, DataFusionError>(futures::stream::iter(rows.into_iter().map(Ok)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows.try_flatten())))
    }
}

/// Runs the statement; another writer acts when a task has been done and nothing is committed.
async fn race(
    session: &SessionContext,
    sql: &str,
    act: impl Future<Output = ()> + Send + 'static,
) -> Result<Vec<i64>, String> {
    let plan = session.lance_sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    let act = Arc::new(tokio::sync::Mutex::new(Some(act.boxed())));
    let work = Arc::new(Meanwhile { work: plan.children()[0].clone(), act });
    let plan = plan.with_new_children(vec![work]).unwrap();
    let rows = collect(plan, session.task_ctx()).await;
    Ok(counts(&rows.map_err(|error| error.strip_backtrace())?))
}

/// fragments_removed, fragments_added, files_removed, files_added, version
fn counts(rows: &[RecordBatch]) -> Vec<i64> {
    let columns = rows[0].columns().iter();
    let numbers = columns.map(|column| column.as_any().downcast_ref::<Int64Array>().unwrap());
    numbers.map(|numbers| numbers.value(0)).collect()
}

const OPTIMIZE: &str = "OPTIMIZE TABLE t WITH (target_rows_per_fragment = 200)";

/// Six fragments of 100 rows, which are three tasks, indexed by `i`.
async fn six(stable_row_ids: bool) -> Arc<Table> {
    let fragments: Vec<_> = (0..6).map(|at| letters(at * 100..at * 100 + 100, |_| "A")).collect();
    let table = Table::new(&fragments, stable_row_ids).await;
    table.sql("CREATE INDEX i ON t (id)").await;
    Arc::new(table)
}

async fn fragments(table: &Table) -> usize {
    table.open().await.get_fragments().len()
}

fn data_files(table: &Table) -> usize {
    std::fs::read_dir(format!("{}/data", table.uri)).unwrap().count()
}

#[tokio::test]
async fn one_commit_of_all_tasks() {
    for stable_row_ids in [false, true] {
        let table = six(stable_row_ids).await;
        let before = table.version().await;
        let rows = table.sql(OPTIMIZE).await;
        // One version reserves the ids of the new fragments, one has them.
        assert_eq!(counts(&rows), [6, 3, 6, 3, before as i64 + 2]);
        assert_eq!(fragments(&table).await, 3);
        assert_eq!(table.segments("i").await.concat().len(), 3);
        assert_eq!(table.oracle("i", "id BETWEEN 150 AND 449").await, 300);
    }
}

#[tokio::test]
async fn an_append_meanwhile_survives() {
    for stable_row_ids in [false, true] {
        let table = six(stable_row_ids).await;
        let other = table.clone();
        let done = race(&table.session, OPTIMIZE, async move {
            other.append(letters(1000..1100, |_| "B")).await;
        });
        assert_eq!(done.await.unwrap()[..2], [6, 3]);
        assert_eq!(fragments(&table).await, 4);
        assert_eq!(table.number("SELECT count(*) FROM t").await, 700);
        assert_eq!(table.oracle("i", "id > 550").await, 149);
    }
}

/// The task whose fragment lost rows is done again; what the others wrote is committed with it.
#[tokio::test]
async fn a_delete_meanwhile_is_not_undone() {
    for stable_row_ids in [false, true] {
        let table = six(stable_row_ids).await;
        let files = data_files(&table);
        let other = table.clone();
        let done = race(&table.session, OPTIMIZE, async move {
            other.delete("id < 50").await;
        });
        assert_eq!(done.await.unwrap()[..2], [6, 3]);
        assert_eq!(fragments(&table).await, 3);
        // What was written in vain is gone.
        assert_eq!(data_files(&table), files + 3);
        assert_eq!(table.number("SELECT count(*) FROM t").await, 550);
        assert_eq!(table.oracle("i", "id < 100").await, 50);
    }
}

/// Lance doesn't check a commit against versions that are gone.
#[tokio::test]
async fn a_delete_whose_version_is_gone_is_not_undone() {
    for stable_row_ids in [false, true] {
        let table = six(stable_row_ids).await;
        let other = table.clone();
        let done = race(&table.session, OPTIMIZE, async move {
            other.delete("id < 50").await;
            other.append(letters(1000..1010, |_| "B")).await;
            let removed = other.sql("VACUUM TABLE t WITH (older_than = '0 seconds')").await;
            assert!(counts(&removed)[0] > 2);
        });
        done.await.unwrap();
        assert_eq!(table.number("SELECT count(*) FROM t").await, 560);
        assert_eq!(table.oracle("i", "id < 100").await, 50);
        assert_eq!(table.oracle("i", "id > 500").await, 109);
    }
}

/// A cleanup that spares nothing takes the new files, which no version names yet.
#[tokio::test]
async fn files_that_a_cleanup_took_are_not_committed() {
    let table = six(false).await;
    let other = table.clone();
    let done = race(&table.session, OPTIMIZE, async move {
        let vacuum = "VACUUM TABLE t WITH (older_than = '0 seconds', delete_unverified = true)";
        other.sql(vacuum).await;
    });
    assert_eq!(done.await.unwrap()[..2], [6, 3]);
    let table = table.again(config()).await;
    assert_eq!(table.number("SELECT count(*) FROM t").await, 600);
    assert_eq!(table.oracle("i", "id BETWEEN 150 AND 449").await, 300);
}

#[tokio::test]
async fn an_index_that_was_created_meanwhile_stays_right() {
    for stable_row_ids in [false, true] {
        let fragments: Vec<_> = (0..4)
            .map(|at| letters(at * 100..at * 100 + 100, |id| if id % 2 == 0 { "A" } else { "B" }))
            .collect();
        let table = Arc::new(Table::new(&fragments, stable_row_ids).await);
        let other = table.clone();
        let done = race(&table.session, OPTIMIZE, async move {
            other.sql("CREATE INDEX i ON t (id); CREATE INDEX j ON t USING bitmap (cat)").await;
        });
        assert_eq!(done.await.unwrap()[..2], [4, 2]);
        assert_eq!(table.oracle("i", "id BETWEEN 150 AND 249").await, 100);
        assert_eq!(table.oracle("j", "cat = 'A'").await, 200);
    }
}

#[tokio::test]
async fn another_compaction_was_faster() {
    let table = six(false).await;
    let other = table.clone();
    let done = race(&table.session, OPTIMIZE, async move { other.compact().await }).await.unwrap();
    assert_eq!(done[..4], [0, 0, 0, 0]);
    assert_eq!(done[4], table.version().await as i64);
    assert_eq!(table.oracle("i", "id BETWEEN 150 AND 449").await, 300);
}

/// What is planned may wait for its execution.
#[tokio::test]
async fn a_plan_that_is_out_of_date() {
    let table = six(false).await;
    let planned = table.session.lance_sql(OPTIMIZE).await.unwrap();
    table.delete("id BETWEEN 50 AND 249").await;
    table.append(letters(1000..1010, |_| "B")).await;
    table.sql("VACUUM TABLE t WITH (older_than = '0 seconds')").await;
    planned.collect().await.unwrap();
    assert_eq!(table.number("SELECT count(*) FROM t").await, 410);
    assert_eq!(table.oracle("i", "id BETWEEN 0 AND 299").await, 100);
}

/// The other writer comes between our last look and our commit: Lance tells.
#[tokio::test]
async fn a_delete_while_the_commit_is_under_way() {
    let table = six(false).await;
    let (files, indexes) = (data_files(&table), index_directories(&table));
    let other = table.clone();
    let session = scripted(&table, move |n| {
        let other = other.clone();
        let delete = async move { other.delete("id < 50").await };
        if n == 0 { Does::ComeSecond(delete.boxed()) } else { Does::Commit }
    })
    .await;
    run(&session, OPTIMIZE).await.unwrap();
    assert_eq!(fragments(&table).await, 3);
    assert_eq!(table.number("SELECT count(*) FROM t").await, 550);
    assert_eq!(table.oracle("i", "id < 100").await, 50);
    // Neither fragments nor segments that were written in vain are left.
    assert_eq!(data_files(&table), files + 3);
    assert_eq!(index_directories(&table), indexes + 1);
}

#[tokio::test]
async fn a_statement_gives_way_only_so_often() {
    let table = six(false).await;
    let (files, other) = (data_files(&table), table.clone());
    let next = Arc::new(Mutex::new(0));
    let session = scripted(&table, move |_| {
        let mut next = next.lock().unwrap();
        let (other, id) = (other.clone(), *next);
        *next += 1;
        Does::ComeSecond(async move { other.delete(&format!("id = {id}")).await }.boxed())
    })
    .await;
    run(&session, "SET lance_index.commit_retries = 2").await.unwrap();
    let error = run(&session, OPTIMIZE).await.unwrap_err();
    assert!(error.contains("table 't': other writers were faster 3 times"), "{error}");
    assert!(error.contains("nothing was committed"), "{error}");
    assert_eq!(fragments(&table).await, 6);
    assert_eq!(data_files(&table), files);
    assert_eq!(index_directories(&table), 1);
    table.same_rows("id < 100").await;
}

#[tokio::test]
async fn an_overwrite_while_the_commit_is_under_way() {
    let table = six(false).await;
    let files = data_files(&table);
    let other = table.clone();
    let session = scripted(&table, move |n| {
        let other = other.clone();
        let overwrite = async move { other.overwrite(letters(0..10, |_| "C")).await };
        if n == 0 { Does::ComeSecond(overwrite.boxed()) } else { Does::Commit }
    })
    .await;
    let error = run(&session, OPTIMIZE).await.unwrap_err();
    assert!(error.contains("overwritten or restored"), "{error}");
    assert!(error.contains("nothing was committed"), "{error}");
    assert_eq!(table.number("SELECT count(*) FROM t").await, 10);
    assert_eq!(data_files(&table), files + 1);
}

/// The second commit is that of the compaction; the first reserves ids.
#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_found_again() {
    let table = six(false).await;
    let version = table.version().await;
    let lost = |n| if n == 1 { Does::LoseAnswer } else { Does::Commit };
    let session = scripted(&table, lost).await;
    let done = session.lance_sql(OPTIMIZE).await.unwrap().collect().await.unwrap();
    assert_eq!(counts(&done), [6, 3, 6, 3, version as i64 + 2]);
    assert_eq!(fragments(&table).await, 3);
    assert_eq!(table.oracle("i", "id BETWEEN 150 AND 449").await, 300);
}

#[tokio::test]
async fn a_commit_that_fails_changes_nothing() {
    for fails in [0, 1] {
        let table = six(false).await;
        let session =
            scripted(&table, move |n| if n == fails { Does::Fail } else { Does::Commit }).await;
        let error = run(&session, OPTIMIZE).await.unwrap_err();
        assert!(error.contains("no version up to"), "{error}");
        assert_eq!(fragments(&table).await, 6);
        assert_eq!(table.oracle("i", "id BETWEEN 150 AND 449").await, 300);
        table.sql(OPTIMIZE).await;
        assert_eq!(fragments(&table).await, 3);
        assert_eq!(table.oracle("i", "id BETWEEN 150 AND 449").await, 300);
    }
}

/// One of the tasks can't read its rows: what the others wrote is removed.
#[tokio::test]
async fn a_task_that_fails() {
    let table = six(false).await;
    let version = table.version().await;
    let dataset = table.open().await;
    let broken = &dataset.get_fragments()[5].metadata().files[0].path.clone();
    std::fs::remove_file(format!("{}/data/{broken}", table.uri)).unwrap();
    let files = data_files(&table);
    table.sql("SET lance_index.max_concurrent_units = 1; SET lance_index.max_attempts = 2").await;
    let error = table.error(OPTIMIZE).await;
    assert!(error.contains("compaction task 2 failed in attempt"), "{error}");
    assert!(error.contains("nothing was committed"), "{error}");
    assert_eq!(table.version().await, version);
    assert_eq!(data_files(&table), files);
}

/// C43: rows at the edges of a deleted range, after compaction.
#[tokio::test]
async fn c43_delete_a_range_and_compact() {
    for stable_row_ids in [false, true] {
        let fragments: Vec<_> =
            (0..3).map(|at| letters(at * 5000..at * 5000 + 5000, |_| "A")).collect();
        let table = Table::new(&fragments, stable_row_ids).await;
        table.sql("CREATE INDEX i ON t (id)").await;
        table.delete("id BETWEEN 4000 AND 10999").await;
        table.sql("OPTIMIZE TABLE t").await;
        assert_eq!(self::fragments(&table).await, 1);
        for (predicate, rows) in [
            ("id = 3999", 1),
            ("id = 4000", 0),
            ("id = 10999", 0),
            ("id = 11000", 1),
            ("id = 0", 1),
            ("id = 14999", 1),
            ("id BETWEEN 3990 AND 11009", 20),
        ] {
            assert_eq!(table.oracle("i", predicate).await, rows, "{predicate}");
        }
    }
}

/// C45: one fragment indexed, one not, every fourth row deleted in both.
#[tokio::test]
async fn c45_delete_every_fourth_and_compact() {
    for stable_row_ids in [false, true] {
        for method in ["btree", "bitmap", "zonemap", "bloomfilter"] {
            let table = Table::new(&[letters(0..200, |_| "A")], stable_row_ids).await;
            table.sql(&format!("CREATE INDEX i ON t USING {method} (id)")).await;
            table.append(letters(200..400, |_| "A")).await;
            table.delete("id % 4 = 0").await;
            table.sql("OPTIMIZE TABLE t").await;
            assert_eq!(table.number("SELECT count(*) FROM t").await, 300);
            table.same_rows("id = 101").await;
            table.sql("ALTER TABLE t REFRESH INDEX i").await;
            for (predicate, rows) in [("id = 101", 1), ("id = 100", 0), ("id = 301", 1)] {
                assert_eq!(table.oracle("i", predicate).await, rows, "{method} {predicate}");
            }
            table.sql("OPTIMIZE TABLE t; ALTER TABLE t REFRESH INDEX i").await;
            assert_eq!(table.oracle("i", "id IN (1, 201, 399)").await, 3, "{method}");
        }
    }
}

#[tokio::test]
async fn full_text_follows() {
    for stable_row_ids in [false, true] {
        let fragments = [letters(0..50, |_| "A"), letters(50..100, |_| "B")];
        let table = Table::new(&fragments, stable_row_ids).await;
        table.sql("CREATE INDEX i ON t USING fts (txt)").await;
        table.delete("id % 10 = 0").await;
        assert_eq!(table.reported("OPTIMIZE TABLE t", "fragments_added").await, 1);
        let refresh = "ALTER TABLE t REFRESH INDEX i";
        assert_eq!(table.reported(refresh, "fragments_indexed").await, 0);
        let expected =
            |ids: std::ops::Range<i64>| -> Vec<i64> { ids.filter(|id| id % 10 != 0).collect() };
        assert_eq!(full_text(&table, "txt", "apple").await, expected(0..50));
        assert_eq!(full_text(&table, "txt", "bpple").await, expected(50..100));
    }
}

/// Deletions are written out of fragments that have enough of them.
#[tokio::test]
async fn deletions() {
    for (option, rewritten) in [
        ("materialize_deletions_threshold = 0.1", 1),
        ("materialize_deletions_threshold = 0.3", 0),
        ("materialize_deletions = false", 0),
        ("target_rows_per_fragment = 50", 1),
    ] {
        let table = Table::new(&[letters(0..100, |_| "A")], false).await;
        table.sql("CREATE INDEX i ON t (id)").await;
        table.delete("id < 20").await;
        let optimize = format!("OPTIMIZE TABLE t WITH ({option})");
        assert_eq!(table.reported(&optimize, "fragments_removed").await, rewritten, "{option}");
        assert_eq!(table.oracle("i", "id < 40").await, 20);
    }
}

/// What a statement leaves open is up to the table.
#[tokio::test]
async fn the_tables_own_settings() {
    let table = six(false).await;
    let own = [
        ("lance.compaction.target_rows_per_fragment", Some("300")),
        ("lance.compaction.defer_index_remap", Some("true")),
    ];
    table.open().await.update_config(own).await.unwrap();
    assert_eq!(table.reported("OPTIMIZE TABLE t", "fragments_added").await, 2);
    // Coverage is carried over at once all the same.
    assert_eq!(table.segments("i").await.concat().len(), 2);
    assert_eq!(table.oracle("i", "id BETWEEN 150 AND 449").await, 300);
    let wider = "OPTIMIZE TABLE t WITH (target_rows_per_fragment = 1000)";
    assert_eq!(table.reported(wider, "fragments_added").await, 1);
}

#[tokio::test]
async fn a_statement_that_is_dropped_before_it_commits() {
    let table = six(false).await;
    let version = table.version().await;
    let statement = race(&table.session, OPTIMIZE, std::future::pending());
    let limit = std::time::Duration::from_millis(500);
    assert!(tokio::time::timeout(limit, statement).await.is_err());
    tokio::time::sleep(limit).await;
    assert_eq!(table.version().await, version);
    assert_eq!(fragments(&table).await, 6);
}

/// Once begun, the commit comes to its end.
#[tokio::test]
async fn a_statement_that_is_dropped_while_it_commits() {
    let table = six(false).await;
    let session = scripted(&table, |_| {
        Does::ComeSecond(tokio::time::sleep(std::time::Duration::from_millis(300)).boxed())
    })
    .await;
    let version = table.version().await;
    let statement = run(&session, OPTIMIZE);
    let limit = std::time::Duration::from_millis(400);
    assert!(tokio::time::timeout(limit, statement).await.is_err());
    for _ in 0..100 {
        if table.version().await >= version + 2 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(table.version().await, version + 2);
    assert_eq!(fragments(&table).await, 3);
    assert_eq!(table.oracle("i", "id BETWEEN 150 AND 449").await, 300);
}

#[tokio::test]
async fn progress_is_among_the_metrics() {
    let table = six(false).await;
    let plan = table.session.lance_sql(OPTIMIZE).await.unwrap();
    let plan = plan.create_physical_plan().await.unwrap();
    let work = plan.children()[0].clone();
    let progress = |units_done, rows_done| Progress {
        units: 3,
        units_done,
        rows: 600,
        rows_done,
        ..Progress::default()
    };
    assert_eq!(Progress::of(plan.as_ref()), Some(progress(0, 0)));
    collect(plan.clone(), table.session.task_ctx()).await.unwrap();
    assert_eq!(Progress::of(plan.as_ref()), Some(progress(3, 600)));
    let count = |name| work.metrics().unwrap().sum_by_name(name).unwrap().as_usize();
    assert_eq!([count("unit_1_rows"), count("unit_1_attempts")], [200, 1]);
}
