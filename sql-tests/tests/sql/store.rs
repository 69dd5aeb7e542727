//! An S3-compatible store on loopback: this program, started again. The tests run in another one,
//! which has the credentials in its environment and nowhere else.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::Ipv4Addr,
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
    sync::Arc,
};

use axum::{
    Router,
    extract::Request,
    http::{StatusCode, header::IF_NONE_MATCH},
    response::{IntoResponse, Response},
};
use datafusion::common::runtime::SpawnedTask;
use object_store::{
    ObjectStore, PutMode, PutOptions, PutPayload, aws::AmazonS3Builder, path::Path,
};
use s3s::{
    Body,
    auth::SimpleAuth,
    service::{S3Service, S3ServiceBuilder},
};
use s3s_fs::FileSystem;
use tokio::{net::TcpListener, sync::Mutex};
use uuid::Uuid;

use crate::Result;

/// What a process is to be: the store, or the tests.
const VARIABLE: &str = "SQL_TESTS_STORE";
const KEY: &str = "AWS_ACCESS_KEY_ID";
const SECRET: &str = "AWS_SECRET_ACCESS_KEY";

/// What this process is to do.
pub enum Role {
    /// Start the others.
    Start,
    Store,
    Tests,
}

pub fn role() -> Role {
    match std::env::var(VARIABLE).as_deref() {
        Ok("store") => Role::Store,
        Ok(_) => Role::Tests,
        Err(_) => Role::Start,
    }
}

/// Starts a store, and this program again as its client.
pub fn start() -> Result<ExitCode> {
    let program = std::env::current_exe()?;
    let (key, secret) = (Uuid::new_v4().simple().to_string(), Uuid::new_v4().simple().to_string());
    let mut store = Command::new(&program)
        .env(VARIABLE, "store")
        .env(KEY, &key)
        .env(SECRET, &secret)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut endpoint = String::new();
    BufReader::new(store.stdout.take().ok_or("no output")?).read_line(&mut endpoint)?;
    let tests = Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(VARIABLE, "tests")
        .env(KEY, key)
        .env(SECRET, secret)
        .env("AWS_ENDPOINT", endpoint.trim_end())
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_REGION", "us-east-1")
        .status()?;
    // The end of its input ends it.
    drop(store.stdin.take());
    store.wait()?;
    Ok(if tests.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A directory in a bucket of its own: the store lists all of a bucket to list a part.
pub fn location() -> String {
    let name = Uuid::new_v4().simple();
    format!("s3://{name}/{name}")
}

/// What must be in no answer.
pub fn secret() -> Result<String> {
    Ok(std::env::var(SECRET)?)
}

/// Is the store until whoever started it is gone.
pub fn serve() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let files = FileSystem::new(directory.path()).map_err(|error| format!("{error:?}"))?;
    let mut service = S3ServiceBuilder::new(files);
    service.set_auth(SimpleAuth::from_single(std::env::var(KEY)?, secret()?));
    let service = service.build();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        writeln!(std::io::stdout(), "http://{}", listener.local_addr()?)?;
        let buckets = directory.path().to_path_buf();
        let store = Arc::new(Store { service, buckets, conditional: Mutex::new(()) });
        let router = Router::new().fallback(move |request| answer(store.clone(), request));
        let serving = SpawnedTask::spawn(async move { axum::serve(listener, router).await });
        let end_of_input = tokio::task::spawn_blocking(|| {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
        });
        end_of_input.await?;
        drop(serving);
        Ok(())
    })
}

struct Store {
    service: S3Service,
    /// A directory for each.
    buckets: PathBuf,
    /// One conditional request at a time: the service looks and writes in two steps.
    conditional: Mutex<()>,
}

/// Every bucket is there.
async fn answer(store: Arc<Store>, request: Request) -> Response {
    let bucket = request.uri().path().split('/').nth(1).unwrap_or_default();
    if let Err(error) = std::fs::create_dir_all(store.buckets.join(bucket)) {
        return (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response();
    }
    let _turn = match request.headers().contains_key(IF_NONE_MATCH) {
        true => Some(store.conditional.lock().await),
        false => None,
    };
    match store.service.call(request.map(Body::http_body_unsync)).await {
        Ok(response) => response.into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error:?}")).into_response(),
    }
}

/// The store honours If-None-Match, by which Lance commits: of those who create an object at once,
/// one does, and it is the one's.
pub async fn honours_conditional_puts() -> Result<()> {
    let store = Arc::new(AmazonS3Builder::from_env().with_bucket_name("conditional").build()?);
    for object in 0..20 {
        let path = Path::from(object.to_string());
        let puts = (0..16_u8).map(|n| {
            let (store, path) = (store.clone(), path.clone());
            SpawnedTask::spawn(async move {
                let how = PutOptions::from(PutMode::Create);
                store.put_opts(&path, PutPayload::from(vec![n]), how).await
            })
        });
        let mut winners = Vec::new();
        for (n, put) in (0..).zip(puts.collect::<Vec<_>>()) {
            match put.await? {
                Ok(_) => winners.push(n),
                Err(object_store::Error::AlreadyExists { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let content = store.get_opts(&path, Default::default()).await?.bytes().await?;
        if winners != content.to_vec() {
            return Err(format!("{winners:?} created it, and it is {content:?}").into());
        }
    }
    Ok(())
}
