//! Runs each script in `cases/` and compares its transcript with the one in `snapshots/`.
//!
//! A script is a text of statements with comments, run in a directory of its own, which it writes
//! as `{dir}`. The transcript is the script with each statement's answer after it, a table or an
//! error; an error doesn't stop the script. A comment of the form
//!
//! ```sql
//! -- oracle t i: x = 5
//! ```
//!
//! is a check, see [`oracle`]. At the end of each, [`forms`] are compared.
//!
//! Each script runs three times: in this process; with its work units on two workers, which are
//! processes of their own; and with its tables in an object store. Neither changes an answer, so the
//! snapshot is the same.
//!
//! `cargo test --test sql` runs all of them, `cargo test --test sql -- create/btree` some;
//! `distributed/create/btree` and `s3/create/btree` are the other runs of a script.
//! `INSTA_UPDATE=always` writes the snapshots of new or changed transcripts.

mod forms;
mod mask;
mod oracle;
mod script;
mod statements;
mod store;
mod transcript;
mod workers;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use datafusion::{
    execution::SessionStateBuilder,
    prelude::{SessionConfig, SessionContext},
};
use datafusion_lance_index::session::{SessionConfigExt, SessionStateBuilderExt};
use datafusion_lance_index_distributed::{DistributedExecutors, DriverSecurity};
use libtest_mimic::{Arguments, Failed, Trial};

use store::Role;

/// What any step of a test may fail with.
type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;

/// Where the work units of a script run, and its tables are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Here,
    OnWorkers,
    InStore,
}

impl Place {
    const ALL: [Self; 3] = [Self::Here, Self::OnWorkers, Self::InStore];

    /// What the names of the trials begin with.
    fn prefix(self) -> &'static str {
        match self {
            Self::Here => "",
            Self::OnWorkers => "distributed/",
            Self::InStore => "s3/",
        }
    }
}

fn main() -> Result<ExitCode> {
    if workers::is_one() {
        workers::work()?;
        return Ok(ExitCode::SUCCESS);
    }
    match store::role() {
        Role::Start => return store::start(),
        Role::Store => {
            store::serve()?;
            return Ok(ExitCode::SUCCESS);
        }
        Role::Tests => {}
    }
    let scripts = files("cases")?;
    let snapshots = files("snapshots")?;
    let mut trials = statements::trials();
    for path in &scripts {
        for place in Place::ALL {
            let path = path.clone();
            let name = format!("{}{}", place.prefix(), path.display());
            trials.push(Trial::test(name, move || run_script(&path, place).map_err(Failed::from)));
        }
    }
    trials.push(Trial::test("s3_store_honours_conditional_puts", || {
        block_on(store::honours_conditional_puts()).map_err(Failed::from)
    }));
    trials.push(Trial::test("every_snapshot_has_a_script", move || {
        match snapshots.iter().find(|snapshot| !scripts.contains(snapshot)) {
            Some(snapshot) => Err(format!("{} has none", snapshot.display()).into()),
            None => Ok(()),
        }
    }));
    Ok(libtest_mimic::run(&Arguments::from_args(), trials).exit_code())
}

fn root(directory: &str) -> Result<PathBuf> {
    Ok(Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join(directory))
}

/// Every `group/name.extension` in the directory, as `group/name`.
fn files(directory: &str) -> Result<Vec<PathBuf>> {
    let directory = root(directory)?;
    let mut files = Vec::new();
    for group in fs::read_dir(&directory)? {
        for file in fs::read_dir(group?.path())? {
            files.push(file?.path().strip_prefix(&directory)?.with_extension(""));
        }
    }
    files.sort();
    Ok(files)
}

fn run_script(path: &Path, place: Place) -> Result<()> {
    let script = root("cases")?.join(path).with_extension("sql");
    let source = fs::read_to_string(&script)?;
    let transcript = block_on(async move { transcript::of(&source, place).await })?;
    let snapshot = root("snapshots")?.join(path);
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(snapshot.with_file_name(""));
    settings.set_input_file(script);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let name = snapshot.file_name().unwrap_or_default().to_string_lossy();
    settings.bind(|| insta::assert_snapshot!(name.as_ref(), transcript));
    Ok(())
}

/// Plans are deep, and the futures that make them large in a debug build.
const STACK: usize = 16 << 20;

fn block_on<T: Send + 'static>(
    future: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(STACK)
        .enable_all()
        .build()?;
    runtime.block_on(runtime.spawn(future))?
}

/// A session as the scripts and their checks get it.
fn session() -> SessionContext {
    let executors = Arc::new(DistributedExecutors::new(DriverSecurity::default()));
    let config = SessionConfig::new()
        .with_target_partitions(4)
        .with_information_schema(true)
        .with_executor_factory(executors);
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features()
        .with_lance_index()
        .build();
    SessionContext::new_with_state(state)
}
