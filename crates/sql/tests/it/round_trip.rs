use datafusion_sql::sqlparser::parser::Parser;
use lance_index_sql::{IndexStatement, LanceIndexDialect, ParsedStatement};
use proptest::prelude::*;

use crate::generate::{explain, statement};
use crate::{parse, statements};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn what_is_printed_reads_back(statement in statement()) {
        prop_assert_eq!(parse(&statement.to_string()), statement);
    }

    #[test]
    fn what_is_explained_reads_back(explain in explain()) {
        let found = statements(&explain.to_string());
        prop_assert_eq!(found, [ParsedStatement::Explain(Box::new(explain))]);
    }

    #[test]
    fn several_in_one_text(first in statement(), second in statement()) {
        let found = statements(&format!("{first};\n{second};"));
        let [first, second] = [first, second].map(|s| ParsedStatement::Index(Box::new(s)));
        prop_assert_eq!(found, [first, second]);
    }

    /// Through sqlparser alone, which has calls and names only.
    #[test]
    fn a_call_holds_all_of_a_statement(statement in statement()) {
        let call = IndexStatement::from_sqlparser(&statement.to_sqlparser());
        prop_assert_eq!(call.as_ref(), Ok(&Some(statement.clone())));

        let read = Parser::parse_sql(&LanceIndexDialect::default(), &statement.to_string());
        let read = IndexStatement::from_sqlparser(&read.unwrap()[0]);
        prop_assert_eq!(read, Ok(Some(statement)));
    }
}
