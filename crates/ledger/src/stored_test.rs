//! Tests as the ledger keeps them.
//!
//! A test names C types by their ids, which change whenever the file does. So the stored form spells
//! the types out, and reading looks the spellings up in the program as it is then.

use indexmap::IndexSet;
use lydian_base::EntityId;
use lydian_ir::test::Test;
use lydian_ir::{CTypeId, CTypes};
use lydian_objective::evidence::TestHash;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A test of the ledger's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTest {
    /// Its hash.
    pub hash: TestHash,
    /// The test, with types of the program that it was read for.
    pub test: Test,
}

/// A test with its C types spelled out, so that it can be read for another version of its program. Its type
/// ids are positions in the list of spellings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortableTest {
    types: IndexSet<String>,
    test: Test,
}

impl PortableTest {
    /// The portable form of a test of a program with the given types.
    pub fn new(test: &Test, types: &CTypes) -> Self {
        let mut portable = Self { types: IndexSet::new(), test: test.clone() };
        for ty in types_of(&mut portable.test) {
            let (position, _) = portable.types.insert_full(types.spell(*ty, ""));
            *ty = CTypeId::from_index(position);
        }
        portable
    }

    /// The test for a program with the given types; `None` if one of the test's types is not among them.
    pub fn to_test(&self, types: &CTypes) -> Option<Test> {
        with_types(self.test.clone(), &self.types, &by_spelling(types)).ok().flatten()
    }

    /// The test for a program whose types have these spellings; `None` if one of its types is not among them.
    pub fn into_test(self, spelled: &SpelledTypes) -> Option<Test> {
        self.with_spelled(&spelled.0).ok().flatten()
    }

    /// The test for a program whose types have these spellings.
    pub(super) fn with_spelled(
        self,
        spelled: &FxHashMap<String, CTypeId>,
    ) -> Result<Option<Test>, DecodeError> {
        with_types(self.test, &self.types, spelled)
    }
}

/// The types of a program by their spelling.
#[derive(Debug, Default)]
pub struct SpelledTypes(FxHashMap<String, CTypeId>);

impl SpelledTypes {
    /// Of several types with one spelling the first counts.
    pub fn of(types: &CTypes) -> Self {
        Self(by_spelling(types))
    }
}

/// All types that a test names.
fn types_of(test: &mut Test) -> impl Iterator<Item = &mut CTypeId> {
    let of_objects = test.objects.iter_mut().map(|object| &mut object.ty);
    let earlier = test.earlier.iter_mut().flat_map(|call| &mut call.variable);
    let variable = earlier.chain(&mut test.variable);
    of_objects.chain(variable.map(|argument| &mut argument.ty))
}

/// The hash of a test of a program with the given types.
pub fn hash_of(test: &Test, types: &CTypes) -> TestHash {
    encode(test, types).0
}

/// The hash of a test, and its stored form.
pub(super) fn encode(test: &Test, types: &CTypes) -> (TestHash, String) {
    let portable = PortableTest::new(test, types);
    let json = serde_json::to_string(&portable).expect("a test is valid JSON");
    let hash = blake3::hash(json.as_bytes()).to_hex();
    (TestHash(hash[..32].to_owned()), json)
}

/// The types of a program by their spelling; of several with one spelling the first.
pub(super) fn by_spelling(types: &CTypes) -> FxHashMap<String, CTypeId> {
    let mut found = FxHashMap::default();
    for (id, _) in types.iter() {
        found.entry(types.spell(id, "")).or_insert(id);
    }
    found
}

/// The test that [`encode`] gave; `None` if it has a type that the program has not.
pub(super) fn decode(
    json: &str,
    spelled: &FxHashMap<String, CTypeId>,
) -> Result<Option<Test>, DecodeError> {
    let PortableTest { types, test } = serde_json::from_str(json)?;
    with_types(test, &types, spelled)
}

/// A test whose type ids are positions in `types`, with the ids of the types of these spellings;
/// `None` if it has another type.
fn with_types(
    mut test: Test,
    types: &IndexSet<String>,
    spelled: &FxHashMap<String, CTypeId>,
) -> Result<Option<Test>, DecodeError> {
    for ty in types_of(&mut test) {
        let spelling = types.get_index(ty.index()).ok_or(DecodeError::NoSuchType)?;
        let Some(known) = spelled.get(spelling) else { return Ok(None) };
        *ty = *known;
    }
    Ok(Some(test))
}

/// Why a stored form cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum DecodeError {
    #[error("a test is not readable: {0}")]
    Json(#[from] serde_json::Error),
    #[error("a test names a type that it does not spell")]
    NoSuchType,
}

#[cfg(test)]
mod tests {
    use lydian_ir::IntKind;
    use lydian_ir::test::{
        EarlierCall, ExternalResult, ExternalWrite, Image, VariableArgument, WriteBase,
    };

    use super::*;

    #[test]
    fn types_of_variable_arguments_of_all_calls_are_spelled_out() {
        let (mut types, mut later) = (CTypes::new(), CTypes::new());
        let argument = |ty| VariableArgument { ty, image: Image::default() };
        let of = |types: &mut CTypes| {
            let (int, long) = (types.int(IntKind::Int), types.int(IntKind::Long));
            let variable = vec![argument(int), argument(long)];
            let earlier = vec![EarlierCall { args: vec![], variable }];
            Test { earlier, variable: vec![argument(long)], ..Test::calling("f", vec![]) }
        };
        let (_, kept) = encode(&of(&mut types), &types);
        later.int(IntKind::Short);
        let expected = of(&mut later);
        let read = decode(&kept, &by_spelling(&later));
        assert_eq!(read.expect("a test"), Some(expected));
    }

    #[test]
    fn a_test_of_an_earlier_version_writes_behind_arguments() {
        let write =
            ExternalWrite::behind_argument(2, 8, Image { bytes: vec![7], pointers: vec![] });
        let far = WriteBase::Global("state".into());
        let far = ExternalWrite { to: far, through: vec![8, 0], ..write.clone() };
        let mut test = Test::calling("f", vec![]);
        let writes = vec![write, far];
        let call = ExternalResult::new("set", Image::default());
        test.externals.push(ExternalResult { writes, ..call });
        let (_, kept) = encode(&test, &CTypes::new());
        let earlier = kept.replace(r#""to":{"Argument":2}"#, r#""argument":2"#);
        assert_ne!(earlier, kept);
        for json in [kept, earlier] {
            let read = decode(&json, &FxHashMap::default());
            assert_eq!(read.expect("a test").as_ref(), Some(&test));
        }
    }
}
