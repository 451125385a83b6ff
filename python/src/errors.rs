//! What is refused, as exceptions with the text of the command line.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use convsim::front::Refused;
use convsim::scenario::error::ProblemReport;

create_exception!(convsim, ConvsimError, PyException, "What convsim refuses or cannot do.");
create_exception!(
    convsim,
    ScenarioError,
    ConvsimError,
    "A scenario or a change to it is wrong.\n\nThe text is what the command line prints: every \
     mistake with file, line, value and what is allowed. ``problems`` has the same as a list of \
     dictionaries with the keys ``path``, ``place`` (``file:line:column``), ``message`` and \
     ``help``."
);

/// Adds the exceptions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("ConvsimError", py.get_type::<ConvsimError>())?;
    module.add("ScenarioError", py.get_type::<ScenarioError>())
}

/// `refused` as an exception.
pub fn exception(py: Python<'_>, refused: &Refused) -> PyErr {
    let text = refused.to_string();
    let text = text.trim_end().to_owned();
    let problems: Vec<&ProblemReport> =
        refused.load_errors().flat_map(|error| error.problems()).collect();
    if problems.is_empty() {
        return ConvsimError::new_err(text);
    }
    let error = ScenarioError::new_err(text);
    let described = described(py, &problems);
    match described.and_then(|list| error.value(py).setattr("problems", list)) {
        Ok(()) => error,
        Err(other) => other,
    }
}

fn described<'py>(
    py: Python<'py>,
    problems: &[&ProblemReport],
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let mut list = Vec::new();
    for problem in problems {
        let entry = PyDict::new(py);
        entry.set_item("path", problem.path())?;
        entry.set_item("place", problem.place())?;
        entry.set_item("message", problem.message())?;
        entry.set_item("help", problem.help_text())?;
        list.push(entry);
    }
    Ok(list)
}
