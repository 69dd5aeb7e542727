//! Who may send, and what must not be seen.

use std::process::Command;

use super::{
    cluster::{Driver, Worker, run},
    limits::Wire,
};

fn worker(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lance-sql"));
    command.arg("worker").args(arguments);
    command
}

#[test]
fn other_machines_have_to_show_a_token_by_tls() {
    for arguments in [&["--listen=0.0.0.0:0"] as &[&str], &["--listen=[::]:0"]] {
        for token in ["", "marker"] {
            let mut command = worker(arguments);
            let output = command.env("LANCE_INDEX_TOKEN", token).output().unwrap();
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{error}");
            assert!(error.contains("a token and TLS") && error.contains("--insecure"), "{error}");
            assert!(!error.contains("marker"), "{error}");
        }
    }
    let worker = Worker::start_on("0.0.0.0:0", |command| command.arg("--insecure"));
    assert!(worker.url.starts_with("http://0.0.0.0:"), "{}", worker.url);
}

#[test]
fn a_token_is_asked_for() {
    run(async {
        let worker =
            Worker::start_on("127.0.0.1:0", |command| command.env("LANCE_INDEX_TOKEN", "marker"));
        let driver = Driver::new(&[&worker.url], 1, 10).await;
        let error = driver.error("CREATE INDEX i ON t (id)").await;
        assert!(error.contains("wants another token"), "{error}");
        let shell = |token: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_lance-sql"));
            command.current_dir(driver.path()).env("HOME", driver.path());
            command.env("LANCE_INDEX_TOKEN", token);
            command.args(["-q", "--table=t=t.lance", "-c"]);
            command.arg(format!("SET lance_index.workers = '{}'", worker.url));
            command.args(["-c", "SET lance_index.executor = 'distributed'"]);
            command.args(["-c", "CREATE INDEX i ON t (id)"]).output().unwrap()
        };
        let refused = shell("intruder");
        assert!(!refused.status.success());
        let error = String::from_utf8(refused.stderr).unwrap();
        assert!(error.contains("token") && !error.contains("intruder"), "{error}");
        assert!(shell("marker").status.success());
        assert_eq!(worker.units("done_total"), 1);
    });
}

#[test]
fn settings_that_name_no_workers() {
    run(async {
        let driver = Driver::new(&[], 1, 10).await;
        let error = driver.error("CREATE INDEX i ON t (id)").await;
        assert!(error.contains("lance_index.workers names no worker"), "{error}");
        driver.sql("SET lance_index.workers = 'http://10.0.0.1:50051'").await;
        let error = driver.error("CREATE INDEX i ON t (id)").await;
        assert!(error.contains("without TLS"), "{error}");
        let plan = driver.print("EXPLAIN CREATE INDEX i ON t (id)").await;
        assert!(plan.contains("without TLS"), "{plan}");
        driver.sql("SET lance_index.executor = 'spark'").await;
        let error = driver.error("OPTIMIZE TABLE t").await;
        assert!(error.contains("'spark'; this session has local, distributed"), "{error}");
        driver.sql("SET lance_index.executor = 'LOCAL'").await;
        driver.sql("CREATE INDEX i ON t (id)").await;
    });
}

#[test]
fn a_table_in_memory_has_no_workers() {
    run(async {
        let worker = Worker::start();
        let driver = Driver::new(&[&worker.url], 1, 10).await;
        driver.sql("CREATE EXTERNAL TABLE m (id INT) STORED AS LANCE LOCATION 'memory://m'").await;
        driver.sql("INSERT INTO m VALUES (1), (2)").await;
        let error = driver.error("CREATE INDEX i ON m (id)").await;
        assert!(error.contains("SET lance_index.executor = 'local'"), "{error}");
        assert_eq!(worker.units("failed_total"), 0);
    });
}

/// What is secret in the environment of either side is seen nowhere.
#[test]
fn secrets_are_seen_nowhere() {
    const MARKER: &str = "seen-nowhere-4711";
    /// The token does go to the worker: it is for TLS to hide it.
    const TOKEN: &str = "told-to-the-worker-only-4711";
    const VARIABLES: [&str; 4] = [
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AZURE_STORAGE_ACCOUNT_KEY",
        "GOOGLE_SERVICE_ACCOUNT_KEY",
    ];
    run(async {
        let secret = |command: &mut Command| {
            for variable in VARIABLES {
                command.env(variable, MARKER);
            }
            command.env("LANCE_INDEX_TOKEN", TOKEN);
        };
        let worker = Worker::start_on("127.0.0.1:0", |command| {
            secret(command);
            command.env("RUST_LOG", "trace")
        });
        let wire = Wire::to(&worker).await;
        let driver = Driver::new(&[&wire.url], 2, 100).await;
        let shell = |statements: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_lance-sql"));
            command.current_dir(driver.path()).env("HOME", driver.path());
            secret(&mut command);
            command.args(["--table=t=t.lance", "--keep-going", "-c"]);
            command.arg(format!("SET lance_index.workers = '{}'", wire.url));
            command.args(["-c", "SET lance_index.executor = 'distributed'"]);
            for statement in statements {
                command.args(["-c", statement]);
            }
            let output = command.output().unwrap();
            let texts = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
            texts.concat()
        };
        let mut seen = shell(&[
            "EXPLAIN VERBOSE CREATE INDEX i ON t (id)",
            "EXPLAIN ANALYZE CREATE INDEX i ON t (id)",
            "CREATE INDEX i ON t (id)",
            "CREATE INDEX broken ON t USING ngram (id)",
            "SELECT * FROM information_schema.df_settings",
            "OPTIMIZE TABLE t",
        ]);
        assert!(worker.units("done_total") > 0, "{seen}");
        // Its table is gone where the worker looks for it.
        std::fs::rename(driver.path().join("t.lance/data"), driver.path().join("data")).unwrap();
        seen += &shell(&["CREATE OR REPLACE INDEX i ON t (id)"]);
        assert!(worker.units("failed_total") > 0, "{seen}");
        seen += &worker.log();
        seen += &worker.get("/metrics").unwrap();
        assert!(!seen.contains(MARKER) && !seen.contains(TOKEN), "{seen}");
        assert!(!wire.has_seen(MARKER));
        assert!(wire.has_seen("BuildCoverage"), "nothing was captured");
    });
}
