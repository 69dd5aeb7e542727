//! `lance_fts`: full-text search.

use std::sync::Arc;

use datafusion::{
    catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider},
    common::{Result, internal_err},
    execution::SessionState,
};
use futures::FutureExt;

use super::{
    arguments::{Arguments, Signature},
    named::NamedCall,
};
use crate::{
    error::Error,
    lower::lance_table,
    table::search::{NAME, Query, SearchTable},
};

pub(super) const SIGNATURE: Signature = Signature {
    name: NAME,
    usage: "lance_fts('table', 'column', 'words'), lance_fts('table', 'column', '{query in JSON}') \
            or lance_fts('table', '{query in JSON}')",
};

/// The rows that a full-text query finds, with their scores.
#[derive(Debug)]
pub(super) struct Search;

impl TableFunctionImpl for Search {
    fn call_with_args(&self, arguments: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let Some(state) = arguments.session().as_any().downcast_ref::<SessionState>() else {
            return internal_err!("{} needs DataFusion's own session state", NAME);
        };
        let mut arguments = Arguments::of(SIGNATURE, &arguments)?;
        let call = arguments.call();
        let name = arguments.table()?;
        let column = if arguments.left() > 1 { Some(arguments.column()?) } else { None };
        let text = arguments.text("what to find")?;
        arguments.finish()?;
        let query = if text.trim_start().starts_with('{') {
            Query::json(&text).map_err(|error| SIGNATURE.wrong(error))?
        } else if column.is_some() {
            Query::words(text)
        } else {
            return Err(SIGNATURE.wrong("words need a column").into());
        };
        let here = |error| Error::in_function(NAME, error);
        // A function is called where nothing can be waited for. DataFusion's own catalogs, and
        // those that it has asked for the tables of a statement, answer at once.
        let Some(table) = lance_table(state, &name).now_or_never() else {
            let what = format!("table '{name}' is in a catalog that answers later");
            return Err(here(Error::not_supported(what).into()));
        };
        let table = SearchTable::try_new(name.to_string(), table.map_err(here)?, column, query);
        let table = table.map_err(|error| here(error.into()))?;
        Ok(Arc::new(NamedCall::try_new(call, Arc::new(table))?))
    }
}
