use std::fs::File;

use crate::{lance_sql, ran, with_table};

fn piped(input: &str) -> (String, String, Option<i32>) {
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
    assert!(stdout.starts_with("\\q         leave\n"), "{stdout}");
    assert!(
        stdout.ends_with("column_name,data_type,is_nullable\nid,Int64,YES\nkind,Utf8,YES\n"),
        "nothing runs after \\q: {stdout}"
    );
    assert_eq!(stderr, "Error: there is no command \\nope; \\? lists them\n");
    assert!(piped("\\d\n").0.contains("datafusion,public,t,BASE TABLE\n"));
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
