//! What passes through the driver.

use std::{
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::cluster::{Driver, Worker, run};

/// Counts, and keeps, what passes between a driver and a worker.
pub struct Wire {
    pub url: String,
    bytes: Arc<AtomicU64>,
    seen: Arc<std::sync::Mutex<Vec<u8>>>,
}

impl Wire {
    pub async fn to(worker: &Worker) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let target = worker.url.strip_prefix("http://").unwrap().to_string();
        let (bytes, seen) = (Arc::new(AtomicU64::new(0)), Arc::default());
        let wire = Self { url, bytes: bytes.clone(), seen: Arc::clone(&seen) };
        tokio::spawn(async move {
            while let Ok((driver, _)) = listener.accept().await {
                let worker = TcpStream::connect(&target).await.unwrap();
                let (from_driver, to_driver) = driver.into_split();
                let (from_worker, to_worker) = worker.into_split();
                for (mut from, mut to) in [(from_driver, to_worker), (from_worker, to_driver)] {
                    let (bytes, seen) = (bytes.clone(), seen.clone());
                    tokio::spawn(async move {
                        let mut buffer = vec![0; 1 << 16];
                        while let Ok(read @ 1..) = from.read(&mut buffer).await {
                            bytes.fetch_add(read as u64, Ordering::Relaxed);
                            seen.lock().unwrap().extend_from_slice(&buffer[..read]);
                            if to.write_all(&buffer[..read]).await.is_err() {
                                break;
                            }
                        }
                    });
                }
            }
        });
        wire
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub fn has_seen(&self, text: &str) -> bool {
        self.seen.lock().unwrap().windows(text.len()).any(|window| window == text.as_bytes())
    }
}

#[test]
fn no_artifact_passes_through_the_driver() {
    run(async {
        let worker = Worker::start();
        let wire = Wire::to(&worker).await;
        let driver = Driver::new(&[&wire.url], 8, 5000).await;
        let mut before = 0;
        for (statement, units) in [
            ("CREATE INDEX i ON t (words) WITH (num_segments = 8)", 8),
            ("CREATE INDEX f ON t USING fts (words) WITH (num_segments = 8)", 8),
            (
                "ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 10000, merge_factor = 2)",
                4,
            ),
            ("DELETE FROM t WHERE id % 3 = 0", 0),
            ("OPTIMIZE TABLE t WITH (target_rows_per_fragment = 10000)", 1),
        ] {
            let done = worker.units("done_total");
            driver.sql(statement).await;
            let units_done = worker.units("done_total") - done;
            assert!(units_done >= units, "{statement}: {units_done}");
            let bytes = wire.bytes() - before;
            println!("{statement}: {units_done} units, {bytes} bytes");
            assert!(bytes <= units_done.max(1) * (64 << 10), "{statement}: {bytes} bytes");
            before = wire.bytes();
        }
    });
}

/// The most memory that a shell takes that has a worker build an index of so many rows.
async fn peak(worker: &Worker, rows: usize) -> u64 {
    let driver = Driver::new(&[&worker.url], 4, rows / 4).await;
    let mut shell = Command::new(env!("CARGO_BIN_EXE_lance-sql"))
        .current_dir(driver.path())
        .env("HOME", driver.path())
        .args(["-q", "--table=t=t.lance", "-c"])
        .arg(format!("SET lance_index.workers = '{}'", worker.url))
        .args(["-c", "SET lance_index.executor = 'distributed'"])
        .args(["-c", "CREATE INDEX i ON t (words) WITH (num_segments = 4)"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", shell.id());
    let mut peak = 0;
    while shell.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        peak = peak.max(kib.and_then(|kib| kib.trim().parse().ok()).unwrap_or(0));
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    assert!(shell.wait().unwrap().success());
    peak
}

#[test]
#[cfg(target_os = "linux")]
fn the_drivers_memory_does_not_grow_with_the_data() {
    run(async {
        let worker = Worker::start();
        let (small, large) = (peak(&worker, 20_000).await, peak(&worker, 200_000).await);
        println!("{small} KiB of 20,000 rows, {large} KiB of 200,000");
        assert!(large < small + small / 8, "{small} KiB of 20,000 rows, {large} KiB of 200,000");
    });
}
