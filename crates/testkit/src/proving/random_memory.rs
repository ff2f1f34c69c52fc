//! Random memory for a function under test: parameters, globals, and objects that pointers lead to.
//!
//! A pointer is null, leads to a new object, or into one that there is already, at any place of its type:
//! so parameters alias each other, members and variables, and lists have cycles.

use lydian_base::Rng;
use lydian_ir::test::{
    ANY_NUMBER, ExternalResult, GlobalInput, INPUT_REGION, Image, ImagePointer, PointerTarget,
    Test, TestObject, number_image,
};
use lydian_ir::{CType, CTypeId, FuncId, GlobalInit, Linkage, Program};

/// The most objects of a test.
const MOST_OBJECTS: usize = 10;
/// How many results of undefined functions a test has.
const RESULTS: usize = 12;

/// A random call of a function.
pub fn random_test(program: &Program, function: FuncId, rng: &mut Rng) -> Test {
    let mut memory = Memory { program, rng, objects: Vec::new(), places: Vec::new() };
    for (_, global) in program.globals.iter().filter(|(_, global)| !global.read_only) {
        if global.linkage == Linkage::External {
            let target = PointerTarget::Global(global.name.clone(), 0);
            memory.add_places(&target, global.ty, 0);
        }
    }
    let mut test = Test::calling(program.functions[function].name.clone(), Vec::new());
    if let CType::Function { params, .. } = program.types.get(program.functions[function].ty) {
        test.args = params.iter().map(|ty| memory.image(*ty, 1)).collect();
    }
    for (_, global) in program.globals.iter() {
        let is_plain = !global.read_only && global.init != GlobalInit::Extern;
        if is_plain && memory.rng.below(3) > 0 {
            let image = memory.image(global.ty, 1);
            test.globals.push(GlobalInput { name: global.name.clone(), image });
        }
    }
    // Objects that others lead to come behind them, and may lead to further ones.
    let mut at = 0;
    while at < memory.objects.len() {
        let (ty, count) = (memory.objects[at].ty, memory.objects[at].count);
        memory.objects[at].image = memory.image(ty, count);
        at += 1;
    }
    test.objects = memory.objects;
    for _ in 0..RESULTS {
        let number = number_image(&rng.below(6).to_string());
        test.externals.extend(number.map(|image| ExternalResult::new(ANY_NUMBER, image)));
    }
    test
}

struct Memory<'m> {
    program: &'m Program,
    rng: &'m mut Rng,
    objects: Vec<TestObject>,
    /// The places of each type that pointers may lead to.
    places: Vec<(CTypeId, PointerTarget)>,
}

impl Memory<'_> {
    /// An image of some elements of a type.
    fn image(&mut self, ty: CTypeId, count: u64) -> Image {
        let size = self.program.types.size(ty).unwrap_or(0);
        let bytes = vec![0; (size * count) as usize];
        let mut image = Image { bytes, pointers: Vec::new() };
        for at in 0..count {
            self.fill(&mut image, ty, at * size);
        }
        image.pointers.sort_by_key(|pointer| pointer.offset);
        image
    }

    fn fill(&mut self, image: &mut Image, ty: CTypeId, offset: u64) {
        let types = &self.program.types;
        match types.get(ty) {
            CType::Pointer { pointee, .. } => {
                if let Some(target) = self.target(*pointee) {
                    image.pointers.push(ImagePointer { offset, target });
                }
            }
            CType::Array { element, length } => {
                let size = types.size(*element).unwrap_or(0);
                for at in 0..length.unwrap_or(0) {
                    self.fill(image, *element, offset + at * size);
                }
            }
            CType::Record(record) => {
                let record = &types.records[*record];
                let fields: Vec<(CTypeId, u64)> = match record.is_union {
                    true => record.fields.first().map(|field| (field.ty, 0)).into_iter().collect(),
                    false => record.fields.iter().map(|f| (f.ty, f.bit_offset / 8)).collect(),
                };
                for (ty, at) in fields {
                    self.fill(image, ty, offset + at);
                }
            }
            _ => {
                let number = self.rng.below(9).wrapping_sub(2).to_le_bytes();
                let size = types.size(ty).unwrap_or(0) as usize;
                for (at, byte) in number.into_iter().enumerate().take(size) {
                    if let Some(place) = image.bytes.get_mut(offset as usize + at) {
                        *place = byte;
                    }
                }
            }
        }
    }

    /// The target of a pointer to a type; none for null.
    fn target(&mut self, pointee: CTypeId) -> Option<PointerTarget> {
        if matches!(self.program.types.get(pointee), CType::Function { .. }) {
            return self.function(pointee);
        }
        if self.rng.below(7) == 0 {
            return None;
        }
        let known = self.places.iter().filter(|(ty, _)| *ty == pointee);
        let known: Vec<&PointerTarget> = known.map(|(_, target)| target).collect();
        let is_new = known.is_empty() || self.rng.below(3) == 0;
        if !is_new || self.objects.len() == MOST_OBJECTS {
            let at = self.rng.below(known.len().max(1) as u64) as usize;
            return known.get(at).map(|target| (*target).clone());
        }
        self.program.types.size(pointee)?;
        let count = 1 + self.rng.below(4);
        let number = self.objects.len();
        self.objects.push(TestObject {
            name: format!("object{number}"),
            address: INPUT_REGION + 0x1000 * number as u64,
            ty: pointee,
            count,
            align: self.program.types.align(pointee).max(8),
            image: Image::default(),
            read_only: false,
        });
        let size = self.program.types.size(pointee).unwrap_or(0);
        for at in 0..count {
            let target = PointerTarget::Object(number as u32, 0);
            self.add_places(&target, pointee, at * size);
        }
        Some(PointerTarget::Object(number as u32, 0))
    }

    /// A function of a type whose address the program hands about. That callers have others is an
    /// assumption.
    fn function(&mut self, ty: CTypeId) -> Option<PointerTarget> {
        let addressed = self.program.addressed_functions().into_iter();
        let addressed = addressed.map(|function| &self.program.functions[function]);
        let names: Vec<&str> =
            addressed.filter(|one| one.ty == ty).map(|one| one.name.as_str()).collect();
        let at = self.rng.below(names.len() as u64 + 1) as usize;
        names.get(at).map(|name| PointerTarget::Function((*name).to_owned()))
    }

    /// Adds the places of all types in an object.
    fn add_places(&mut self, object: &PointerTarget, ty: CTypeId, offset: u64) {
        let target = match object {
            PointerTarget::Object(number, _) => PointerTarget::Object(*number, offset),
            PointerTarget::Global(name, _) => PointerTarget::Global(name.clone(), offset),
            other => other.clone(),
        };
        self.places.push((ty, target));
        let types = &self.program.types;
        match types.get(ty) {
            CType::Array { element, length } => {
                let size = types.size(*element).unwrap_or(0);
                for at in 0..length.unwrap_or(0) {
                    self.add_places(object, *element, offset + at * size);
                }
            }
            CType::Record(record) => {
                let fields = &types.records[*record].fields;
                for field in fields.iter().filter(|field| field.bits.is_none()) {
                    self.add_places(object, field.ty, offset + field.bit_offset / 8);
                }
            }
            _ => {}
        }
    }
}
