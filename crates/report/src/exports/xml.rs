//! Writing XML.

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

pub(super) type Xml = Writer<Vec<u8>>;
pub(super) type XmlResult = std::io::Result<()>;

/// A document with its declaration, and with a document type if one is given.
pub(super) fn document(doctype: Option<&str>, inner: impl FnOnce(&mut Xml) -> XmlResult) -> String {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 1);
    let write = || {
        xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        if let Some(doctype) = doctype {
            xml.write_event(Event::DocType(BytesText::from_escaped(doctype)))?;
        }
        inner(&mut xml)
    };
    write().expect("memory can be written to");
    let mut text = String::from_utf8(xml.into_inner()).expect("it was written from text");
    text.push('\n');
    text
}

pub(super) fn element(
    xml: &mut Xml,
    name: &'static str,
    attributes: impl IntoIterator<Item = (&'static str, String)>,
    inner: impl FnOnce(&mut Xml) -> XmlResult,
) -> XmlResult {
    xml.write_event(Event::Start(start(name, attributes)))?;
    inner(xml)?;
    xml.write_event(Event::End(BytesEnd::new(name)))
}

pub(super) fn empty(
    xml: &mut Xml,
    name: &'static str,
    attributes: impl IntoIterator<Item = (&'static str, String)>,
) -> XmlResult {
    xml.write_event(Event::Empty(start(name, attributes)))
}

pub(super) fn text(xml: &mut Xml, text: &str) -> XmlResult {
    xml.write_event(Event::Text(BytesText::new(&clean(text))))
}

fn start(
    name: &'static str,
    attributes: impl IntoIterator<Item = (&'static str, String)>,
) -> BytesStart<'static> {
    let mut start = BytesStart::new(name);
    for (key, value) in attributes {
        start.push_attribute((key, clean(&value).as_str()));
    }
    start
}

/// A text without the characters that XML cannot hold.
fn clean(text: &str) -> String {
    let bad = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    text.replace(|c| bad(c) || matches!(c, '\u{fffe}' | '\u{ffff}'), "\u{fffd}")
}
