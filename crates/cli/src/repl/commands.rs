use std::{any::Any, io::Write};

use clap::ValueEnum;
use datafusion::{
    dataframe::DataFrame,
    error::Result,
    prelude::SessionContext,
    sql::{
        TableReference,
        sqlparser::ast::{Ident, ObjectName},
    },
};
use datafusion_cli::{print_format::PrintFormat, print_options::MaxRows};
use datafusion_lance_index::{session::SessionContextExt, table::LanceTable};
use lance_index_sql::{IndexStatement, ParsedStatement, ShowIndexes};

use crate::shell::{Ended, Shell, report};

/// In the order of the help.
pub(super) const NAMES: [&str; 7] = ["\\d", "\\h", "\\i", "\\pset", "\\timing", "\\?", "\\q"];

const HELP: &str = "\
\\d                    list the tables
\\d NAME               describe a table and its indexes
\\h                    list the statements that maintain indexes
\\i FILE               run the statements in a file
\\pset [NAME [VALUE]]  show or set how rows are printed: format, maxrows
\\timing [on|off]      say how long statements take, or not
\\?                    this help
\\q                    leave
Statements end with a semicolon and may take several lines. Ctrl-C stops a statement,
Ctrl-D leaves.";

const STATEMENTS: &str = "\
CREATE EXTERNAL TABLE t [(columns)] STORED AS LANCE LOCATION 'uri' [OPTIONS (...)]
CREATE [OR REPLACE] INDEX [IF NOT EXISTS] i ON t [USING method] (column) [WITH (...)]
ALTER TABLE t REFRESH {INDEX i | INDEXES} [WITH (...)]
ALTER TABLE t OPTIMIZE {INDEX i | INDEXES} [WITH (...)]
DROP INDEX [IF EXISTS] i ON t
SHOW INDEXES FROM t
SHOW INDEX SEGMENTS FROM t [INDEX i]
SHOW CREATE INDEX i ON t
ALTER TABLE t ALTER INDEX i SET (option = value, ...)
ALTER TABLE t ALTER INDEX i RESET (option, ...)
OPTIMIZE TABLE t [WITH (...)]
VACUUM TABLE t [WITH (...)]
EXPLAIN before any of these shows what it would do.";

/// Runs a command, without its backslash; `None` to leave.
pub(super) async fn run(shell: &mut Shell, command: &str) -> Option<Ended> {
    let command = command.trim_end_matches([';', ' ']);
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let done = match (name, rest.trim()) {
        ("q", "") => return None,
        ("?", "") => say(HELP),
        ("h", "") => say(STATEMENTS),
        ("d", "") => return Some(list_tables(shell).await),
        ("d", table) => return Some(describe(shell, table).await),
        ("i", "") => Err("name a file: \\i FILE".to_string()),
        ("i", file) => match std::fs::read_to_string(file) {
            Ok(text) => return Some(shell.run(&text, false).await),
            Err(error) => Err(format!("can't read {file}: {error}")),
        },
        ("pset", setting) => set_printing(shell, setting),
        ("timing", switch) => set_timing(shell, switch),
        _ => Err(format!("there is no command \\{command}; \\? lists them")),
    };
    match done {
        Ok(()) => Some(Ended::Well),
        Err(error) => {
            report(&error);
            Some(Ended::InErrors)
        }
    }
}

fn say(text: &str) -> Result<(), String> {
    writeln!(std::io::stdout(), "{text}").map_err(|error| error.to_string())
}

/// The tables, but for those that DataFusion adds.
async fn list_tables(shell: &Shell) -> Ended {
    const TABLES: &str = "SELECT * FROM information_schema.tables \
        WHERE table_schema <> 'information_schema' \
        ORDER BY table_catalog, table_schema, table_name";
    let context = shell.context.clone();
    shell.run_command(async move { context.sql(TABLES).await }).await
}

/// The columns of a table, and its indexes if it can have any.
async fn describe(shell: &Shell, table: &str) -> Ended {
    let reference = TableReference::from(table);
    let quoted = |part: String| Ident::with_quote('"', part);
    let name = ObjectName::from(reference.to_vec().into_iter().map(quoted).collect::<Vec<_>>());
    let (context, columns) = (shell.context.clone(), format!("DESCRIBE {name}"));
    let ended = shell.run_command(async move { context.lance_sql(&columns).await }).await;
    let provider = match ended {
        Ended::Well => shell.context.table_provider(reference).await,
        Ended::InErrors | Ended::Interrupted => return ended,
    };
    let is_lance = provider.is_ok_and(|provider| {
        let provider: &dyn Any = provider.as_ref();
        provider.is::<LanceTable>()
    });
    if !is_lance {
        return ended;
    }
    let context = shell.context.clone();
    shell.run_command(async move { indexes(&context, name).await }).await
}

/// What one wants to know first of the indexes of a table.
async fn indexes(context: &SessionContext, table: ObjectName) -> Result<DataFrame> {
    let statement = IndexStatement::ShowIndexes(ShowIndexes { table });
    let indexes = context.lance_statement(&ParsedStatement::Index(Box::new(statement))).await?;
    indexes.select_columns(&[
        "name",
        "fields",
        "index_type",
        "num_segments",
        "indexed_percent",
        "num_unindexed_rows",
        "state",
    ])
}

fn set_timing(shell: &mut Shell, switch: &str) -> Result<(), String> {
    shell.printing.timing = match switch {
        "" => !shell.printing.timing,
        "on" => true,
        "off" => false,
        _ => return Err(format!("\\timing takes on or off, not {switch}")),
    };
    say(if shell.printing.timing { "Timing is on." } else { "Timing is off." })
}

fn set_printing(shell: &mut Shell, setting: &str) -> Result<(), String> {
    let printing = &mut shell.printing;
    let mut words = setting.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some("format"), Some(value), None) => {
            printing.format = match value.parse()? {
                PrintFormat::Automatic => PrintFormat::Table,
                chosen => chosen,
            };
        }
        (Some("maxrows"), Some(value), None) => printing.maxrows = value.parse()?,
        (None | Some("format" | "maxrows"), None, None) => {}
        _ => return Err("\\pset takes format or maxrows, and a value to set it".to_string()),
    }
    let format = printing.format.to_possible_value();
    let format = format.as_ref().map_or("", |value| value.get_name());
    let maxrows = match printing.maxrows {
        MaxRows::Unlimited => "inf".to_string(),
        MaxRows::Limited(most) => most.to_string(),
    };
    match setting.split_whitespace().next() {
        Some("format") => say(&format!("format is {format}")),
        Some(_) => say(&format!("maxrows is {maxrows}")),
        None => say(&format!("format is {format}\nmaxrows is {maxrows}")),
    }
}
