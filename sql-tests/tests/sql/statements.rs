//! What a script can't show: the answer of a text of several statements.

use datafusion_lance_index::session::SessionContextExt;
use libtest_mimic::{Failed, Trial};

use crate::{Result, block_on, session};

pub fn trials() -> Vec<Trial> {
    let trial = || block_on(the_second_of_three_is_wrong()).map_err(Failed::from);
    vec![Trial::test("statements/the_second_of_three_is_wrong", trial)]
}

/// C11: the first has been done, the error points into the second, the third isn't run.
async fn the_second_of_three_is_wrong() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let context = session();
    let setup = format!(
        "CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{}/t';
         INSERT INTO t VALUES (1), (2), (3)",
        directory.path().display()
    );
    context.lance_sql(&setup).await?.collect().await?;
    for (wrong, place) in [
        // As a text.
        ("ALTER TABLE t REFRESH INDEX", "at Line: 2, Column: 28"),
        // To who looks for the index.
        ("ALTER TABLE t REFRESH INDEX second", "at Line: 2, Column: 29"),
        // To who reads the options.
        ("ALTER TABLE t REFRESH INDEX first WITH (threads = 1)", "at Line: 2, Column: 41"),
    ] {
        let text = format!("CREATE INDEX first ON t (id);\n{wrong};\nCREATE INDEX third ON t (id)");
        let error = context.lance_sql(&text).await.err().ok_or("no error")?.strip_backtrace();
        assert!(error.contains(place), "{error}");
        let shown = context.lance_sql("SHOW INDEXES IN t").await?.to_string().await?;
        assert!(shown.contains("| first ") && !shown.contains("| third "), "{shown}");
        context.lance_sql("DROP INDEX first ON t").await?.collect().await?;
    }
    Ok(())
}
