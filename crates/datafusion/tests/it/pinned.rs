//! Tables opened at a version, a tag or a branch.

use lance::dataset::refs::Ref;

use crate::support::{Table, config, elsewhere, half_and_half, letters};

const CHANGES: [&str; 12] = [
    "INSERT INTO p (id) VALUES (1)",
    "INSERT OVERWRITE p SELECT * FROM p",
    "DELETE FROM p WHERE id = 1",
    "UPDATE p SET other = 1",
    "TRUNCATE TABLE p",
    "CREATE INDEX j ON p (cat)",
    "ALTER TABLE p REFRESH INDEXES",
    "DROP INDEX i ON p",
    "EXPLAIN ALTER TABLE p REFRESH INDEX i",
    "OPTIMIZE TABLE p",
    "VACUUM TABLE p",
    "SELECT * FROM lance_refresh_index('p', 'i')",
];

async fn open(table: &Table, options: &str) {
    let (uri, drop) = (&table.uri, "DROP TABLE IF EXISTS p");
    let create =
        format!("CREATE EXTERNAL TABLE p STORED AS LANCE LOCATION '{uri}' OPTIONS ({options})");
    table.sql(&format!("{drop}; {create}")).await;
}

#[tokio::test]
async fn a_version_or_tag_is_read_only() {
    let table = Table::new(&[half_and_half()], false).await;
    table.sql("CREATE INDEX i ON t (id)").await;
    let version = table.version().await;
    table.open().await.tags().create("then", version).await.unwrap();
    table.append(letters(100..110, |_| "C")).await;
    let now = table.version().await;
    for options in
        [format!("version '{version}'"), format!("version {version}"), "tag 'then'".into()]
    {
        open(&table, &options).await;
        assert_eq!(table.number("SELECT count(*) FROM p").await, 100);
        assert_eq!(table.number("SELECT count(*) FROM p WHERE id >= 90").await, 10);
        let shown = table.print("SHOW INDEXES FROM p").await;
        assert!(shown.contains("ready"), "{shown}");
        for change in CHANGES {
            let error = table.error(change).await;
            assert!(error.contains("where it can only be read"), "{change}: {error}");
        }
    }
    assert_eq!(table.version().await, now);
    for (options, error) in [
        ("version '99'", "there is no version 99 of a Lance table"),
        ("tag 'never'", "there is no tag 'never' of a Lance table"),
        ("branch 'never'", "there is no branch 'never' of a Lance table"),
        ("version 'one'", "option 'version' takes a number, not 'one'"),
        ("version '1', tag 'then'", "excludes"),
    ] {
        let create = format!(
            "CREATE EXTERNAL TABLE q STORED AS LANCE LOCATION '{}' OPTIONS ({options})",
            table.uri
        );
        let found = table.error(&create).await;
        assert!(found.contains(error), "{options}: {found}");
    }
}

/// What is done on a branch is done there, and main doesn't see it.
#[tokio::test]
async fn a_branch_is_maintained_on_the_branch() {
    for (stable_row_ids, config) in
        [(false, config()), (true, config()), (false, elsewhere()), (true, elsewhere())]
    {
        let table = Table::with_config(&[half_and_half()], stable_row_ids, config).await;
        table.sql("CREATE INDEX i ON t (id); CREATE INDEX j ON t USING bitmap (cat)").await;
        let main = table.version().await;
        table.open().await.create_branch("b", Ref::from(main), None).await.unwrap();
        open(&table, "branch 'b'").await;
        table.sql("INSERT INTO p SELECT * FROM p WHERE id < 10").await;
        table.sql("UPDATE p SET cat = 'C' WHERE id < 5").await;
        table.sql("DELETE FROM p WHERE id = 9").await;
        assert_eq!(table.reported("ALTER TABLE p REFRESH INDEX i", "fragments_indexed").await, 2);
        table.sql("ALTER TABLE p REFRESH INDEX j").await;
        let plan = table.print("EXPLAIN SELECT * FROM p WHERE id = 7").await;
        assert!(plan.contains("ScalarIndexQuery"), "{plan}");
        for (predicate, rows) in [("id = 7", 2), ("id < 10", 18), ("cat = 'C'", 10), ("id = 9", 0)]
        {
            let count = format!("SELECT count(*) FROM p WHERE {predicate}");
            assert_eq!(table.number(&count).await, rows, "{predicate}");
        }
        let shown = table.print("SHOW INDEXES FROM p").await;
        assert_eq!(shown.matches("ready").count(), 2, "{shown}");
        table.sql("CREATE INDEX k ON p USING zonemap (other); DROP INDEX k ON p").await;
        let small = "SELECT count(DISTINCT fragments) FROM lance_index_segments('p', 'i')";
        assert_eq!(table.number(small).await, 2);
        assert_eq!(table.reported("OPTIMIZE TABLE p", "fragments_removed").await, 2);
        table.sql("ALTER TABLE p REFRESH INDEXES").await;
        table.sql("VACUUM TABLE p WITH (older_than = '0 seconds')").await;
        for (predicate, rows) in [("id = 7", 2), ("cat = 'C'", 10), ("id = 9", 0)] {
            let count = format!("SELECT count(*) FROM p WHERE {predicate}");
            assert_eq!(table.number(&count).await, rows, "{predicate}");
        }
        table.sql("INSERT OVERWRITE p SELECT * FROM p WHERE cat = 'C'").await;
        let version = table.reported("ALTER TABLE p REFRESH INDEXES", "version").await;
        assert_eq!(table.number("SELECT count(*) FROM p WHERE cat = 'C'").await, 10);
        assert_eq!(table.number("SELECT count(*) FROM p WHERE id < 100").await, 10);
        // Main is as it was.
        assert_eq!(table.version().await, main);
        assert_eq!(table.number("SELECT count(*) FROM t").await, 100);
        table.oracle("i", "id < 10").await;
        // And a version of the branch is one of the branch.
        open(&table, &format!("branch 'b', version {version}")).await;
        assert!(table.error("DELETE FROM p").await.contains("where it can only be read"));
    }
}

/// Lance loses the files of a segment from before the branch where it remaps them.
#[tokio::test]
async fn a_branch_is_not_compacted_under_indexes_from_before_it() {
    let table = Table::new(&[half_and_half()], false).await;
    table.append(letters(100..120, |_| "C")).await;
    table.sql("CREATE INDEX i ON t (id)").await;
    let main = table.version().await;
    table.open().await.create_branch("b", Ref::from(main), None).await.unwrap();
    open(&table, "branch 'b'").await;
    for statement in ["OPTIMIZE TABLE p", "EXPLAIN OPTIMIZE TABLE p"] {
        let error = table.error(statement).await;
        assert!(error.contains("index 'i' covers since before this branch"), "{error}");
    }
    let found = "SELECT count(*) FROM p WHERE id BETWEEN 95 AND 104";
    assert_eq!(table.number(found).await, 10);
    table.sql("CREATE OR REPLACE INDEX i ON p (id)").await;
    assert_eq!(table.reported("OPTIMIZE TABLE p", "fragments_removed").await, 2);
    assert_eq!(table.number(found).await, 10);
    let plan = table.print(&format!("EXPLAIN {found}")).await;
    assert!(plan.contains("ScalarIndexQuery"), "{plan}");
    assert_eq!(table.version().await, main);
}
