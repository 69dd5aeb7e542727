//! Runs a script and writes down what it answers.

use std::sync::Arc;

use arrow::{
    array::{ArrayRef, RecordBatch, StringArray},
    datatypes::{DataType, Field, Schema, SchemaRef},
    util::{
        display::{ArrayFormatter, FormatOptions},
        pretty::pretty_format_batches,
    },
};
use datafusion::{error::DataFusionError, prelude::SessionContext};
use datafusion_lance_index::{error::message, session::SessionContextExt};
use futures::StreamExt;
use lance_index_sql::ParsedStatement;

use crate::{
    Place, Result, forms,
    mask::Mask,
    oracle::Oracle,
    script::{self, Step},
    session, store, workers,
};

/// The transcript of a script.
pub async fn of(source: &str, place: Place) -> Result<String> {
    let directory = tempfile::tempdir()?;
    // Lance prints the path that the links in it lead to.
    let path = directory.path().canonicalize()?;
    let location = match place {
        Place::InStore => store::location(),
        Place::Here | Place::OnWorkers => path.display().to_string(),
    };
    let context = session();
    if place == Place::OnWorkers {
        workers::choose(&context).await?;
    }
    let mut mask = Mask::new(&location)?;
    let (mut transcript, mut after_check) = (String::new(), false);
    for step in script::split(&source.replace("{dir}", &location))? {
        for comment in &step.comments {
            let oracle = Oracle::parse(comment)?;
            if after_check && oracle.is_none() {
                transcript += "\n";
            }
            after_check = oracle.is_some();
            transcript += comment;
            if let Some(oracle) = oracle {
                let rows = oracle.check(&context).await;
                let rows = rows.map_err(|error| format!("{transcript}\n{error}"))?;
                transcript += &format!(" => {rows} row(s)");
            }
            transcript += "\n";
        }
        if std::mem::take(&mut after_check) {
            transcript += "\n";
        }
        transcript += &run(&context, step, &mut mask).await?;
    }
    forms::check(&context).await?;
    if transcript.contains(&store::secret()?) {
        return Err("the secret of the store is in an answer".into());
    }
    Ok(transcript)
}

/// The statement and what it answered.
async fn run(context: &SessionContext, step: Step, mask: &mut Mask) -> Result<String> {
    let Some(statement) = step.statement else { return Ok(String::new()) };
    let mut lines = vec![mask.apply(&step.text)];
    let error = match statement {
        Ok(statement) => {
            let (answer, error) = answer(context, &statement).await;
            if let Some((schema, batches)) = answer {
                lines.push(table(&schema, &batches, mask)?);
            }
            error.map(|error| message(&error))
        }
        Err(error) => Some(error.to_string()),
    };
    lines.extend(error.map(|error| format!("Error: {}", mask.apply(&error))));
    Ok(lines.join("\n") + "\n\n")
}

type Answer = Option<(SchemaRef, Vec<RecordBatch>)>;

/// The rows of a statement, and the error that it ended with: it may have both.
async fn answer(
    context: &SessionContext,
    statement: &ParsedStatement,
) -> (Answer, Option<DataFusionError>) {
    let stream = match context.lance_statement(statement).await {
        Ok(frame) => frame.execute_stream().await,
        Err(error) => Err(error),
    };
    let mut stream = match stream {
        Ok(stream) => stream,
        Err(error) => return (None, Some(error)),
    };
    let schema = stream.schema();
    let (mut batches, mut failed) = (Vec::new(), None);
    while let Some(batch) = stream.next().await {
        match batch {
            Ok(batch) => batches.push(batch),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    let is_table = !schema.fields().is_empty() && (failed.is_none() || !batches.is_empty());
    (is_table.then_some((schema, batches)), failed)
}

/// The rows as a table. Cells are masked before it is laid out, so that its width is always the
/// same.
fn table(schema: &SchemaRef, batches: &[RecordBatch], mask: &mut Mask) -> Result<String> {
    let options = FormatOptions::default().with_null("NULL");
    let names = schema.fields().iter().map(|field| Field::new(field.name(), DataType::Utf8, false));
    let masked = Arc::new(Schema::new(names.collect::<Vec<_>>()));
    let mut rows = vec![Vec::new(); schema.fields().len()];
    for batch in batches {
        for (at, (field, column)) in schema.fields().iter().zip(batch.columns()).enumerate() {
            let cells = ArrayFormatter::try_new(column, &options)?;
            for row in 0..batch.num_rows() {
                let cell = cells.value(row).try_to_string()?;
                rows[at].push(match field.name().as_str() {
                    "created_at" if !column.is_null(row) => "<time>".to_string(),
                    "bytes_removed" if cell != "0" => "<bytes>".to_string(),
                    _ => mask.apply(&cell),
                });
            }
        }
    }
    let columns = rows.into_iter().map(|cells| Arc::new(StringArray::from(cells)) as ArrayRef);
    let batch = RecordBatch::try_new(masked, columns.collect())?;
    Ok(pretty_format_batches(&[batch])?.to_string())
}
