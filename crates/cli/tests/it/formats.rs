use crate::{run, with_table};

const ROWS: &str = "SELECT 1 AS a, 'x,y' AS b UNION ALL SELECT 2, NULL ORDER BY a";

fn printed(arguments: &[&str], statement: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let ran = run(directory.path(), &[arguments, &["-c", statement]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    ran.stdout
}

#[test]
fn table() {
    const TABLE: &str = "\
+---+-----+
| a | b   |
+---+-----+
| 1 | x,y |
| 2 |     |
+---+-----+
";
    assert_eq!(printed(&["-q"], ROWS), TABLE);
    assert_eq!(printed(&["-q", "--format", "table"], ROWS), TABLE);
    assert_eq!(printed(&["-q", "--format", "automatic"], ROWS), TABLE);
}

#[test]
fn separated() {
    assert_eq!(printed(&["-q", "--format", "csv"], ROWS), "a,b\n1,\"x,y\"\n2,\n");
    assert_eq!(printed(&["-q", "--format", "tsv"], ROWS), "a\tb\n1\tx,y\n2\t\n");
}

#[test]
fn json() {
    const LINES: &str = "{\"a\":1,\"b\":\"x,y\"}\n{\"a\":2}\n";
    assert_eq!(printed(&["-q", "--format", "nd-json"], ROWS), LINES);
    assert_eq!(printed(&["-q", "--format", "json"], ROWS), "[{\"a\":1,\"b\":\"x,y\"},{\"a\":2}]\n");
}

#[test]
fn a_header_once_for_many_batches() {
    let numbers = "SELECT value AS n FROM generate_series(1, 20000)";
    let csv = printed(&["-q", "--format", "csv"], numbers);
    assert_eq!(csv.lines().count(), 20_001);
    assert!(csv.starts_with("n\n1\n2\n") && csv.ends_with("\n20000\n"));
    let json = printed(&["-q", "--format", "json"], numbers);
    assert!(json.starts_with("[{\"n\":1},") && json.ends_with(",{\"n\":20000}]\n"));
}

#[test]
fn what_quiet_leaves_out() {
    let loud = printed(&["--format", "csv"], "SELECT 1 AS a");
    let lines: Vec<&str> = loud.lines().collect();
    assert_eq!(&lines[..3], ["a", "1", "1 row(s) fetched."]);
    assert!(lines[3].starts_with("Elapsed "), "{loud}");
    assert_eq!(printed(&["-q", "--format", "csv"], "SELECT 1 AS a"), "a\n1\n");
}

#[test]
fn maxrows() {
    const FIVE: &str = "SELECT value AS n FROM generate_series(1, 5)";
    const TWO_OF_FIVE: &str = "\
+---+
| n |
+---+
| 1 |
| 2 |
| . |
| . |
| . |
+---+
";
    assert_eq!(printed(&["-q", "--maxrows", "2"], FIVE), TWO_OF_FIVE);
    let loud = printed(&["--maxrows", "2"], FIVE);
    assert!(loud.contains("5 row(s) fetched. (First 2 displayed. Use --maxrows to adjust)"));
    // Only tables are cut.
    assert_eq!(printed(&["-q", "--maxrows", "2", "--format", "csv"], FIVE), "n\n1\n2\n3\n4\n5\n");

    let many = "SELECT value AS n FROM generate_series(1, 100)";
    assert_eq!(printed(&["-q", "--maxrows", "inf"], many).lines().count(), 104);
    assert_eq!(printed(&["-q"], many).lines().count(), 40 + 3 + 4);
}

#[test]
fn index_statements_in_every_format() {
    let directory = with_table(10);
    let run = |format: &str, statement: &str| {
        let arguments = ["-q", "--table", "t=t.lance", "--format", format, "-c", statement];
        let ran = run(directory.path(), &arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{format}: {statement}");
        ran.stdout
    };
    let created = run("csv", "CREATE INDEX i ON t (id)");
    assert_eq!(created, "index_name,fragments_indexed,segments_added,version\ni,1,1,4\n");
    for format in ["table", "csv", "tsv", "json", "nd-json"] {
        assert!(run(format, "SHOW INDEXES FROM t").contains("btree"));
        assert!(run(format, "SHOW INDEX SEGMENTS FROM t INDEX i").contains('0'));
        assert!(run(format, "EXPLAIN ALTER TABLE t REFRESH INDEX i").contains("nothing to do"));
    }
}

#[test]
fn notices_go_to_stderr() {
    let directory = with_table(10);
    let arguments = ["-q", "--table", "t=t.lance", "--format", "csv"];
    let statement = "DROP INDEX IF EXISTS i ON t";
    let ran = run(directory.path(), &[&arguments[..], &["-c", statement]].concat());
    assert_eq!(ran.stdout, "index_name,segments_removed,version\ni,0,2\n");
    assert_eq!(ran.stderr, " INFO there is no index 'i'; nothing was done\n");
}
