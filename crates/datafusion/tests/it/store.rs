//! Object stores that are watched, and made to fail.

use std::{fmt, ops::Range, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use datafusion::prelude::SessionContext;
use datafusion_lance_index::table::LanceTable;
use futures::{StreamExt, stream::BoxStream};
use lance::dataset::builder::DatasetBuilder;
use lance_io::object_store::{ObjectStoreParams, WrappingObjectStore};
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
    list::PaginatedListStore, path::Path,
};

use crate::support::{Table, config, session};

/// What is asked of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Get,
    /// For the size alone.
    Head,
    Put,
}

/// Comes before everything that is asked of a store.
#[async_trait]
pub trait Watch: fmt::Debug + Send + Sync + 'static {
    /// An error is what the operation ends with.
    async fn before(&self, operation: Operation, path: &Path) -> Result<()>;

    /// Comes before every list.
    fn lists(&self, _prefix: Option<&Path>) {}

    /// Whether an object that is read breaks off in the middle.
    fn breaks_off(&self, _path: &Path) -> bool {
        false
    }
}

/// The table in a session of its own over a watched store, with nothing cached.
pub async fn watched(table: &Table, watch: Arc<dyn Watch>) -> SessionContext {
    // This scheme goes through the object store, as a remote one does.
    let uri = table.uri.replacen('/', "file-object-store:///", 1);
    let params = ObjectStoreParams {
        object_store_wrapper: Some(Arc::new(Wrapper(watch))),
        ..Default::default()
    };
    let dataset = DatasetBuilder::from_uri(uri).with_store_params(params).load().await.unwrap();
    let session = session(config());
    session.register_table("t", Arc::new(LanceTable::new(dataset))).unwrap();
    session
}

pub fn broken() -> Error {
    Error::Generic { store: "test", source: "the connection was reset".into() }
}

#[derive(Debug)]
struct Wrapper(Arc<dyn Watch>);

impl WrappingObjectStore for Wrapper {
    fn wrap(&self, _: &str, original: Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore> {
        Arc::new(Watched { watch: self.0.clone(), original })
    }

    fn wrap_paginated(
        &self,
        _: &str,
        original: Arc<dyn PaginatedListStore>,
    ) -> Option<Arc<dyn PaginatedListStore>> {
        Some(original)
    }
}

#[derive(Debug)]
struct Watched {
    watch: Arc<dyn Watch>,
    original: Arc<dyn ObjectStore>,
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watched({})", self.original)
    }
}

#[async_trait]
impl ObjectStore for Watched {
    async fn put_opts(&self, to: &Path, data: PutPayload, how: PutOptions) -> Result<PutResult> {
        self.watch.before(Operation::Put, to).await?;
        self.original.put_opts(to, data, how).await
    }

    async fn put_multipart_opts(
        &self,
        to: &Path,
        how: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.watch.before(Operation::Put, to).await?;
        self.original.put_multipart_opts(to, how).await
    }

    async fn get_opts(&self, from: &Path, how: GetOptions) -> Result<GetResult> {
        let operation = if how.head { Operation::Head } else { Operation::Get };
        self.watch.before(operation, from).await?;
        let found = self.original.get_opts(from, how).await?;
        if operation == Operation::Head || !self.watch.breaks_off(from) {
            return Ok(found);
        }
        let (meta, range) = (found.meta.clone(), found.range.clone());
        let (attributes, extensions) = (found.attributes.clone(), found.extensions.clone());
        let bytes = found.bytes().await?;
        let half = bytes.slice(..bytes.len() / 2);
        let stream = futures::stream::iter([Ok(half), Err(broken())]).boxed();
        let payload = GetResultPayload::Stream(stream);
        Ok(GetResult { payload, meta, range, attributes, extensions })
    }

    async fn get_ranges(&self, from: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.watch.before(Operation::Get, from).await?;
        if self.watch.breaks_off(from) {
            return Err(broken());
        }
        self.original.get_ranges(from, ranges).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.original.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.watch.lists(prefix);
        self.original.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.watch.lists(prefix);
        self.original.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, how: CopyOptions) -> Result<()> {
        self.watch.before(Operation::Put, to).await?;
        self.original.copy_opts(from, to, how).await
    }
}
