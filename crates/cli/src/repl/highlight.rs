use std::fmt::Write;

use clap::builder::styling::{AnsiColor, Style};
use datafusion::sql::sqlparser::{dialect::Dialect, tokenizer::Token};

use super::{
    lexed::{Lexed, is_comment},
    words::is_keyword,
};

const KEYWORD: Style = AnsiColor::Blue.on_default().bold();
const STRING: Style = AnsiColor::Green.on_default();
const NUMBER: Style = AnsiColor::Magenta.on_default();
const COMMENT: Style = AnsiColor::BrightBlack.on_default();

/// The text with colors.
pub(super) fn highlight(text: &str, dialect: &dyn Dialect) -> String {
    let lexed = Lexed::new(text, dialect);
    let mut colored = String::new();
    for piece in &lexed.pieces {
        push(&mut colored, piece.text, style(&piece.token));
    }
    let open = match lexed.rest {
        rest if rest.starts_with("/*") => Some(COMMENT),
        // A name in quotes has no color.
        rest if rest.starts_with(['"', '`', '[']) => None,
        _ => Some(STRING).filter(|_| lexed.is_open(dialect)),
    };
    push(&mut colored, lexed.rest, open);
    colored
}

fn push(colored: &mut String, text: &str, style: Option<Style>) {
    match style {
        Some(style) if !text.is_empty() => drop(write!(colored, "{style}{text}{style:#}")),
        _ => colored.push_str(text),
    }
}

fn style(token: &Token) -> Option<Style> {
    match token {
        Token::Word(word) if word.quote_style.is_none() && is_keyword(&word.value) => Some(KEYWORD),
        Token::Number(..) => Some(NUMBER),
        Token::SingleQuotedString(_)
        | Token::TripleSingleQuotedString(_)
        | Token::DollarQuotedString(_)
        | Token::NationalStringLiteral(_)
        | Token::EscapedStringLiteral(_)
        | Token::UnicodeStringLiteral(_)
        | Token::HexStringLiteral(_) => Some(STRING),
        token if is_comment(token) => Some(COMMENT),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use lance_index_sql::LanceIndexDialect;

    use super::*;

    /// The text with `k`, `s`, `n` and `c` before what has a color.
    fn marked(text: &str) -> String {
        let colored = highlight(text, &LanceIndexDialect::default());
        [(KEYWORD, "k"), (STRING, "s"), (NUMBER, "n"), (COMMENT, "c")]
            .iter()
            .fold(colored, |text, (style, mark)| text.replace(&style.to_string(), mark))
            .replace(&format!("{KEYWORD:#}"), "|")
    }

    #[test]
    fn what_has_a_color() {
        assert_eq!(marked("select a from t"), "kselect| a kfrom| t");
        assert_eq!(
            marked("ALTER TABLE t REFRESH INDEXES WITH (num_segments = 8); -- all"),
            "kALTER| kTABLE| t kREFRESH| kINDEXES| kWITH| (num_segments = n8|); c-- all|"
        );
        assert_eq!(marked("SELECT 'it''s', \"select\""), "kSELECT| s'it''s'|, \"select\"");
    }

    #[test]
    fn what_has_no_end_yet() {
        assert_eq!(marked("SELECT 'a; from"), "kSELECT| s'a; from|");
        assert_eq!(marked("SELECT 1 /* from"), "kSELECT| n1| c/* from|");
        assert_eq!(marked("SELECT \"from"), "kSELECT| \"from");
    }
}
