use std::fs::File;

use crate::{lance_sql, ran, with_table};

fn piped(input: impl AsRef<[u8]>) -> (String, String, Option<i32>) {
    let directory = with_table(3);
    let file = directory.path().join("input");
    std::fs::write(&file, input).unwrap();
    let mut shell = lance_sql(directory.path());
    let ran = ran(shell
        .args(["-q", "--format=csv", "--table=t=t.lance"])
        .stdin(File::open(file).unwrap()));
    (ran.stdout, ran.stderr, ran.code)
}

#[test]
fn statements_over_several_lines() {
    let (stdout, stderr, code) =
        piped("SELECT\n  1 AS a\n;\n\nSELECT 2 AS a; SELECT 3 AS a;\nSELECT ';\n' AS a;\n");
    assert_eq!(stdout, "a\n1\na\n2\na\n3\na\n\";\n\"\n");
    assert_eq!((stderr.as_str(), code), ("", Some(0)));
}

#[test]
fn the_last_statement_needs_no_semicolon() {
    assert_eq!(piped("SELECT 1 AS a;\nSELECT 2 AS a").0, "a\n1\na\n2\n");
    assert_eq!(piped("SELECT 1 AS a\n").0, "a\n1\n");
    assert_eq!(piped("").0, "");
}

#[test]
fn commands() {
    let (stdout, stderr, _) = piped("\\?\n\\d t\n\\nope\n\\q\nSELECT 1 AS a;\n");
    assert!(stdout.starts_with("\\d                    list the tables\n"), "{stdout}");
    assert!(
        stdout.ends_with("column_name,data_type,is_nullable\nid,Int64,YES\nkind,Utf8,YES\n"),
        "nothing runs after \\q: {stdout}"
    );
    assert_eq!(stderr, "Error: there is no command \\nope; \\? lists them\n");
    let tables =
        "table_catalog,table_schema,table_name,table_type\ndatafusion,public,t,BASE TABLE\n";
    assert_eq!(piped("\\d\n").0, tables);
}

#[test]
fn indexes_are_described() {
    let (stdout, stderr, _) =
        piped("CREATE INDEX i ON t (id);\n\\d \"t\";\n\\d information_schema.views\n");
    assert_eq!(stderr, "");
    let indexes = "\
name,fields,index_type,num_segments,indexed_percent,num_unindexed_rows,state
i,id,btree,1,100.0,0,ready
column_name,data_type,is_nullable
";
    assert!(stdout.contains(indexes), "{stdout}");
    let (stdout, stderr, _) = piped("\\d t; DROP TABLE t\n\\d t\n");
    assert_eq!(stdout, "column_name,data_type,is_nullable\nid,Int64,YES\nkind,Utf8,YES\n");
    assert!(stderr.starts_with("Error: "), "{stderr}");
}

#[test]
fn files_are_run() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.sql");
    std::fs::write(&file, "SELECT 1 AS a; SELEC; SELECT 2 AS a").unwrap();
    let (stdout, stderr, _) = piped(format!("\\i {}\n\\i nope.sql\n\\i\n", file.display()));
    assert_eq!(stdout, "a\n1\n");
    assert_eq!(
        stderr,
        "Error: Expected: an SQL statement, found: SELEC at Line: 1, Column: 16\n\
         Error: can't read nope.sql: No such file or directory (os error 2)\n\
         Error: name a file: \\i FILE\n"
    );
}

#[test]
fn printing_is_set() {
    let (stdout, stderr, _) = piped(
        "\\pset\n\\pset format nd-json\nSELECT 1 AS a;\n\\pset maxrows inf\n\\pset maxrows\n\
         \\pset format xml\n\\pset width 3\n\\timing\n\\timing off\n\\timing of\n",
    );
    assert_eq!(
        stdout,
        "format is csv\nmaxrows is 40\nformat is nd-json\n{\"a\":1}\nmaxrows is inf\n\
         maxrows is inf\nTiming is on.\nTiming is off.\n"
    );
    let errors: Vec<&str> = stderr.lines().collect();
    assert!(errors[0].contains("xml"), "{stderr}");
    assert_eq!(errors[1], "Error: \\pset takes format or maxrows, and a value to set it");
    assert_eq!(errors[2], "Error: \\timing takes on or off, not of");
}

#[test]
fn comments_and_commands_between_statements() {
    let (stdout, stderr, _) =
        piped("-- first\n\\timing off\n/* ; */\nSELECT 1 AS a; -- ;\n\\timing off\n");
    assert_eq!((stdout.as_str(), stderr.as_str()), ("Timing is off.\na\n1\nTiming is off.\n", ""));
}

#[test]
fn what_is_not_text() {
    let (stdout, stderr, code) = piped(b"SELECT 1 AS a;\nSELECT '\xff' AS a;\nSELECT 2 AS a;\n");
    assert_eq!((stdout.as_str(), code), ("a\n1\na\n2\n", Some(0)));
    assert_eq!(
        stderr,
        "Error: a statement isn't UTF-8: invalid utf-8 sequence of 1 bytes from index 8\n"
    );
}

#[test]
fn errors_are_shown_and_the_rest_runs() {
    let (stdout, stderr, code) = piped("SELEC 1;\nSHOW INDEXES FROM u;\nSELECT 2 AS a;\n");
    assert_eq!(stdout, "a\n2\n");
    let errors: Vec<&str> = stderr.lines().collect();
    assert_eq!(errors.len(), 2, "{stderr}");
    assert!(errors.iter().all(|error| error.starts_with("Error: ")), "{stderr}");
    assert_eq!(code, Some(0));
}
