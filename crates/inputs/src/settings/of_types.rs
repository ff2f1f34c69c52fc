//! Settings for every object of a type: its invariants and its places.

use std::fmt;

use indexmap::IndexMap;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::{PlacePattern, PlaceSettings};

/// The key of a type's invariants.
pub const INVARIANT: &str = "invariant";

/// The settings for every object of a type, wherever it lies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeSettings {
    /// C expressions over `self`, a pointer to the object, that are true of each object of the inputs
    /// when the function is called.
    pub invariants: Vec<String>,
    /// By places that begin with `.`.
    pub places: IndexMap<PlacePattern, PlaceSettings>,
}

/// A key of the table of a type.
enum Key {
    Invariant,
    Place(PlacePattern),
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == INVARIANT {
            return Ok(Self::Invariant);
        }
        let place = super::InputPlace::parse(&text).map_err(de::Error::custom)?;
        if !place.root.is_empty() {
            let why = format!("'{text}' of a type must begin with '.', or be `{INVARIANT}`");
            return Err(de::Error::custom(why));
        }
        Ok(Self::Place(PlacePattern(place)))
    }
}

/// One expression or several.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a C expression as a string, or a list of such strings")]
enum Expressions {
    One(String),
    Several(Vec<String>),
}

impl<'de> Deserialize<'de> for TypeSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TypeVisitor)
    }
}

struct TypeVisitor;

impl<'de> Visitor<'de> for TypeVisitor {
    type Value = TypeSettings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an invariant, and settings of members")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<TypeSettings, A::Error> {
        let mut found = TypeSettings::default();
        while let Some(key) = table.next_key::<Key>()? {
            match key {
                Key::Invariant => {
                    found.invariants = match table.next_value::<Expressions>()? {
                        Expressions::One(text) => vec![text],
                        Expressions::Several(texts) => texts,
                    };
                }
                Key::Place(place) => {
                    found.places.insert(place, table.next_value()?);
                }
            }
        }
        Ok(found)
    }
}

impl Serialize for TypeSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stated = usize::from(!self.invariants.is_empty());
        let mut table = serializer.serialize_map(Some(self.places.len() + stated))?;
        if stated > 0 {
            table.serialize_entry(INVARIANT, &self.invariants)?;
        }
        for (place, set) in &self.places {
            table.serialize_entry(place, set)?;
        }
        table.end()
    }
}
