//! Memory compared with its simplest model: an array of bytes.

use lydian_eval::{Traps, to_bytes};
use lydian_smt::{Evaluator, Model, Sort, Term, TermPool, Value};
use lydian_symex::memory::{
    AccessKind, Background, Candidate, Contents, Memory, NewObject, ObjectId, ObjectKind, Offset,
    Resolution, ScaledOffset,
};
use proptest::prelude::*;

const SIZE: u64 = 24;

/// An operation on memory. Places are in one of two objects.
#[derive(Clone, Debug)]
enum Action {
    Store {
        object: usize,
        at: u64,
        size: u64,
        value: u64,
    },
    /// At `start + stride * index`, with a symbolic index.
    StoreAt {
        object: usize,
        start: u64,
        stride: u64,
        index: u64,
        size: u64,
        value: u64,
    },
    Copy {
        from: usize,
        at: u64,
        to: u64,
        size: u64,
    },
    Zero {
        object: usize,
        at: u64,
        size: u64,
    },
    Load {
        object: usize,
        at: u64,
        size: u64,
    },
    LoadAt {
        object: usize,
        start: u64,
        stride: u64,
        index: u64,
        size: u64,
    },
}

fn action() -> impl Strategy<Value = Action> {
    let size = prop_oneof![Just(1u64), Just(2), Just(4), Just(8)];
    let object = 0usize..2;
    prop_oneof![
        (object.clone(), 0..SIZE, size.clone(), any::<u64>())
            .prop_map(|(object, at, size, value)| Action::Store { object, at, size, value }),
        (object.clone(), 0..4u64, 1..5u64, 0..SIZE, size.clone(), any::<u64>()).prop_map(
            |(object, start, stride, index, size, value)| Action::StoreAt {
                object,
                start,
                stride,
                index,
                size,
                value
            }
        ),
        (object.clone(), 0..SIZE, 0..SIZE, 1..SIZE).prop_map(|(from, at, to, size)| Action::Copy {
            from,
            at,
            to,
            size
        }),
        (object.clone(), 0..SIZE, 1..SIZE).prop_map(|(object, at, size)| Action::Zero {
            object,
            at,
            size
        }),
        (object.clone(), 0..SIZE, size.clone()).prop_map(|(object, at, size)| Action::Load {
            object,
            at,
            size
        }),
        (object, 0..4u64, 1..5u64, 0..SIZE, size).prop_map(
            |(object, start, stride, index, size)| Action::LoadAt {
                object,
                start,
                stride,
                index,
                size
            }
        ),
    ]
}

struct Pair {
    pool: TermPool,
    memory: Memory,
    objects: [ObjectId; 2],
    bytes: [[u8; SIZE as usize]; 2],
    model: Model,
    values: Vec<(Term, Value)>,
}

impl Pair {
    fn new(background: impl Fn(&mut TermPool) -> Background) -> Self {
        let mut pool = TermPool::new();
        let mut memory = Memory::new();
        let mut bytes = [[0; SIZE as usize]; 2];
        let mut make = |pool: &mut TermPool| {
            let contents = Contents::new(background(pool));
            memory
                .allocate(NewObject {
                    alignment: 1,
                    size: SIZE,
                    length: None,
                    kind: ObjectKind::Local,
                    read_only: false,
                    name: "x".into(),
                    contents,
                })
                .expect("there is room")
        };
        let objects = [make(&mut pool), make(&mut pool)];
        if let Background::Bytes(first) = background(&mut pool) {
            bytes = [(); 2].map(|()| std::array::from_fn(|at| first.get(at).copied().unwrap_or(0)));
        }
        Self { pool, memory, objects, bytes, model: Model::new(), values: Vec::new() }
    }

    /// A symbol with a value in the model.
    fn symbol(&mut self, width: u32, value: u64) -> Term {
        let symbol = self.pool.fresh_var("v", Sort::BitVec(width));
        self.values.push((symbol, Value::from_u64(Sort::BitVec(width), value)));
        self.model = Model::from_values(self.values.clone());
        symbol
    }

    fn place(&self, object: usize, offset: Offset) -> Resolution {
        let guard = self.pool.tt();
        let candidate = Candidate { guard, object: self.objects[object], offset };
        Resolution { candidates: vec![candidate], null: self.pool.ff(), wild: self.pool.ff() }
    }

