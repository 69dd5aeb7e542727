//! The check that ends each script: both forms that an index is kept in, its record and Lance's
//! list of segments, say the same.

use std::{any::Any, collections::BTreeMap};

use arrow::{array::RecordBatch, util::display::array_value_to_string};
use datafusion::prelude::SessionContext;
use datafusion_lance_index::{
    catalog::{IndexV2, logical_indexes},
    session::SessionContextExt,
    table::LanceTable,
};

use crate::Result;

/// Checks the indexes of every table that the script has left.
pub async fn check(context: &SessionContext) -> Result<()> {
    let schema = context.catalog("datafusion").and_then(|catalog| catalog.schema("public"));
    let schema = schema.ok_or("no schema")?;
    for name in schema.table_names() {
        let Some(provider) = schema.table(&name).await? else { continue };
        let provider: &dyn Any = provider.as_ref();
        if let Some(table) = provider.downcast_ref::<LanceTable>() {
            let checked = check_table(context, table, &name).await;
            checked.map_err(|error| format!("indexes of {name}: {error}"))?;
        }
    }
    Ok(())
}

async fn check_table(context: &SessionContext, table: &LanceTable, name: &str) -> Result<()> {
    let argument = format!("\"{}\"", name.replace('"', "\"\"")).replace('\'', "''");
    let query = format!(
        "SELECT name, 'lance:' || index_type, source FROM lance_indexes('{argument}') \
         WHERE source LIKE 'v2%'"
    );
    let listed = rows(&context.lance_sql(&query).await?.collect().await?)?;
    let query = format!(
        "SELECT index_name, segment, coalesce(size_bytes, 0) FROM lance_index_segments('{argument}')"
    );
    let segments = rows(&context.lance_sql(&query).await?.collect().await?)?;
    let recorded = logical_indexes(table).await?;
    let recorded: BTreeMap<&str, &IndexV2> =
        recorded.iter().map(|index| (index.name.as_str(), index)).collect();
    if recorded.len() != listed.len() {
        return Err(format!("{recorded:?} are recorded, {listed:?} listed").into());
    }
    for [name, index_type, _] in &listed {
        let index = recorded.get(name.as_str()).ok_or_else(|| format!("{name} isn't recorded"))?;
        let files = index.files.iter();
        let files: Vec<_> =
            files.map(|file| (uuid(&file.id), file.file_size.to_string())).collect();
        let segments = segments.iter().filter(|[of, ..]| of == name);
        let segments: Vec<_> =
            segments.map(|[_, uuid, bytes]| (uuid.clone(), bytes.clone())).collect();
        if index.index_type_id != *index_type || files != segments {
            return Err(format!("{name}: {index:?} is {index_type}, {segments:?}").into());
        }
    }
    Ok(())
}

/// The first three cells of each row.
fn rows(batches: &[RecordBatch]) -> Result<Vec<[String; 3]>> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let cell = |column: usize| array_value_to_string(batch.column(column), row);
            rows.push([cell(0)?, cell(1)?, cell(2)?]);
        }
    }
    Ok(rows)
}

/// A UUID as SQL prints it.
fn uuid(bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    parts.map(|part| hex.get(part).unwrap_or_default().to_string()).join("-")
}
