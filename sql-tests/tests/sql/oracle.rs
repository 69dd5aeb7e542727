//! The check of `-- oracle table [index]: predicate`: the rows that the index finds are the rows
//! that a scan of all of the table finds.

use arrow::{
    array::RecordBatch,
    util::display::{ArrayFormatter, FormatOptions},
};
use datafusion::{
    physical_plan::{collect, displayable},
    prelude::SessionContext,
};
use datafusion_lance_index::{session::SessionContextExt, table::LanceTable};

use crate::{Result, session};

/// The check that a comment asks for.
pub struct Oracle<'a> {
    table: &'a str,
    /// The index that has to be a part of the query's plan. Without it the check says nothing of
    /// any index, which is right where the index is gone or covers nothing.
    index: Option<&'a str>,
    predicate: &'a str,
}

impl<'a> Oracle<'a> {
    /// `None` if the comment is just a comment.
    pub fn parse(comment: &'a str) -> Result<Option<Self>> {
        let Some(check) = comment.strip_prefix("-- oracle ") else { return Ok(None) };
        let parts = check.split_once(": ");
        let (names, predicate) = parts.ok_or_else(|| format!("no predicate in {comment}"))?;
        let (table, index) = match names.split_once(' ') {
            Some((table, index)) => (table, Some(index)),
            None => (names, None),
        };
        Ok(Some(Self { table, index, predicate }))
    }

    /// How many rows both find.
    pub async fn check(&self, context: &SessionContext) -> Result<usize> {
        let (plan, found) = self.query(context).await?;
        if let Some(index) = self.index
            && !plan.contains(&format!("@{index}("))
        {
            return Err(self.failed(&format!("the query doesn't use the index:\n{plan}")));
        }
        let (plan, expected) = self.query(&self.scan_session(context).await?).await?;
        if plan.contains("ScalarIndexQuery") || plan.contains("MaterializeIndex") {
            return Err(self.failed(&format!("the scan uses an index:\n{plan}")));
        }
        if found != expected {
            let (found, expected) = (found.join("\n"), expected.join("\n"));
            return Err(self.failed(&format!("found:\n{found}\nthere is:\n{expected}")));
        }
        Ok(found.len())
    }

    /// The query's plan and its rows, sorted.
    async fn query(&self, context: &SessionContext) -> Result<(String, Vec<String>)> {
        let sql = format!("SELECT * FROM {} WHERE {}", self.table, self.predicate);
        let plan = context.lance_sql(&sql).await?.create_physical_plan().await?;
        let text = displayable(plan.as_ref()).indent(true).to_string();
        let mut rows = Vec::new();
        for batch in collect(plan, context.task_ctx()).await? {
            rows.extend(lines(&batch)?);
        }
        rows.sort();
        Ok((text, rows))
    }

    /// A session that shares no cache with the first one and whose scans use no index.
    async fn scan_session(&self, context: &SessionContext) -> Result<SessionContext> {
        let provider = context.table_provider(self.table).await?;
        let provider: &dyn std::any::Any = provider.as_ref();
        let table = provider.downcast_ref::<LanceTable>();
        let table = table.ok_or_else(|| self.failed("not a Lance table"))?;
        let location = table.dataset().uri().replace('\'', "''");
        let scans = session();
        let sql = format!(
            "CREATE EXTERNAL TABLE {} STORED AS LANCE LOCATION '{location}' \
             OPTIONS (use_index false)",
            self.table
        );
        scans.lance_sql(&sql).await?;
        Ok(scans)
    }

    fn failed(&self, why: &str) -> Box<dyn std::error::Error + Send + Sync> {
        let (table, index) = (self.table, self.index.unwrap_or("no index"));
        format!("oracle {table} {index}: {}: {why}", self.predicate).into()
    }
}

/// A line for each row of the batch.
fn lines(batch: &RecordBatch) -> Result<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let columns = batch.columns().iter();
    let columns: Vec<ArrayFormatter<'_>> = columns
        .map(|column| ArrayFormatter::try_new(column, &options))
        .collect::<Result<_, _>>()?;
    let line = |row| {
        let values = columns.iter().map(|column| Ok(column.value(row).try_to_string()?));
        Ok(values.collect::<Result<Vec<_>>>()?.join(" | "))
    };
    (0..batch.num_rows()).map(line).collect()
}
