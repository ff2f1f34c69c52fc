//! Small programs made by hand: a text, and as much of its IR as running it needs.

pub(crate) mod units;
pub(crate) mod watched;
pub(crate) mod whole;

use std::sync::Arc;

use lydian_base::Span;
use lydian_ir::test::{INPUT_REGION, Image, ImagePointer, PointerTarget, Test, TestObject};
use lydian_ir::{Body, CType, CTypeId, Function, Global, GlobalInit, IntKind, Linkage, Program};
use lydian_native::{Build, BuildRequest, Limits, Optimization, Plan, Runner};

/// A program under construction.
pub(crate) struct Unit {
    pub(crate) program: Program,
    pub(crate) text: String,
}

impl Unit {
    pub(crate) fn new(text: &str) -> Self {
        Self { program: Program::default(), text: text.to_owned() }
    }

    pub(crate) fn int(&mut self) -> CTypeId {
        self.program.types.int(IntKind::Int)
    }

    pub(crate) fn pointer_to(&mut self, kind: IntKind) -> CTypeId {
        let pointee = self.program.types.int(kind);
        self.program.types.pointer(pointee)
    }

    /// A function that the text defines.
    pub(crate) fn defines(mut self, name: &str, result: CTypeId, params: &[CTypeId]) -> Self {
        self.add(name, result, params, false, true);
        self
    }

    /// A function that the text only declares.
    pub(crate) fn declares(mut self, name: &str, result: CTypeId, params: &[CTypeId]) -> Self {
        self.add(name, result, params, true, false);
        self
    }

    pub(crate) fn add(
        &mut self,
        name: &str,
        result: CTypeId,
        params: &[CTypeId],
        variadic: bool,
        defined: bool,
    ) {
        let ty = CType::Function { result, params: params.to_vec(), variadic };
        let ty = self.program.types.intern(ty);
        let body = defined.then(Body::returning);
        self.program.functions.push(Function { body, ..Function::declared(name, ty) });
    }

    pub(crate) fn global(mut self, name: &str, ty: CTypeId, defined: bool) -> Self {
        let types = &self.program.types;
        let (size, align) = (types.size(ty).unwrap(), types.align(ty));
        let init = if defined { GlobalInit::Zero } else { GlobalInit::Extern };
        self.program.globals.push(Global {
            name: name.to_owned(),
            ty,
            size,
            align,
            linkage: Linkage::Internal,
            read_only: false,
            weak: false,
            thread_local: false,
            init,
            span: Span::NONE,
        });
        self
    }

    pub(crate) fn build(&self, level: Optimization) -> Arc<Build> {
        let entries: Vec<_> = self.program.defined().map(|(id, _)| id).collect();
        let plan = Plan::default();
        let modelled = |name: &str| matches!(name, "strlen" | "memcpy" | "memset");
        let request = BuildRequest {
            program: &self.program,
            text: &self.text,
            own_end: self.text.len() as u32,
            companions: &[],
            plan: &plan,
            flags: &[],
            entries: &entries,
            modelled: &modelled,
            level,
            compiler: "clang-19",
        };
        Arc::new(Build::new(&request).unwrap_or_else(|error| panic!("{error}")))
    }

    pub(crate) fn runner(&self) -> Runner {
        self.runner_within(Limits::default())
    }

    pub(crate) fn runner_within(&self, limits: Limits) -> Runner {
        Runner::new(self.build(Optimization::Some), limits).unwrap()
    }
}

pub(crate) fn plain(bytes: &[u8]) -> Image {
    Image { bytes: bytes.to_vec(), pointers: Vec::new() }
}

pub(crate) fn int(value: i32) -> Image {
    plain(&value.to_le_bytes())
}

pub(crate) fn pointer(target: PointerTarget) -> Image {
    Image { bytes: vec![0; 8], pointers: vec![ImagePointer { offset: 0, target }] }
}

pub(crate) fn call(function: &str, args: &[Image]) -> Test {
    Test::calling(function, args.to_vec())
}

pub(crate) fn bytes_object(name: &str, ty: CTypeId, at: u64, bytes: &[u8]) -> TestObject {
    TestObject {
        name: name.to_owned(),
        address: INPUT_REGION + at,
        ty,
        count: bytes.len() as u64,
        align: 16,
        image: plain(bytes),
        read_only: false,
    }
}
