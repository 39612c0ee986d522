//! Holds what all clients of a program share: numbers, begun levels, the processes of shell commands.

pub(crate) mod begun_levels;
pub(crate) mod children;
pub(crate) mod numbers;
