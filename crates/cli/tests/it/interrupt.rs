use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{lance_sql, run};

/// Index names and the number of the latest version.
fn state(directory: &Path) -> (String, usize) {
    let arguments = ["-q", "--table", "t=t.lance", "--format=csv", "-c", "SHOW INDEXES FROM t"];
    let shown = run(directory, &arguments);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    let versions = std::fs::read_dir(directory.join("t.lance/_versions")).unwrap();
    let manifests = versions.filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|e| e == "manifest")
    });
    (shown.stdout, manifests.count())
}

fn interrupt(shell: &Child) {
    let kill = format!("kill -INT {}", shell.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

#[test]
fn waiting_for_input_is_interrupted() {
    let directory = tempfile::tempdir().unwrap();
    let mut shell = lance_sql(directory.path())
        .args(["-q", "--format=csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = shell.stdin.take().unwrap();
    stdin.write_all(b"SELECT 'ready' x;\nSELECT").unwrap();
    let mut stdout = BufReader::new(shell.stdout.take().unwrap());
    let mut line = String::new();
    while line != "ready\n" {
        line.clear();
        assert!(stdout.read_line(&mut line).unwrap() > 0, "it ended too early");
    }
    thread::sleep(Duration::from_millis(200));
    interrupt(&shell);
    let output = shell.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "Error: interrupted\n");
    drop(stdin);
}

#[test]
fn an_interrupted_build_leaves_the_table_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let made = run(
        path,
        &[
            "-q",
            "-c",
            "CREATE EXTERNAL TABLE t (s VARCHAR) STORED AS LANCE LOCATION 't.lance'",
            "-c",
            "INSERT INTO t SELECT concat_ws(' ', 'a', value, 'word', value * 7, 'and', value * 31) \
             FROM generate_series(1, 1500000)",
        ],
    );
    assert_eq!((made.code, made.stderr.as_str()), (Some(0), ""));
    let before = state(path);

    let mut build = lance_sql(path)
        .args(["-q", "--keep-going", "--table", "t=t.lance", "--format=csv"])
        .args(["-c", "SELECT 'ready' x", "-c", "CREATE INDEX i ON t USING fts (s)"])
        .args(["-c", "SELECT 'later' x"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(build.stdout.take().unwrap());
    let mut line = String::new();
    while line != "ready\n" {
        line.clear();
        assert!(stdout.read_line(&mut line).unwrap() > 0, "it ended too early");
    }
    thread::sleep(Duration::from_millis(500));
    assert!(build.try_wait().unwrap().is_none(), "the build is too quick to be interrupted");
    let interrupted = Instant::now();
    interrupt(&build);

    let mut rest = String::new();
    std::io::Read::read_to_string(&mut stdout, &mut rest).unwrap();
    let output = build.wait_with_output().unwrap();
    assert!(interrupted.elapsed() < Duration::from_secs(20), "{:?}", interrupted.elapsed());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(rest, "", "nothing ran after it");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "Error: interrupted; the statement was stopped\n");
    assert_eq!(state(path), before);
}
