//! The shell as its users run it, and the rules that the workspace keeps.

#![allow(clippy::panic, clippy::unwrap_used)]

mod architecture;
mod arguments;
mod distributed;
mod docs;
mod errors;
mod formats;
mod interrupt;
mod piped;
mod stock;
mod terminal;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The shell, run in `directory`.
fn lance_sql(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lance-sql"));
    // Its history file is of no concern to whoever runs the tests.
    command.current_dir(directory).env("HOME", directory);
    command
}

/// What a run wrote and how it ended.
struct Ran {
    stdout: String,
    stderr: String,
    code: Option<i32>,
}

fn run(directory: &Path, arguments: &[&str]) -> Ran {
    ran(lance_sql(directory).args(arguments))
}

fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
    }
}

/// A directory with the table `t.lance`, `(id BIGINT, kind VARCHAR)`, of that many rows.
fn with_table(rows: u64) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let made = run(
        directory.path(),
        &[
            "-q",
            "-c",
            "CREATE EXTERNAL TABLE t (id BIGINT, kind VARCHAR) STORED AS LANCE LOCATION 't.lance'",
            "-c",
            &format!(
                "INSERT INTO t SELECT value, concat('kind', value % 7) \
                 FROM generate_series(1, {rows})"
            ),
        ],
    );
    assert_eq!((made.code, made.stderr.as_str()), (Some(0), ""));
    directory
}

/// The repository.
fn root() -> PathBuf {
    Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../..").canonicalize().unwrap()
}
