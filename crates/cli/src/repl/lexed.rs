use datafusion::sql::sqlparser::{
    dialect::Dialect,
    tokenizer::{Location, Token, Tokenizer, Whitespace},
};

/// A text split into tokens, as far as that goes.
#[derive(Debug)]
pub(super) struct Lexed<'a> {
    pub pieces: Vec<Piece<'a>>,
    /// What is left: a token that has no end yet, or is none.
    pub rest: &'a str,
}

/// A token and how it is written.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    pub token: Token,
    pub text: &'a str,
}

impl<'a> Lexed<'a> {
    pub(super) fn new(text: &'a str, dialect: &dyn Dialect) -> Self {
        let mut tokens = Vec::new();
        // What can't be read is what is left.
        let _ = Tokenizer::new(dialect, text).tokenize_with_location_into_buf(&mut tokens);
        let (mut rest, mut at) = (text, Location::new(1, 1));
        let mut pieces = Vec::new();
        for token in tokens {
            let (text, after) = rest.split_at(length(rest, at, token.span.end));
            (rest, at) = (after, token.span.end);
            pieces.push(Piece { token: token.token, text });
        }
        Self { pieces, rest }
    }

    /// The last token that isn't a blank or a comment.
    pub(super) fn last(&self) -> Option<&Piece<'a>> {
        self.pieces.iter().rev().find(|piece| !matches!(piece.token, Token::Whitespace(_)))
    }

    /// Whether the text ends within a string, a quoted name or a comment.
    pub(super) fn is_open(&self, dialect: &dyn Dialect) -> bool {
        let rest = self.rest;
        if rest.starts_with("/*") || rest.starts_with('$') {
            return true;
        }
        // Any other token that can have no end yet begins with a quote, after a prefix perhaps.
        // Quotes that end it tell those from tokens that are wrong.
        let Some(quote) = rest.chars().find(|c| matches!(c, '\'' | '"' | '`' | '[')) else {
            return false;
        };
        let quote = if quote == '[' { ']' } else { quote };
        (1..=3).any(|count| {
            let ended = format!("{rest}{}", quote.to_string().repeat(count));
            Tokenizer::new(dialect, &ended).tokenize().is_ok()
        })
    }
}

/// The bytes of `text`, which begins at `from`, that stand before `to`.
fn length(text: &str, from: Location, to: Location) -> usize {
    let mut at = from;
    for (offset, c) in text.char_indices() {
        if at >= to {
            return offset;
        }
        at = if c == '\n' {
            Location::new(at.line + 1, 1)
        } else {
            Location::new(at.line, at.column + 1)
        };
    }
    text.len()
}

/// Whether the text ends a statement, or has none.
pub(super) fn is_complete(text: &str, dialect: &dyn Dialect) -> bool {
    let lexed = Lexed::new(text, dialect);
    if !lexed.rest.is_empty() {
        // The parser's error tells more than another line could.
        return text.trim_end().ends_with(';') && !lexed.is_open(dialect);
    }
    // A comment to the end of the line ends with the text.
    lexed.last().is_none_or(|piece| piece.token == Token::SemiColon)
}

/// Whether the token is a comment.
pub(super) fn is_comment(token: &Token) -> bool {
    matches!(
        token,
        Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_))
    )
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::{MySqlDialect, PostgreSqlDialect};
    use lance_index_sql::LanceIndexDialect;

    use super::*;

    fn complete(text: &str) -> bool {
        is_complete(text, &LanceIndexDialect::default())
    }

    #[test]
    fn complete_texts() {
        for text in [
            "",
            " \n",
            "-- nothing",
            "/* nothing */",
            "SELECT 1;",
            "SELECT 1; \n",
            "SELECT 1; -- done",
            "SELECT 1; /* done; */",
            "SELECT 1; SELECT 2;",
            "SELECT ';' AS a;",
            "SELECT 'it''s';",
            "SELECT \"a;\";",
            "SELECT $$;$$;",
            "SELECT $tag$ ; $$ ; $tag$;",
            "SELECT /* /* ; */ ; */ 1;",
            "ALTER TABLE t REFRESH INDEXES;",
            // Wrong, whatever follows.
            "SELEC;",
            "SELECT U&'\\zzzz';",
        ] {
            assert!(complete(text), "{text}");
        }
    }

    #[test]
    fn texts_that_go_on() {
        for text in [
            "SELECT 1",
            "SELECT 1; SELECT 2",
            "SELECT 1 -- done;",
            "SELECT 1; /* done;",
            "SELECT /* /* */ ;",
            "SELECT ';",
            "SELECT 'it''s;",
            "SELECT 'it'';",
            "SELECT E'it\\';",
            "SELECT N'a;",
            "SELECT \"a;",
            "SELECT $$;",
            "SELECT $tag$ ; $$;",
            "SELECT 'a' || 'b;",
            "ALTER TABLE t REFRESH INDEXES WITH (num_segments = 2",
        ] {
            assert!(!complete(text), "{text}");
        }
    }

    #[test]
    fn other_dialects() {
        assert!(!is_complete("SELECT `a;", &MySqlDialect {}));
        assert!(is_complete("SELECT 'it\\'s;';", &MySqlDialect {}));
        assert!(!is_complete("SELECT $a$;", &PostgreSqlDialect {}));
    }

    #[test]
    fn pieces_are_the_text() {
        for text in ["SELECT 'ä;\n' AS \"ö\", 1.5e3 -- ü\n;", "x\n'open", "/* a */ b /* c", "é'"]
        {
            let lexed = Lexed::new(text, &LanceIndexDialect::default());
            let pieces: String = lexed.pieces.iter().map(|piece| piece.text).collect();
            assert_eq!(pieces + lexed.rest, text);
        }
    }
}
