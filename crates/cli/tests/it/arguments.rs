use crate::{run, with_table};

fn empty() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn files_then_commands_in_order() {
    let directory = empty();
    std::fs::write(directory.path().join("a.sql"), "SELECT 'a1' x; SELECT 'a2' x;").unwrap();
    std::fs::write(directory.path().join("b.sql"), "-- nothing but\nSELECT 'b' x").unwrap();
    let arguments = [
        ["-q", "--format=csv"],
        ["-c", "SELECT 1 x"],
        ["-f", "a.sql"],
        ["-c", "SELECT 2 x"],
        ["-f", "b.sql"],
    ];
    let ran = run(directory.path(), &arguments.concat());
    assert_eq!(ran.stdout, "x\na1\nx\na2\nx\nb\nx\n1\nx\n2\n");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn statements_share_a_session() {
    let ran = run(
        empty().path(),
        &["-q", "--format=csv", "-c", "CREATE VIEW v AS SELECT 3 x", "-c", "SELECT x + 1 y FROM v"],
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "y\n4\n"));
}

#[test]
fn no_statement_is_no_error() {
    for text in ["", " ", ";;", "-- a comment"] {
        let ran = run(empty().path(), &["-c", text]);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    }
}

#[test]
fn tables() {
    let directory = with_table(3);
    let uri = directory.path().join("t.lance");
    let absolute = format!("\"My T\"={}", uri.display());
    let arguments = ["-q", "--format=csv", "--table", "a=t.lance", "--table", &absolute];
    let query = "SELECT count(*) n FROM a JOIN \"My T\" b ON a.id = b.id";
    let ran = run(directory.path(), &[&arguments[..], &["-c", query]].concat());
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "n\n3\n", ""));
}

#[test]
fn tables_that_are_none() {
    for wrong in ["t", "t=", "=uri", ""] {
        let ran = run(empty().path(), &["--table", wrong, "-c", "SELECT 1"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "--table {wrong}");
        assert!(ran.stderr.contains("'--table <NAME=URI>': write name=uri"), "{}", ran.stderr);
    }
    let ran = run(empty().path(), &["--table", "t=nope.lance", "-c", "SELECT 1"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert_eq!(ran.stderr, "Error: there is no Lance table at 'nope.lance'\n");
}

#[test]
fn a_file_that_is_none() {
    let directory = empty();
    std::fs::write(directory.path().join("a.sql"), "SELECT 1").unwrap();
    let ran = run(directory.path(), &["-f", "a.sql", "-f", "b.sql"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "nothing runs");
    assert_eq!(ran.stderr, "Error: can't read b.sql: No such file or directory (os error 2)\n");
}

#[test]
fn options_that_are_none() {
    for wrong in [&["--nope"][..], &["--format", "xml"], &["--maxrows", "some"]] {
        let ran = run(empty().path(), wrong);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    }
}

#[test]
fn help_and_version() {
    let ran = run(empty().path(), &["--version"]);
    assert_eq!(ran.stdout, format!("lance-sql {}\n", env!("CARGO_PKG_VERSION")));
    let help = run(empty().path(), &["--help"]).stdout;
    let page = std::fs::read_to_string(crate::root().join("docs/shell.md")).unwrap();
    let words = help.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    for flag in words.filter(|word| word.starts_with('-') && word.len() > 1) {
        assert!(page.contains(&format!("`{flag}")), "docs/shell.md doesn't have {flag}");
    }
}
