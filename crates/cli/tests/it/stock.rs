//! datafusion-cli's own loop, which can't be taught to read our statements, around a session that
//! knows our functions.

use std::{
    fs::File,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_cli::{
    exec::{exec_from_commands, exec_from_repl},
    object_storage::instrumented::InstrumentedObjectStoreRegistry,
    print_format::PrintFormat,
    print_options::{MaxRows, PrintOptions},
};
use datafusion_lance_index::session::SessionContextExt;

use crate::{Ran, ran, run};

/// Says what the loop is to run; without it, it reads lines as typed by a person.
const COMMANDS: &str = "STOCK_LOOP_COMMANDS";

/// No test of its own: what the tests below run as a process, since the loop prints to stdout.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "the other tests run it"]
async fn stock_loop() {
    let session = SessionContext::new_with_config(SessionConfig::new());
    session.register_lance_index();
    let mut print = PrintOptions {
        format: PrintFormat::Csv,
        quiet: true,
        maxrows: MaxRows::Unlimited,
        color: false,
        instrumented_registry: Arc::new(InstrumentedObjectStoreRegistry::new()),
    };
    match std::env::var(COMMANDS) {
        Ok(commands) => {
            let commands = commands.lines().map(str::to_string).collect();
            if let Err(error) = exec_from_commands(&session, commands, &print).await {
                eprintln!("{error}");
            }
        }
        Err(_) => exec_from_repl(&session, &mut print).await.unwrap(),
    }
}

fn the_loop(directory: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.current_dir(directory).env("RUST_BACKTRACE", "0").args([
        "--ignored",
        "--exact",
        "stock::stock_loop",
        "--nocapture",
    ]);
    command
}

/// What the loop printed, without what the test runner does.
fn printed(command: &mut Command) -> Ran {
    let mut ran = ran(command);
    let lines = ran.stdout.lines().filter(|line| {
        let runner = ["running 1 test", "test stock::stock_loop", "test result:"];
        !line.is_empty() && !runner.iter().any(|start| line.starts_with(start))
    });
    ran.stdout = lines.map(|line| format!("{line}\n")).collect();
    ran
}

const COMMANDS_AND_ANSWERS: [(&str, &str); 11] = [
    ("CREATE EXTERNAL TABLE t (id BIGINT, kind VARCHAR) STORED AS LANCE LOCATION 't.lance'", ""),
    (
        "INSERT INTO t SELECT value, concat('kind', value % 7) FROM generate_series(1, 100)",
        "count\n100\n",
    ),
    (
        "SELECT * FROM lance_create_index('t', 'by_id', 'id')",
        "index_name,fragments_indexed,segments_added,version\nby_id,1,1,4\n",
    ),
    ("SELECT version FROM lance_create_index('t', 'by_kind', 'kind', 'bitmap')", "version\n6\n"),
    ("INSERT INTO t VALUES (101, 'late')", "count\n1\n"),
    (
        "SELECT name, num_unindexed_rows FROM lance_indexes('t')",
        "name,num_unindexed_rows\nby_id,1\nby_kind,1\n",
    ),
    (
        "SELECT index_name, segments_added, version FROM lance_refresh_indexes('t')",
        "index_name,segments_added,version\nby_id,1,8\nby_kind,1,9\n",
    ),
    ("SELECT id FROM t WHERE kind = 'late'", "id\n101\n"),
    (
        "SELECT index_name, count(*) AS n FROM lance_index_segments('t') GROUP BY 1 ORDER BY 1",
        "index_name,n\nby_id,2\nby_kind,2\n",
    ),
    (
        "SELECT * FROM lance_drop_index('t', 'by_id')",
        "index_name,segments_removed,version\nby_id,2,11\n",
    ),
    ("SELECT name, state FROM lance_indexes('t')", "name,state\nby_kind,ready\n"),
];

fn commands_and_answers() -> (String, String) {
    let (commands, answers): (Vec<&str>, Vec<&str>) = COMMANDS_AND_ANSWERS.into_iter().unzip();
    (commands.join(";\n") + ";\n", answers.concat())
}

/// What is there to see for the shell, in another process.
fn effects(directory: &Path) {
    let show = "SELECT name, num_segments, indexed_percent FROM lance_indexes('t')";
    let shown = run(directory, &["-q", "--format=csv", "--table=t=t.lance", "-c", show]);
    assert_eq!(shown.stdout, "name,num_segments,indexed_percent\nby_kind,2,100.0\n");
}

#[test]
fn commands() {
    let directory = tempfile::tempdir().unwrap();
    let (commands, answers) = commands_and_answers();
    let ran = printed(the_loop(directory.path()).env(COMMANDS, commands));
    assert_eq!((ran.stdout, ran.code), (answers, Some(0)), "{}", ran.stderr);
    effects(directory.path());
}

#[test]
fn typed_lines() {
    let directory = tempfile::tempdir().unwrap();
    let (commands, answers) = commands_and_answers();
    let input = directory.path().join("input");
    std::fs::write(&input, commands).unwrap();
    let input = File::open(input).unwrap();
    let ran = printed(the_loop(directory.path()).stdin(Stdio::from(input)));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    // The loop says that it leaves.
    assert_eq!(ran.stdout, answers + "\\q\n", "{}", ran.stderr);
    effects(directory.path());
}

#[test]
fn errors() {
    let directory = tempfile::tempdir().unwrap();
    let commands = "CREATE EXTERNAL TABLE t (id BIGINT) STORED AS LANCE LOCATION 't.lance'\n\
                    SELECT * FROM lance_refresh_index('t', 'none')";
    let ran = printed(the_loop(directory.path()).env(COMMANDS, commands));
    assert_eq!(ran.stdout, "");
    let error = "lance_refresh_index: there is no index 'none' on table t (there is none)";
    assert!(ran.stderr.contains(error), "{}", ran.stderr);
}
