//! The inputs of a run, from a violation witness.
//!
//! Two formats are read: GraphML, whose edges have assumptions with the function that gave a result, and
//! YAML (version 2.0), whose waypoints at returns of functions have `\result == value` and a line. Only
//! these parts are looked for, so a witness that says other things as well does no harm. A value that is
//! not a number is left out: what the witness leaves open, another party may choose.

use super::dialect::{InputFunction, QuestionText};
use crate::proving::InputValue;

/// The result of a function, in assumptions.
const RESULT: &str = "\\result";

/// The inputs in the order of the run; none if the witness has none.
pub(super) fn read(text: &str, question: &QuestionText) -> Vec<InputValue> {
    match text.contains("<graphml") {
        true => of_graph(text, &question.inputs),
        false => of_waypoints(text, question),
    }
}

fn of_graph(text: &str, functions: &[InputFunction]) -> Vec<InputValue> {
    let edges = text.split("<edge").skip(1);
    let input = |edge: &str| {
        let function = datum(edge, "assumption.resultfunction")?;
        let known = functions.iter().find(|known| known.name == function)?;
        value(&datum(edge, "assumption")?, known)
    };
    edges.filter_map(input).collect()
}

/// The text of a datum of an edge.
fn datum(edge: &str, key: &str) -> Option<String> {
    let begin = format!("key=\"{key}\">");
    let text = edge.split(&begin).nth(1)?.split("</data>").next()?;
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    let plain = entities.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    Some(plain.trim().to_owned())
}

fn of_waypoints(text: &str, question: &QuestionText) -> Vec<InputValue> {
    let waypoints = text.split("waypoint:").skip(1);
    let input = |waypoint: &str| {
        let of = |key: &str| {
            let lines = waypoint.lines().map(|line| line.trim().trim_start_matches("- "));
            let value =
                lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(':')).next()?;
            Some(value.trim().trim_matches(['"', '\'']).replace("\\\\", "\\"))
        };
        (of("type")? == "function_return").then_some(())?;
        let line: usize = of("line")?.parse().ok()?;
        value(&of("value")?, called_at(line, question)?)
    };
    waypoints.filter_map(input).collect()
}

/// The only function that gives inputs and is called in a line of the program.
fn called_at(line: usize, question: &QuestionText) -> Option<&InputFunction> {
    let units = question.units().iter();
    let text = units.filter_map(|unit| unit.lines().nth(line.checked_sub(1)?)).next()?;
    let is_called = |known: &&InputFunction| text.contains(&format!("{}(", known.name));
    let mut called = question.inputs.iter().filter(is_called);
    let one = called.next()?;
    called.next().is_none().then_some(one)
}

/// The value of `\result == value`, as the function's result has it.
fn value(assumption: &str, function: &InputFunction) -> Option<InputValue> {
    let parts = assumption.split(';').map(|part| part.trim().trim_matches(['(', ')']));
    let text =
        parts.filter_map(|part| part.strip_prefix(RESULT)?.trim().strip_prefix("==")).next()?;
    let bytes = number(text.trim().trim_matches(['(', ')']), function)?;
    Some(InputValue { function: function.name.clone(), ty: Some(function.ty.clone()), bytes })
}

/// The bytes of a number as C writes it.
fn number(text: &str, function: &InputFunction) -> Option<Vec<u8>> {
    let plain = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match function.ty.as_str() {
        "float" => {
            return Some(
                text.trim_end_matches(['f', 'F']).parse::<f32>().ok()?.to_le_bytes().into(),
            );
        }
        "double" => return Some(plain.parse::<f64>().ok()?.to_le_bytes().into()),
        _ => {}
    }
    let number = match plain.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None => plain.replace(' ', "").parse::<i128>().ok()?,
    };
    number.to_le_bytes().get(..function.size).map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lydian_ir::Program;

    use crate::outside::checkers::Dialect;

    fn question(text: &str) -> QuestionText {
        let units = vec![text.to_owned()];
        let mut question = QuestionText::new(&Program::default(), units, Dialect::VerificationTask);
        for (name, ty, size) in [("nondet_int", "int", 4), ("nondet_double", "double", 8)] {
            let (name, ty) = (name.to_owned(), ty.to_owned());
            question.inputs.push(InputFunction { name, ty, size });
        }
        question
    }

    #[test]
    fn inputs_are_read_from_the_edges_of_a_graph() {
        let graph = r#"<graphml><edge><data key="assumption">\result == (-7);</data>
            <data key="assumption.resultfunction">nondet_int</data></edge>
            <edge><data key="assumption">x == 4;</data></edge>
            <edge><data key="assumption">\result == 0.5;</data>
            <data key="assumption.resultfunction">nondet_double</data></edge></graphml>"#;
        let inputs = read(graph, &question(""));
        let bytes: Vec<&[u8]> = inputs.iter().map(|input| input.bytes.as_slice()).collect();
        assert_eq!(bytes, [&(-7i32).to_le_bytes()[..], &0.5f64.to_le_bytes()[..]]);
    }

    #[test]
    fn inputs_are_read_from_the_waypoints_of_returns() {
        let program = "int main(void) {\n  int x = nondet_int();\n  return x;\n}\n";
        let witness = r#"
- entry_type: violation_sequence
  content:
  - segment:
    - waypoint:
        type: function_return
        action: follow
        constraint:
          value: "\\result == 12"
          format: ext_c_expression
        location:
          file_name: unit-0.i
          line: 2
  - segment:
    - waypoint:
        type: target
        action: follow
        location:
          line: 3
"#;
        let inputs = read(witness, &question(program));
        assert_eq!(inputs.len(), 1);
        assert_eq!(inputs[0].number(), "12");
        assert!(read("nothing", &question(program)).is_empty());
    }
}
