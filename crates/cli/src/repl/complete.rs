use datafusion::sql::sqlparser::{dialect::Dialect, tokenizer::Token};
use datafusion_lance_index::index_type::INDEX_TYPES;
use rustyline::{
    Result,
    completion::{FilenameCompleter, Pair},
};

use super::{
    commands,
    input::is_command,
    lexed::Lexed,
    names::Names,
    words::{KEYWORDS, is_before_table},
};

/// What may stand in place of the end of the text, and where that end begins.
pub(super) fn complete(
    text: &str,
    names: &Names,
    dialect: &dyn Dialect,
) -> Result<(usize, Vec<Pair>)> {
    if is_command(text) {
        return complete_command(text, names);
    }
    let lexed = Lexed::new(text, dialect);
    if !lexed.rest.is_empty() {
        return complete_file(text, &lexed);
    }
    let (word, before) = match lexed.pieces.as_slice() {
        [before @ .., piece] if matches!(piece.token, Token::Word(_)) => (piece.text, before),
        before => ("", before),
    };
    let before = before.iter().rev().find(|piece| !matches!(piece.token, Token::Whitespace(_)));
    let before = before.map_or("", |piece| piece.text);
    let start = text.len() - word.len();
    let names_of = |names: &mut dyn Iterator<Item = &String>| candidates(word, names);
    let found = if is_before_table(before) {
        names_of(&mut names.tables.iter())
    } else if before.eq_ignore_ascii_case("USING") {
        candidates(word, INDEX_TYPES.iter().map(|index_type| index_type.name))
    } else if before == "." {
        names_of(&mut names.columns.iter())
    } else if word.is_empty() {
        // Anything could follow.
        Vec::new()
    } else {
        let mut found = keywords(word);
        found.extend(names_of(&mut names.tables.iter()));
        found.extend(names_of(&mut names.columns.iter()));
        found.extend(names_of(&mut names.functions.iter()));
        found
    };
    Ok((start, found))
}

/// The file names that may follow `LOCATION '`.
fn complete_file(text: &str, lexed: &Lexed<'_>) -> Result<(usize, Vec<Pair>)> {
    let location = lexed.last().is_some_and(|piece| piece.text.eq_ignore_ascii_case("LOCATION"));
    if !location || !lexed.rest.starts_with('\'') {
        return Ok((text.len(), Vec::new()));
    }
    files(text, text.len() - lexed.rest.len())
}

/// The files whose names begin as the text does from `start` on.
fn files(text: &str, start: usize) -> Result<(usize, Vec<Pair>)> {
    let name = text.get(start..).unwrap_or_default();
    let (at, found) = FilenameCompleter::new().complete_path(name, name.len())?;
    Ok((start + at, found))
}

fn complete_command(text: &str, names: &Names) -> Result<(usize, Vec<Pair>)> {
    let Some(blank) = text.find(char::is_whitespace) else {
        let start = text.len() - text.trim_start().len();
        return Ok((start, candidates(text.trim_start(), commands::NAMES)));
    };
    let start = text.len() - text.get(blank..).unwrap_or_default().trim_start().len();
    let word = text.get(start..).unwrap_or_default();
    match text.get(..blank).unwrap_or_default().trim_start() {
        "\\d" => Ok((start, candidates(word, &names.tables))),
        "\\i" => files(text, start),
        _ => Ok((text.len(), Vec::new())),
    }
}

/// The keywords that begin with the word, in its case.
fn keywords(word: &str) -> Vec<Pair> {
    let upper = word.to_ascii_uppercase();
    let lower = !word.contains(|c: char| c.is_ascii_uppercase());
    let found = KEYWORDS.iter().filter(|keyword| keyword.starts_with(&upper));
    let in_case = |word: &&str| if lower { word.to_ascii_lowercase() } else { (*word).to_string() };
    found.map(in_case).map(|keyword| pair(&keyword)).collect()
}

fn candidates<S: AsRef<str>>(word: &str, names: impl IntoIterator<Item = S>) -> Vec<Pair> {
    let begins = |name: &S| name.as_ref().get(..word.len()).is_some_and(|s| s == word);
    names.into_iter().filter(begins).map(|name| pair(name.as_ref())).collect()
}

fn pair(text: &str) -> Pair {
    Pair { display: text.to_string(), replacement: text.to_string() }
}

#[cfg(test)]
mod tests {
    use lance_index_sql::LanceIndexDialect;

    use super::*;

    fn completed(text: &str) -> Vec<String> {
        let set = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let names = Names {
            tables: set(&["events", "\"My T\""]),
            columns: set(&["id", "kind"]),
            functions: set(&["generate_series"]),
        };
        let dialect = LanceIndexDialect::default();
        let (start, found) = complete(text, &names, &dialect).unwrap();
        found.iter().map(|pair| format!("{}{}", &text[..start], pair.replacement)).collect()
    }

    #[test]
    fn keywords_in_the_case_of_the_word() {
        assert_eq!(completed("REF"), ["REFRESH"]);
        assert_eq!(
            completed("alter table t opti"),
            ["alter table t optimize", "alter table t options"]
        );
        assert_eq!(completed("SELECT 1;"), [""; 0]);
    }

    #[test]
    fn names() {
        assert_eq!(completed("SELECT * FROM "), ["SELECT * FROM \"My T\"", "SELECT * FROM events"]);
        assert_eq!(completed("select * from ev"), ["select * from events"]);
        assert_eq!(completed("SELECT events.i"), ["SELECT events.id"]);
        assert_eq!(completed("SELECT ki"), ["SELECT kind"]);
        assert_eq!(completed("SELECT * FROM t, generate_"), ["SELECT * FROM t, generate_series"]);
        assert_eq!(completed("CREATE INDEX i ON t USING z"), ["CREATE INDEX i ON t USING zonemap"]);
    }

    #[test]
    fn files() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("t.lance")).unwrap();
        let path = directory.path().display();
        let statement = format!("CREATE EXTERNAL TABLE t STORED AS LANCE LOCATION '{path}/t");
        assert_eq!(completed(&statement), [format!("{statement}.lance/")]);
        assert_eq!(completed("SELECT '/"), [""; 0]);
        assert_eq!(completed(&format!("\\i {path}/t")), [format!("\\i {path}/t.lance/")]);
    }

    #[test]
    fn commands() {
        assert_eq!(completed("\\t"), ["\\timing"]);
        assert_eq!(completed("\\d ev"), ["\\d events"]);
        assert_eq!(completed("\\q "), [""; 0]);
    }
}
