//! Clang's JSON nodes, borrowed from the text that they were read from.
//!
//! One struct serves all kinds of nodes, since clang's nodes share most of their keys; keys that
//! the decoder does not use are skipped while parsing. Its fields lie flat, since serde's `flatten`
//! would read every node into a buffer before the fields of a group are set. The JSON form is no
//! stable interface of clang: this is clang 19's, after `clang/lib/AST/JSONNodeDumper.cpp`.

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// A declaration, statement, expression, type or attribute. An absent child (of a `for`
/// statement) is a node of an empty kind.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub(crate) struct Node<'a> {
    pub(crate) id: Id,
    pub(crate) kind: &'a str,
    pub(crate) loc: Loc,
    pub(crate) range: Range,
    #[serde(borrow)]
    pub(crate) name: Option<Str<'a>>,
    #[serde(rename = "mangledName", borrow)]
    pub(crate) mangled_name: Option<Str<'a>>,
    #[serde(rename = "type", borrow)]
    pub(crate) ty: Option<TypeRef<'a>>,
    #[serde(rename = "valueCategory")]
    pub(crate) value_category: Option<&'a str>,
    #[serde(borrow)]
    pub(crate) value: Option<Scalar<'a>>,
    pub(crate) opcode: Option<&'a str>,
    #[serde(rename = "castKind")]
    pub(crate) cast_kind: Option<&'a str>,
    #[serde(borrow)]
    pub(crate) inner: Vec<Node<'a>>,
    #[serde(borrow)]
    pub(crate) array_filler: Vec<Node<'a>>,
    #[serde(rename = "referencedDecl", borrow)]
    pub(crate) referenced: Option<Box<DeclRef<'a>>>,
    #[serde(rename = "referencedMemberDecl")]
    pub(crate) member: Id,
    #[serde(borrow)]
    pub(crate) field: Option<Box<DeclRef<'a>>>,
    #[serde(borrow)]
    pub(crate) decl: Option<Box<DeclRef<'a>>>,
    #[serde(rename = "ownedTagDecl", borrow)]
    pub(crate) owned_tag: Option<Box<DeclRef<'a>>>,
    #[serde(rename = "previousDecl")]
    pub(crate) previous: Id,
    #[serde(rename = "labelDeclId")]
    pub(crate) label: Id,
    #[serde(rename = "targetLabelDeclId")]
    pub(crate) target_label: Id,
    #[serde(rename = "declId")]
    pub(crate) decl_id: Id,
    #[serde(rename = "computeLHSType", borrow)]
    pub(crate) compute_left: Option<Box<TypeRef<'a>>>,
    #[serde(rename = "computeResultType", borrow)]
    pub(crate) compute_result: Option<Box<TypeRef<'a>>>,
    #[serde(rename = "argType", borrow)]
    pub(crate) argument: Option<Box<TypeRef<'a>>>,
    #[serde(rename = "fixedUnderlyingType", borrow)]
    pub(crate) underlying: Option<Box<TypeRef<'a>>>,
    #[serde(rename = "storageClass")]
    pub(crate) storage: Option<&'a str>,
    #[serde(rename = "tagUsed")]
    pub(crate) tag: Option<&'a str>,
    pub(crate) tls: Option<&'a str>,
    #[serde(rename = "completeDefinition")]
    pub(crate) complete: bool,
    #[serde(rename = "isArrow")]
    pub(crate) arrow: bool,
    #[serde(rename = "isPostfix")]
    pub(crate) postfix: bool,
    #[serde(rename = "isBitfield")]
    pub(crate) bit_field: bool,
    #[serde(rename = "isGNURange")]
    pub(crate) range_case: bool,
    /// How a variable is initialised; present if it is.
    #[serde(rename = "init")]
    pub(crate) initialised: Option<&'a str>,
    #[serde(rename = "isImplicit")]
    pub(crate) implicit: bool,
    #[serde(rename = "inline")]
    pub(crate) is_inline: bool,
    pub(crate) selected: bool,
    /// The target of an alias.
    #[serde(borrow)]
    pub(crate) aliasee: Option<Str<'a>>,
    #[serde(borrow)]
    pub(crate) cleanup_function: Option<Box<DeclRef<'a>>>,
    /// Whether it stands in text that Lydian put in; set after reading.
    #[serde(skip)]
    pub(crate) inserted: bool,
}

