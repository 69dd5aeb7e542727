//! Work units on workers that are processes of their own, and what becomes of a statement when
//! these are killed, stopped, and told to do what they must not.

pub mod cluster;
mod faults;
mod kills;
mod limits;
mod safety;
mod statements;