    /// Whether an access traps on the model.
    fn traps(&mut self, place: &Resolution, size: u64) -> bool {
        let mut traps = Traps::none();
        self.memory.access_traps(&mut self.pool, place, size, AccessKind::Write, &mut traps);
        let mut evaluator = Evaluator::new();
        traps.iter().any(|(_, condition)| evaluator.holds(&self.pool, &self.model, condition))
    }

    fn store(&mut self, object: usize, offset: Offset, at: u64, size: u64, value: u64) {
        let place = self.place(object, offset);
        assert_eq!(self.traps(&place, size), at + size > SIZE);
        if at + size > SIZE {
            return;
        }
        let term = self.symbol(size as u32 * 8, value);
        self.memory.store(&mut self.pool, &place, size, term);
        let range = at as usize..(at + size) as usize;
        self.bytes[object][range].copy_from_slice(&value.to_le_bytes()[..size as usize]);
    }

    fn load(&mut self, object: usize, offset: Offset, at: u64, size: u64) {
        let place = self.place(object, offset);
        assert_eq!(self.traps(&place, size), at + size > SIZE);
        if at + size > SIZE {
            return;
        }
        let value = self.memory.load(&mut self.pool, &place, size);
        let value = to_bytes(&mut self.pool, value);
        let found = Evaluator::new().eval_u64(&self.pool, &self.model, value);
        let mut expected = [0; 8];
        let range = at as usize..(at + size) as usize;
        expected[..size as usize].copy_from_slice(&self.bytes[object][range]);
        assert_eq!(found, u64::from_le_bytes(expected), "{size} bytes at {at} of {object}");
    }

    fn scaled(&mut self, start: u64, stride: u64, index: u64) -> Offset {
        let index = self.symbol(64, index);
        Offset::Scaled(ScaledOffset { start: start as i64, stride, index })
    }

    fn act(&mut self, action: &Action) {
        match *action {
            Action::Store { object, at, size, value } => {
                self.store(object, Offset::Known(at as i64), at, size, value);
            }
            Action::StoreAt { object, start, stride, index, size, value } => {
                let offset = self.scaled(start, stride, index);
                self.store(object, offset, start + stride * index, size, value);
            }
            Action::Load { object, at, size } => {
                self.load(object, Offset::Known(at as i64), at, size);
            }
            Action::LoadAt { object, start, stride, index, size } => {
                let offset = self.scaled(start, stride, index);
                self.load(object, offset, start + stride * index, size);
            }
            Action::Copy { from, at, to, size } => {
                if at + size > SIZE || to + size > SIZE {
                    return;
                }
                let target = self.place(1 - from, Offset::Known(to as i64));
                let source = self.place(from, Offset::Known(at as i64));
                self.memory.copy(&mut self.pool, &target, &source, size);
                let moved = self.bytes[from][at as usize..(at + size) as usize].to_vec();
                self.bytes[1 - from][to as usize..(to + size) as usize].copy_from_slice(&moved);
            }
            Action::Zero { object, at, size } => {
                if at + size > SIZE {
                    return;
                }
                let place = self.place(object, Offset::Known(at as i64));
                self.memory.zero(&mut self.pool, &place, size);
                self.bytes[object][at as usize..(at + size) as usize].fill(0);
            }
        }
    }

    fn compare(&mut self) {
        for object in 0..2 {
            for at in 0..SIZE {
                self.load(object, Offset::Known(at as i64), at, 1);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn cells_over_bytes_behave_as_bytes_do(actions in prop::collection::vec(action(), 1..24)) {
        let first: Vec<u8> = (0..SIZE as u8).map(|at| at.wrapping_mul(37)).collect();
        let mut pair = Pair::new(|_| Background::Bytes(first.clone().into()));
        actions.iter().for_each(|action| pair.act(action));
        pair.compare();
    }

    #[test]
    fn an_array_term_behaves_as_bytes_do(
        actions in prop::collection::vec(action(), 1..24), element in 0u32..4,
    ) {
        let element = 1u8 << element;
        let mut pair = Pair::new(|pool| {
            let zero = pool.bv(u32::from(element) * 8, 0);
            Background::Array { term: pool.uniform_array(32, zero), element }
        });
        actions.iter().for_each(|action| pair.act(action));
        pair.compare();
    }
}
