//! Tables and reports of what is covered.

mod explain;
mod from_json;
mod of_parts;
mod other_tools;
