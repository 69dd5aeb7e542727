//! Appends, deletes, updates and replaces rows: each writes what a commit is to name, and says
//! which commit that is. Nothing is part of the table before it.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use arrow::{array::RecordBatch, datatypes::Field as ArrowField};
use datafusion::{
    common::Result as DataFusionResult, execution::SendableRecordBatchStream,
    physical_plan::stream::RecordBatchStreamAdapter,
};
use futures::{StreamExt, TryStreamExt};
use lance::{
    dataset::{
        InsertBuilder, WriteMode, WriteParams,
        transaction::{Operation, UpdateMode},
    },
    datatypes::Field,
};
use lance_select::RowAddrTreeMap;
use lance_table::format::Fragment;

use super::{
    commit::{Committed, commit},
    files::discard,
    rows::{Deletions, FoundRows, delete_rows, keep_row_ids},
    snapshot::live_rows,
    version::TableVersion,
};
use crate::error::{Error, ErrorKind, Result};

/// A change that is written, and waits for its commit.
#[derive(Debug)]
pub(crate) struct Staged {
    rows: u64,
    operation: Operation,
    affected_rows: Option<RowAddrTreeMap>,
    /// New fragments, whose files are removed where there is no commit.
    written: Vec<Fragment>,
    /// Nothing else may be committed in between.
    alone: bool,
}

impl Staged {
    /// The rows that it adds, deletes or updates.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Commits it to the version that it was made from. Where another commit stands in the way,
    /// the files that were written for it are removed.
    ///
    /// # Errors
    /// Nothing was committed, but for
    /// [`ErrorKind::Committed`](crate::error::ErrorKind::Committed).
    pub(crate) async fn commit(self, anchor: &TableVersion) -> Result<Committed> {
        let Self { operation, affected_rows, written, alone, .. } = self;
        if alone && anchor.latest().await?.number() != anchor.number() {
            discard(anchor, &written).await;
            let error = "another commit came first".to_string();
            return Ok(Committed::Conflict(lance::Error::retryable_commit_conflict_source(
                anchor.number() + 1,
                error.into(),
            )));
        }
        let committed = commit(anchor, operation, affected_rows).await?;
        match &committed {
            Committed::Conflict(_) => discard(anchor, &written).await,
            Committed::Done(done) if alone && done.number() != anchor.number() + 1 => {
                return Err(Error::new(
                    ErrorKind::Committed,
                    format!(
                        "the rows were committed in version {}, and another writer put rows into \
                         the empty table at the same time: both are there",
                        done.number()
                    ),
                ));
            }
            Committed::Done(_) | Committed::Unknown(_) => {}
        }
        Ok(committed)
    }
}

/// Deletes the rows whose addresses the stream names in its column `_rowaddr`; all rows, if there
/// is no stream. `None` if that is no row.
pub(crate) async fn delete(
    table: &TableVersion,
    rows: Option<SendableRecordBatchStream>,
) -> Result<Option<Staged>> {
    let (count, addresses, deletions) = match rows {
        None => {
            let mut count = 0;
            for fragment in table.dataset.fragments().iter() {
                count += live_rows(table, fragment).await?;
            }
            let all = table.dataset.fragments().iter().map(|fragment| fragment.id).collect();
            (count, None, Deletions { updated: Vec::new(), removed: all })
        }
        Some(mut rows) => {
            let mut found = FoundRows::default();
            while let Some(batch) = rows.next().await {
                let seen = batch.and_then(|batch| found.see(&batch));
                seen.map_err(|error| Error::failed("looking for the rows to delete", error))?;
            }
            found.check()?;
            let deletions = delete_rows(table, &found.addresses).await?;
            (found.rows, Some(found.addresses), deletions)
        }
    };
    let operation = Operation::Delete {
        updated_fragments: deletions.updated,
        deleted_fragment_ids: deletions.removed,
        predicate: "rows that a query found".to_string(),
    };
    let affected_rows = addresses.map(RowAddrTreeMap::from);
    Ok((count > 0).then_some(Staged {
        rows: count,
        operation,
        affected_rows,
        written: Vec::new(),
        alone: false,
    }))
}

/// Writes rows anew and deletes them where they were: the stream has them with their new values,
/// their addresses in `_rowaddr` and, where these are stable, their ids in `_rowid`. `assigned` are
/// the columns that have new values. `None` if there is no row.
///
/// Lance's own `UpdateBuilder` takes new values only as texts of a smaller SQL. As there, rows keep
/// their ids in a table where these are stable.
///
/// # Errors
/// A value can't be computed, or doesn't fit its column.
pub(crate) async fn update(
    table: &TableVersion,
    assigned: &[String],
    rows: SendableRecordBatchStream,
) -> Result<Option<Staged>> {
    if table.dataset.schema().fields_pre_order().any(Field::is_blob) {
        return Err(Error::not_supported("UPDATE of a table with blob columns is not supported"));
    }
    let schema = table.arrow_schema();
    let found = Arc::new(Mutex::new(FoundRows::default()));
    let (seen, columns) = (found.clone(), schema.clone());
    let rows = rows.map(move |batch| {
        let batch = batch?;
        seen.lock().unwrap_or_else(PoisonError::into_inner).see(&batch)?;
        let column = |field: &Arc<ArrowField>| Ok(batch.schema().index_of(field.name())?);
        let values = columns.fields().iter().map(column).collect::<DataFusionResult<Vec<_>>>()?;
        let values = batch.project(&values)?.columns().to_vec();
        Ok(RecordBatch::try_new(columns.clone(), values)?)
    });
    let rows = Box::pin(RecordBatchStreamAdapter::new(schema, rows));
    let Some((mut new_fragments, rows)) = write(table, rows).await? else {
        return Ok(None);
    };
    let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    let written = new_fragments.clone();
    let deletions = match move_rows(table, &found, &mut new_fragments).await {
        Ok(deletions) => deletions,
        Err(error) => {
            discard(table, &written).await;
            return Err(error);
        }
    };
    let operation = Operation::Update {
        removed_fragment_ids: deletions.removed,
        updated_fragments: deletions.updated,
        new_fragments,
        fields_modified: Vec::new(),
        compacted_sstables: Vec::new(),
        fields_for_preserving_frag_bitmap: field_ids(table, assigned),
        update_mode: Some(UpdateMode::RewriteRows),
        inserted_rows_filter: None,
        updated_fragment_offsets: None,
    };
    let affected_rows = Some(RowAddrTreeMap::from(found.addresses));
    Ok(Some(Staged { rows, operation, affected_rows, written, alone: false }))
}

