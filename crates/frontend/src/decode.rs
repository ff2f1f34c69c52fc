//! From clang's JSON to the typed syntax tree.
//!
//! [`stream`] cuts clang's output into declarations, [`node`] reads the JSON of each, and the
//! [`Decoder`] turns it into the arenas of a [`TranslationUnit`]. Declarations are decoded in the
//! order of the text, so that types are known before their uses. The bodies of functions in system
//! headers are dropped.
//!
//! The decoder adds facts that the JSON omits: record layouts come from clang's layout dump
//! ([`crate::layout::records`]), the path of `offsetof` from the text, constants by folding.

pub(crate) mod assembly;
mod bounds;
mod decl;
mod expr;
mod intrinsics;
mod literal;
pub(crate) mod node;
mod offsetof;
mod scopes;
mod stmt;
mod stream;
mod tags;
mod text_expr;
mod unnamed;

use crate::ast::{
    BoundOwner, EnumConstantId, ExprId, FieldRef, FunctionId, LabelId, TranslationUnit, VarId,
};
use crate::clang::ClangError;
use crate::ctypes::{CType, QualType, TargetLayout};
use crate::layout::records::RecordLayouts;
use bounds::Bounds;
pub(crate) use bounds::Insertions;
use lydian_base::{SourceMap, Span};
use node::{Id, Loc, Node, TypeRef};
use rustc_hash::{FxHashMap, FxHashSet};
use scopes::Scopes;
use serde::Deserialize;
use std::io::{self, Read};
use stream::Piece;

/// Why clang's output does not become a syntax tree.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DecodeError {
    /// Reading from clang failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A declaration is not clang 19's JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl DecodeError {
    /// The same as an error of clang's.
    pub(crate) fn into_clang_error(self) -> ClangError {
        match self {
            Self::Io(error) => ClangError::Io { program: "clang".into(), error },
            Self::Json(error) => ClangError::Json(error),
        }
    }
}

/// Decodes all that clang prints for the text of `source` with `given` put into it. Gives what must
/// be put in for the bounds of variable length arrays to be known, too.
pub(crate) fn decode(
    output: impl Read + Send,
    source: &SourceMap,
    target: TargetLayout,
    given: &Insertions,
) -> Result<(TranslationUnit, Insertions), DecodeError> {
    let decode = || {
        let mut decoder = Decoder::new(source, target);
        if !given.is_empty() {
            decoder.scopes = Scopes::new(&given.apply(source.text()));
            decoder.scopes.insertions = given.clone();
            decoder.bounds.given = given.clone();
        }
        stream::read_pieces(output, |piece| decoder.piece(piece))?;
        Ok((decoder.unit, decoder.bounds.wanted))
    };
    stream::on_deep_stack(decode)?
}

/// The state of decoding: the tree so far, and the meaning of clang's ids and names in it.
struct Decoder<'s> {
    unit: TranslationUnit,
    source: &'s SourceMap,
    layouts: RecordLayouts,
    scopes: Scopes,
    functions: FxHashMap<Id, FunctionId>,
    vars: FxHashMap<Id, VarId>,
    fields: FxHashMap<Id, FieldRef>,
    enum_constants: FxHashMap<Id, EnumConstantId>,
    labels: FxHashMap<Id, LabelId>,
    function_names: FxHashMap<Box<str>, FunctionId>,
    global_names: FxHashMap<Box<str>, VarId>,
    /// Whether a declaration of the function was met, not only a reference to it.
    declared: FxHashSet<FunctionId>,
    listed_vars: FxHashSet<VarId>,
    /// The alignments that the attributes of typedefs ask for, by name.
    aligned_typedefs: FxHashMap<Box<str>, u64>,
    /// The function whose body is being decoded.
    function: Option<FunctionId>,
    /// Bounds of variable length arrays.
    bounds: Bounds,
    /// The declarations whose types have such bounds, by name; a later one hides an earlier one.
    bound_names: FxHashMap<Box<str>, BoundOwner>,
    /// The common operands of `?:`, by the id of clang's node.
    opaque: FxHashMap<Id, ExprId>,
    /// The functions of system headers whose bodies are kept.
    intrinsics: FxHashSet<Box<str>>,
}

