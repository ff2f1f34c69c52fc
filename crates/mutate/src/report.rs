//! The results in several forms.

pub mod difference;
pub mod elements;
pub mod json;
pub mod page;
