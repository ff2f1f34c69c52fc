//! Whole programs: tests run `main` from the program's start, and the values that it reads are its
//! inputs.
//!
//! A `main` that takes arguments is called by a driver, which is C that is compiled with the user's
//! file. It makes the arguments from inputs, in KLEE's way and under KLEE's names, and calls `main`. So
//! all engines run the same program, and an argument is an input like any other. It also calls the
//! functions of the file that run by themselves before `main`, and has those called that run at the exit.

use std::fmt::Write as _;

use lydian_clib::Inputs;
use lydian_inputs::Settings;
use lydian_ir::libc::gives_inputs;
use lydian_ir::{CType, CTypeId, FuncId, Function, Moment, Program};

use super::request::{ArgumentBounds, FileBounds, ProjectRequest, WholeProgramRequest};
use crate::error::Error;

/// The function that calls a `main` with parameters, or with functions that run before or after it.
pub(crate) const DRIVER: &str = "lydian_main";

/// The most arguments, and their greatest length: with more, explorations do not end.
const MOST_ARGUMENTS: u32 = 64;
const LONGEST_ARGUMENT: u32 = 4096;

/// A program that is tested as a whole.
#[derive(Clone, Debug)]
pub(crate) struct WholeProgram {
    /// C for the end of the user's file: the driver, where `main` needs one.
    pub(crate) driver: String,
    arguments: ArgumentBounds,
    /// Standard input and files, where they are inputs.
    pub(crate) inputs: Option<Inputs>,
}

/// glibc reads files up to this size at once, as the models of streams do.
const MOST_BYTES: u32 = 4096;

impl WholeProgram {
    /// The program, if it is to be tested as a whole.
    pub(crate) fn of(
        program: &Program,
        source: &ProjectRequest,
        asked: &WholeProgramRequest,
    ) -> Result<Option<Self>, Error> {
        let main =
            program.function_named("main").filter(|id| program.functions[*id].body.is_some());
        let wanted = asked.is_asked_for()
            || (source.functions.is_empty() && main.is_some() && asks_for_inputs(program));
        if !wanted {
            return Ok(None);
        }
        let Some(main) = main else {
            let message = format!("{} defines no main that is supported", source.file.display());
            return Err(Error::source("no-main", message));
        };
        let driver = driver(program, &program.functions[main], asked)?;
        let arguments = asked.arguments.unwrap_or_default();
        Ok(Some(Self { driver, arguments, inputs: inputs(asked)? }))
    }

    /// The function that tests call.
    pub(crate) fn entry(&self, program: &Program) -> Option<FuncId> {
        let name = if self.driver.is_empty() { "main" } else { DRIVER };
        program.function_named(name)
    }

    /// Statements of the user about the program's surroundings, one sentence each. They are
    /// preconditions of infeasible verdicts.
    pub(crate) fn surroundings(&self) -> Vec<String> {
        let mut sentences = vec![match self.arguments {
            ArgumentBounds { most: 0, .. } => "main gets no arguments".to_owned(),
            ArgumentBounds { least, most, length } => {
                format!("main gets {least} to {most} arguments of at most {length} characters")
            }
        }];
        if let Some(Inputs { stdin, files, file_bytes }) = self.inputs {
            sentences.push(format!("standard input has at most {stdin} bytes"));
            if files > 0 {
                let last = char::from(b'A' + (files - 1) as u8);
                let which = if files > 1 { format!("A to {last}") } else { "A".to_owned() };
                sentences.push(format!("the files {which} exist, with at most {file_bytes} bytes"));
            }
            sentences.push("no other file exists".to_owned());
        }
        sentences
    }

    /// The settings of a whole program: variables start with their initial values.
    pub(crate) fn settings(&self, mut settings: Settings) -> Settings {
        for name in ["main", DRIVER] {
            let of_main = settings.function.entry(name.to_owned());
            of_main.or_default().globals.get_or_insert_default();
        }
        settings
    }
}

/// Whether a program asks for inputs in the way of verifiers and test generators.
fn asks_for_inputs(program: &Program) -> bool {
    let mut undefined = program.functions.values().filter(|function| function.body.is_none());
    undefined.any(|function| gives_inputs(&function.name))
}

