//! Splits a script into its statements and the comments between them.

use datafusion_lance_index::session::SessionContextExt;
use lance_index_sql::{ParseError, ParsedStatement, StatementParser};

use crate::{Result, session};

/// A statement, or why it is none, with the comments before it.
pub struct Step {
    pub comments: Vec<String>,
    /// The statement as written.
    pub text: String,
    /// `None` for the comments at the end of a script.
    pub statement: Option<Result<ParsedStatement, ParseError>>,
}

/// Reads a script as the shell does that keeps going after an error.
pub fn split(source: &str) -> Result<Vec<Step>> {
    let dialect = session().lance_dialect();
    let mut parser = StatementParser::new(source, &dialect)?;
    let (mut steps, mut rest) = (Vec::new(), source);
    while let Some(parsed) = parser.next() {
        let comments = take_comments(&mut rest);
        let (end, statement) = match parsed {
            // The statement's `;` is its own.
            Ok(parsed) => {
                let end = parsed.range.end - (source.len() - rest.len());
                (end + usize::from(rest[end..].starts_with(';')), Ok(parsed.statement))
            }
            // Where a wrong statement ends is for the eye only.
            Err(error) => {
                parser.skip_failed();
                (rest.find(";\n").map_or(rest.len(), |end| end + 1), Err(error))
            }
        };
        let (text, after) = rest.split_at(end);
        rest = after;
        steps.push(Step { comments, text: text.to_string(), statement: Some(statement) });
    }
    let comments = take_comments(&mut rest);
    steps.push(Step { comments, text: String::new(), statement: None });
    Ok(steps)
}

/// Takes the lines up to the next statement; answers those that aren't blank.
fn take_comments(rest: &mut &str) -> Vec<String> {
    let is_comment = |line: &&str| line.trim().is_empty() || line.starts_with("--");
    let lines: Vec<&str> = rest.split_inclusive('\n').take_while(is_comment).collect();
    *rest = &rest[lines.iter().map(|line| line.len()).sum()..];
    lines
        .iter()
        .map(|line| line.trim())
        .filter(|line| !line.is_empty())
        .map(str::to_string)
        .collect()
}