/// Has the rows leave the fragments where they were, and keep their ids in the new ones.
async fn move_rows(
    table: &TableVersion,
    found: &FoundRows,
    new: &mut [Fragment],
) -> Result<Deletions> {
    found.check()?;
    if table.stable_row_ids() {
        keep_row_ids(new, found.ids.clone())?;
    }
    delete_rows(table, &found.addresses).await
}

/// Writes the rows of the stream, which take the place of all rows of the table. `None` if there
/// are none of either.
///
/// To overwrite is to update: Lance's own overwrite forgets the indexes. This way they stay, and
/// cover nothing until they are refreshed.
pub(crate) async fn overwrite(
    table: &TableVersion,
    rows: SendableRecordBatchStream,
) -> Result<Option<Staged>> {
    let schema = table.arrow_schema();
    let columns = schema.clone();
    let rows = rows
        .map(move |batch| Ok(RecordBatch::try_new(columns.clone(), batch?.columns().to_vec())?));
    let rows = Box::pin(RecordBatchStreamAdapter::new(schema, rows));
    let written = write(table, rows).await?;
    let removed_fragment_ids: Vec<u64> = table.dataset.fragments().iter().map(|f| f.id).collect();
    if written.is_none() && removed_fragment_ids.is_empty() {
        return Ok(None);
    }
    let (new_fragments, rows) = written.unwrap_or_default();
    // Lance tells two updates apart by the fragments that they remove.
    let alone = removed_fragment_ids.is_empty();
    let written = new_fragments.clone();
    let operation = Operation::Update {
        removed_fragment_ids,
        updated_fragments: Vec::new(),
        new_fragments,
        fields_modified: Vec::new(),
        compacted_sstables: Vec::new(),
        fields_for_preserving_frag_bitmap: Vec::new(),
        update_mode: None,
        inserted_rows_filter: None,
        updated_fragment_offsets: None,
    };
    Ok(Some(Staged { rows, operation, affected_rows: None, written, alone }))
}

/// Rows that are written, and wait for the commit that appends them.
#[derive(Debug)]
pub(crate) struct Appended {
    fragments: Vec<Fragment>,
    rows: u64,
}

impl Appended {
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The commit. Its files are kept where another one stands in the way: they may be appended to
    /// whatever there is then.
    pub(crate) fn staged(&self) -> Staged {
        let operation = Operation::Append { fragments: self.fragments.clone() };
        let (rows, written) = (self.rows, Vec::new());
        Staged { rows, operation, affected_rows: None, written, alone: false }
    }
}

/// Writes the rows of the stream; `None` if there are none.
pub(crate) async fn append(
    table: &TableVersion,
    rows: SendableRecordBatchStream,
) -> Result<Option<Appended>> {
    let written = write(table, rows).await?;
    Ok(written.map(|(fragments, rows)| Appended { fragments, rows }))
}

/// Streams rows into new fragments, and counts them. `None` if there are none.
async fn write(
    table: &TableVersion,
    mut rows: SendableRecordBatchStream,
) -> Result<Option<(Vec<Fragment>, u64)>> {
    let first = loop {
        match rows.next().await.transpose().map_err(|error| Error::failed("writing rows", error))? {
            None => return Ok(None),
            Some(batch) if batch.num_rows() > 0 => break batch,
            Some(_) => {}
        }
    };
    let count = Arc::new(AtomicU64::new(0));
    let (schema, counter) = (table.arrow_schema(), count.clone());
    let rows = futures::stream::iter([Ok(first)]).chain(rows).inspect_ok(move |batch| {
        counter.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
    });
    let rows: SendableRecordBatchStream = Box::pin(RecordBatchStreamAdapter::new(schema, rows));
    let params = WriteParams { mode: WriteMode::Append, ..Default::default() };
    let written = InsertBuilder::new(Arc::new(table.dataset.clone()))
        .with_params(&params)
        .execute_uncommitted_stream(rows)
        .await
        .map_err(|error| Error::lance("writing rows", error))?;
    match written.operation {
        Operation::Append { fragments } => Ok(Some((fragments, count.load(Ordering::Relaxed)))),
        other => Err(Error::internal(format!("rows were written for {other}"))),
    }
}

/// The ids of the columns and of the fields within them: indexes of other fields go on covering
/// the rows where these keep their ids.
fn field_ids(table: &TableVersion, columns: &[String]) -> Vec<u32> {
    fn add(field: &Field, ids: &mut Vec<u32>) {
        ids.extend(u32::try_from(field.id));
        field.children.iter().for_each(|child| add(child, ids));
    }
    let mut ids = Vec::new();
    let fields = table.dataset.schema().fields.iter();
    fields.filter(|field| columns.contains(&field.name)).for_each(|field| add(field, &mut ids));
    ids
}