fn driver(
    program: &Program,
    main: &Function,
    asked: &WholeProgramRequest,
) -> Result<String, Error> {
    let wrong = |message: String| Error::usage("arguments", message);
    let bounds = asked.arguments.unwrap_or_default();
    let ArgumentBounds { least, most, length } = bounds;
    let CType::Function { result, params, .. } = program.types.get(main.ty) else {
        return Err(wrong("main is no function".into()));
    };
    if params.is_empty() && most > 0 {
        return Err(wrong("main takes no arguments, so --sym-args says nothing".into()));
    }
    if params.is_empty() && program.startup.is_empty() {
        return Ok(String::new());
    }
    if least > most || most > MOST_ARGUMENTS || length > LONGEST_ARGUMENT {
        return Err(wrong(format!(
            "--sym-args takes MIN, MAX from MIN to {MOST_ARGUMENTS}, and a LENGTH of at most \
             {LONGEST_ARGUMENT}"
        )));
    }
    Ok(driver_text(program, *result, params, bounds))
}

/// Standard input and files, where the user asks for them as inputs.
fn inputs(asked: &WholeProgramRequest) -> Result<Option<Inputs>, Error> {
    let FileBounds { count: files, bytes: file_bytes } = asked.files.unwrap_or_default();
    let stdin = asked.stdin.unwrap_or(0);
    if files > 26 || file_bytes.max(stdin) > MOST_BYTES {
        let message = format!("there are at most 26 files, of at most {MOST_BYTES} bytes each");
        return Err(Error::usage("files", message));
    }
    let any = asked.stdin.is_some() || files > 0;
    Ok(any.then_some(Inputs { stdin, files, file_bytes }))
}

/// The driver, in C that any dialect takes.
fn driver_text(
    program: &Program,
    result: CTypeId,
    params: &[CTypeId],
    ArgumentBounds { least, most, length }: ArgumentBounds,
) -> String {
    let is_void = matches!(program.types.get(result), CType::Void);
    let mut text = String::from("# 1 \"lydian: the arguments of main\"\n");
    if !program.run_at(Moment::AtExit).is_empty() {
        text += "int atexit(void (*)(void));\n";
    }
    if most > 0 {
        text += "void klee_make_symbolic(void *, __SIZE_TYPE__, const char *);\n";
        text += "int klee_range(int, int, const char *);\n";
    }
    let _ = write!(
        text,
        "int {DRIVER}(void);\nint {DRIVER}(void)\n{{\n\
         \x20   static char name[] = \"program\";\n\
         \x20   static char text[{}][{}];\n\
         \x20   static char *argv[{}] = {{ name }};\n\
         \x20   static char *environment[1];\n\
         \x20   int argc = {};\n",
        most.max(1),
        length + 1,
        most + 2,
        least + 1,
    );
    if most > least {
        let _ = writeln!(text, "    argc += klee_range(0, {}, \"n_args\");", most - least + 1);
    }
    for at in 0..most {
        let place = at + 1;
        let call = match length {
            0 => String::new(),
            _ => format!("klee_make_symbolic(text[{at}], {length}, \"arg{at:02}\"); "),
        };
        let _ = writeln!(text, "    if (argc > {place}) {{ {call}argv[{place}] = text[{at}]; }}");
    }
    text += "    (void)argc; (void)argv; (void)text; (void)environment;\n";
    // Of functions at the exit the last that is registered runs first.
    for function in program.run_at(Moment::AtExit).into_iter().rev() {
        let _ = writeln!(text, "    atexit((void (*)(void)){});", program.functions[function].name);
    }
    for function in program.run_at(Moment::BeforeMain) {
        let Function { name, ty, .. } = &program.functions[function];
        let _ = writeln!(text, "    {};", call(name, parameters(program, *ty)));
    }
    let call = call("main", params.len());
    text += &match is_void {
        true => format!("    {call};\n    return 0;\n}}\n"),
        false => format!("    return (int){call};\n}}\n"),
    };
    text
}

/// The number of parameters of a function.
fn parameters(program: &Program, function: CTypeId) -> usize {
    match program.types.get(function) {
        CType::Function { params, .. } => params.len(),
        _ => 0,
    }
}

/// A call with as many of the arguments of `main` as there are parameters.
fn call(name: &str, parameters: usize) -> String {
    let given = ["argc", "(void *)argv", "(void *)environment"];
    let arguments = given.into_iter().chain(std::iter::repeat("0")).take(parameters);
    format!("{name}({})", arguments.collect::<Vec<_>>().join(", "))
}