/// A reference to a declaration, with enough to stand in for it.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub(crate) struct DeclRef<'a> {
    pub(crate) id: Id,
    pub(crate) kind: &'a str,
    #[serde(borrow)]
    pub(crate) name: Option<Str<'a>>,
    #[serde(rename = "type", borrow)]
    pub(crate) ty: Option<TypeRef<'a>>,
}

/// A type as clang prints it.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub(crate) struct TypeRef<'a> {
    /// As written, typedef names kept.
    #[serde(rename = "qualType", borrow)]
    pub(crate) written: Str<'a>,
    /// With the outermost sugar taken off, where that makes a difference.
    #[serde(rename = "desugaredQualType", borrow)]
    pub(crate) desugared: Option<Str<'a>>,
    /// The typedef that `written` is, if it is one.
    #[serde(rename = "typeAliasDeclId")]
    pub(crate) alias: Id,
}

/// Text that is borrowed unless the JSON has escapes in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Str<'a>(pub(crate) Cow<'a, str>);

impl Deref for Str<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StrVisitor;
        impl<'de> Visitor<'de> for StrVisitor {
            type Value = Str<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Str(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(StrVisitor)
    }
}

/// The address that clang gives to a declaration; 0 for none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Id(pub(crate) u64);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&str>::deserialize(deserializer)?;
        let digits = text.strip_prefix("0x").unwrap_or(text);
        u64::from_str_radix(digits, 16).map(Self).map_err(de::Error::custom)
    }
}

/// The place of a declaration's name. Clang leaves it empty where there is none.
#[derive(Deserialize, Debug, Default, Clone, Copy)]
#[serde(default)]
pub(crate) struct Loc {
    pub(crate) offset: Option<u32>,
    #[serde(rename = "tokLen")]
    pub(crate) length: u32,
    // Present instead of the offset for tokens made by `##` that are left in preprocessed text.
    #[serde(rename = "expansionLoc")]
    pub(crate) expansion: Option<Point>,
}

/// A place nested in a [`Loc`].
#[derive(Deserialize, Debug, Default, Clone, Copy)]
#[serde(default)]
pub(crate) struct Point {
    pub(crate) offset: Option<u32>,
    #[serde(rename = "tokLen")]
    pub(crate) length: u32,
}

impl Loc {
    /// Offset and length of the token.
    pub(crate) fn token(&self) -> Option<(u32, u32)> {
        let direct = self.offset.map(|offset| (offset, self.length));
        direct.or_else(|| {
            let point = self.expansion?;
            point.offset.map(|offset| (offset, point.length))
        })
    }
}

/// The first and the last token of a node.
#[derive(Deserialize, Debug, Default, Clone, Copy)]
#[serde(default)]
pub(crate) struct Range {
    pub(crate) begin: Loc,
    pub(crate) end: Loc,
}

/// A value: clang prints integers and floats as strings, characters as numbers.
#[derive(Debug, Clone)]
pub(crate) enum Scalar<'a> {
    Text(Str<'a>),
    Number(i64),
    Bool(bool),
}

impl Scalar<'_> {
    /// The text of a value printed as a string.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(_) | Self::Bool(_) => None,
        }
    }

    /// The value of an integer, however it is printed.
    pub(crate) fn integer(&self) -> Option<i128> {
        match self {
            // A number of 128 bits without a sign keeps its bits.
            Self::Text(text) => {
                let wide = || text.parse::<u128>().ok().map(|bits| bits as i128);
                text.parse().ok().or_else(wide)
            }
            Self::Number(number) => Some((*number).into()),
            Self::Bool(value) => Some((*value).into()),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ScalarVisitor;
        impl<'de> Visitor<'de> for ScalarVisitor {
            type Value = Scalar<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, a number or a truth value")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Scalar::Text(Str(Cow::Borrowed(text))))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Scalar::Text(Str(Cow::Owned(text.to_owned()))))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Scalar::Number(number as i64))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Scalar::Number(number))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
                Ok(Scalar::Bool(value))
            }
        }
        deserializer.deserialize_any(ScalarVisitor)
    }
}
