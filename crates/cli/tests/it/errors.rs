use crate::{run, with_table};

fn wrong(statement: &str) -> String {
    let directory = with_table(3);
    let ran = run(directory.path(), &["-q", "--table", "t=t.lance", "-c", statement]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{statement}");
    ran.stderr
}

#[test]
fn nothing_runs_after_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let commands =
        ["-q", "--format=csv", "-c", "SELECT 1 x; SELCT 2; SELECT 3 x", "-c", "SELECT 4 x"];
    let ran = run(directory.path(), &commands);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "x\n1\n"));
    let error = "Error: Expected: an SQL statement, found: SELCT at Line: 1, Column: 13\n";
    assert_eq!(ran.stderr, error);

    let ran = run(directory.path(), &[&["--keep-going"], &commands[..]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "x\n1\nx\n3\nx\n4\n"));
    assert_eq!(ran.stderr, error);
}

#[test]
fn an_error_while_running_ends_the_run() {
    let directory = with_table(3);
    let commands = ["CREATE INDEX i ON t (id)", "CREATE INDEX i ON t (id)", "DROP INDEX i ON t"];
    let arguments = ["-q", "--table", "t=t.lance", "--format=csv", "-c"];
    let text = commands.join(";\n");
    let ran = run(directory.path(), &[&arguments[..], &[&text]].concat());
    assert_eq!(ran.stdout, "index_name,fragments_indexed,segments_added,version\ni,1,1,4\n");
    assert_eq!(
        ran.stderr,
        "Error: index 'i' already exists; CREATE OR REPLACE INDEX replaces it, \
         CREATE INDEX IF NOT EXISTS leaves it\n"
    );
    assert_eq!(ran.code, Some(1));
}

#[test]
fn positions() {
    let refresh = wrong("ALTER TABLE t\n  REFRESH\n  WITH (num_segments = 2)");
    assert_eq!(
        refresh,
        "Error: Expected: INDEX or INDEXES, found: WITH (write `INDEX i` for one index or \
         `INDEXES` for all of the table) at Line: 3, Column: 3\n"
    );
    assert_eq!(
        wrong("CREATE INDEX i ON t (idd)"),
        "Error: there is no column 'idd' (did you mean id?) at Line: 1, Column: 22\n"
    );
    assert_eq!(
        wrong("CREATE INDEX i ON t (id)\nWITH (zone_size = 0)"),
        "Error: option 'zone_size' can't be 0 (it takes a whole number from 1 to 4294967295) \
         at Line: 2, Column: 19\n"
    );
}