impl<'s> Decoder<'s> {
    fn new(source: &'s SourceMap, target: TargetLayout) -> Self {
        Self {
            unit: TranslationUnit { target, ..TranslationUnit::default() },
            source,
            layouts: RecordLayouts::default(),
            scopes: Scopes::new(source.text()),
            functions: FxHashMap::default(),
            vars: FxHashMap::default(),
            fields: FxHashMap::default(),
            enum_constants: FxHashMap::default(),
            labels: FxHashMap::default(),
            function_names: FxHashMap::default(),
            global_names: FxHashMap::default(),
            declared: FxHashSet::default(),
            listed_vars: FxHashSet::default(),
            aligned_typedefs: FxHashMap::default(),
            function: None,
            bounds: Bounds::default(),
            bound_names: FxHashMap::default(),
            opaque: FxHashMap::default(),
            intrinsics: intrinsics::needed(source),
        }
    }
}

/// Reads the JSON of one declaration, however deep it nests.
fn parse(json: &[u8]) -> Result<Node<'_>, serde_json::Error> {
    match std::str::from_utf8(json) {
        // Checked once as a whole, not string by string.
        Ok(text) => node(serde_json::Deserializer::from_str(text)),
        Err(_) => node(serde_json::Deserializer::from_slice(json)),
    }
}

fn node<'j>(
    mut deserializer: serde_json::Deserializer<impl serde_json::de::Read<'j>>,
) -> Result<Node<'j>, serde_json::Error> {
    deserializer.disable_recursion_limit();
    Node::deserialize(&mut deserializer)
}

fn token_span(loc: &Loc) -> Option<Span> {
    loc.token().map(|(start, length)| Span::new(start, start + length))
}

impl Decoder<'_> {
    fn piece(&mut self, piece: Piece<'_>) -> Result<(), DecodeError> {
        match piece {
            Piece::Line(line) => self.layouts.line(line),
            Piece::Declaration(json) => {
                let mut node: Node<'_> = parse(json)?;
                self.bounds.given.lead_back(&mut node);
                self.declaration(&node);
                self.opaque.clear();
            }
        }
        Ok(())
    }

    /// From the first byte of a node's first token to past the last byte of its last one.
    fn span(&self, node: &Node<'_>) -> Span {
        match (node.range.begin.token(), node.range.end.token()) {
            (Some((start, _)), Some((end, length))) => Span::new(start, end + length),
            _ => Span::NONE,
        }
    }

    /// The token at a node's own location: a declaration's name, or a tagless record's keyword.
    fn name_span(&self, node: &Node<'_>) -> Span {
        token_span(&node.loc).unwrap_or_else(|| self.span(node))
    }

    /// Whether a declaration is in a system header, or clang's own and in no file at all.
    fn is_system(&self, node: &Node<'_>) -> bool {
        node.implicit
            || self.span(node).is_none()
            || self.source.is_system(self.name_span(node).start)
    }

    fn type_of(&mut self, node: &Node<'_>) -> QualType {
        match &node.ty {
            Some(ty) => self.resolve(ty),
            None => QualType::plain(self.unit.types.intern(CType::Void)),
        }
    }

    /// The type that clang printed. The form without its outermost sugar is tried first, since it
    /// has fewer names to resolve.
    fn resolve(&mut self, ty: &TypeRef<'_>) -> QualType {
        if let Some(desugared) = &ty.desugared {
            let found = scopes::resolve(&mut self.unit, &mut self.scopes, desugared);
            if !matches!(self.unit.ty(found), CType::Unsupported(_)) {
                return found;
            }
        }
        let found = scopes::resolve(&mut self.unit, &mut self.scopes, &ty.written);
        let shown = ty.desugared.as_ref().unwrap_or(&ty.written);
        if matches!(self.unit.ty(found), CType::Unsupported(_)) && self.declare_unnamed(shown) {
            return scopes::resolve(&mut self.unit, &mut self.scopes, shown);
        }
        found
    }
}
