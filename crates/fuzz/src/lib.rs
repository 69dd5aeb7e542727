//! Coverage-guided fuzz targets, run by `.ci/fuzz`. What each reads is in the `fuzz` module of the
//! crate that it tests, whose tests replay the texts in `corpus/`.
