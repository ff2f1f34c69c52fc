//! Entries of a witness as YAML.

use std::fmt::Write as _;

use lydian_base::Place;
use lydian_report::suite::testcomp::iso_time;

/// An entry: what it is about, and what it says.
pub(super) struct Entry {
    pub(super) task: Task,
    /// Seconds since 1970.
    pub(super) created: u64,
    pub(super) content: Vec<Content>,
}

/// The program and the property.
pub(super) struct Task {
    /// The files with their hashes.
    pub(super) files: Vec<(String, String)>,
    pub(super) specification: String,
    pub(super) data_model: &'static str,
}

/// A part of an entry.
pub(super) enum Content {
    /// A formula that always holds at a place.
    Invariant { kind: InvariantKind, place: Place, function: String, value: String },
    /// A place that the run passes, after those before it.
    Waypoint(Waypoint),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InvariantKind {
    Loop,
    Location,
}

pub(super) struct Waypoint {
    pub(super) kind: WaypointKind,
    pub(super) place: Place,
    pub(super) function: String,
}

pub(super) enum WaypointKind {
    /// A function returns there with a result that satisfies this.
    FunctionReturn(String),
    /// The property is violated there.
    Target,
}

impl Entry {
    pub(super) fn text(&self) -> String {
        let is_violation = self.content.iter().any(|one| matches!(one, Content::Waypoint(_)));
        let kind = if is_violation { "violation_sequence" } else { "invariant_set" };
        let mut body = String::new();
        self.task(&mut body);
        body += if self.content.is_empty() { "  content: []\n" } else { "  content:\n" };
        self.content.iter().for_each(|one| one.write(&mut body));
        // A name that follows from the contents, in the form of a random one.
        let hash = blake3::hash(format!("{kind}{body}").as_bytes());
        let mut text = format!("- entry_type: {}\n  metadata:\n", quoted(kind));
        let _ = writeln!(text, "    format_version: \"2.0\"");
        let _ = writeln!(text, "    uuid: {}", quoted(&uuid(hash.as_bytes())));
        let _ = writeln!(text, "    creation_time: {}", quoted(&iso_time(self.created)));
        let _ = writeln!(text, "    producer:\n      name: \"Lydian\"");
        let _ = writeln!(text, "      version: {}", quoted(env!("CARGO_PKG_VERSION")));
        text + &body
    }

    fn task(&self, text: &mut String) {
        let Task { files, specification, data_model } = &self.task;
        *text += "    task:\n      input_files:\n";
        files.iter().for_each(|(file, _)| _ = writeln!(text, "      - {}", quoted(file)));
        *text += "      input_file_hashes:\n";
        for (file, hash) in files {
            let _ = writeln!(text, "        {}: {}", quoted(file), quoted(hash));
        }
        let _ = writeln!(text, "      specification: {}", quoted(specification));
        let _ = writeln!(text, "      data_model: {}", quoted(data_model));
        let _ = writeln!(text, "      language: \"C\"");
    }
}

impl Content {
    fn write(&self, text: &mut String) {
        match self {
            Self::Invariant { kind, place, function, value } => {
                let kind = match kind {
                    InvariantKind::Loop => "loop_invariant",
                    InvariantKind::Location => "location_invariant",
                };
                let _ = writeln!(text, "  - invariant:\n      type: {}", quoted(kind));
                location(text, "      ", place, function);
                let _ = writeln!(text, "      value: {}", quoted(value));
                let _ = writeln!(text, "      format: \"c_expression\"");
            }
            Self::Waypoint(Waypoint { kind, place, function }) => {
                let name = match kind {
                    WaypointKind::FunctionReturn(_) => "function_return",
                    WaypointKind::Target => "target",
                };
                let _ = write!(text, "  - segment:\n    - waypoint:\n        type: ");
                let _ = writeln!(text, "{}\n        action: \"follow\"", quoted(name));
                if let WaypointKind::FunctionReturn(value) = kind {
                    let _ = writeln!(text, "        constraint:");
                    let _ = writeln!(text, "          value: {}", quoted(value));
                    let _ = writeln!(text, "          format: \"ext_c_expression\"");
                }
                location(text, "        ", place, function);
            }
        }
    }
}

fn location(text: &mut String, indent: &str, place: &Place, function: &str) {
    let _ = writeln!(text, "{indent}location:");
    let _ = writeln!(text, "{indent}  file_name: {}", quoted(&place.file));
    let _ = writeln!(text, "{indent}  line: {}", place.line);
    let _ = writeln!(text, "{indent}  column: {}", place.column);
    let _ = writeln!(text, "{indent}  function: {}", quoted(function));
}

/// A string in double quotes.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// A UUID of version 4 (RFC 9562) of the first bytes.
fn uuid(bytes: &[u8; 32]) -> String {
    let mut own = [0; 16];
    own.copy_from_slice(&bytes[..16]);
    own[6] = own[6] & 0x0f | 0x40;
    own[8] = own[8] & 0x3f | 0x80;
    let hex: String = own.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_its_version_and_variant() {
        let text = uuid(&[0xff; 32]);
        assert_eq!(text, "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}
