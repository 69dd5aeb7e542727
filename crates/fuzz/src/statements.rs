//! Texts for the parser.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| lance_index_sql::fuzz::read(text));
