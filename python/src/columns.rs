//! Rows as columns: each is filled as the rows come and handed to NumPy whole, without a copy.

use std::io;

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use convsim::experiment::{Row, RowSink, Status};
use convsim::scenario::MetricColumn;

use crate::waiting::Failures;

/// The rows of a run, column by column.
#[derive(Debug, Default)]
pub struct Columns {
    point: Vec<i32>,
    replication: Vec<u64>,
    status: Vec<i8>,
    end_time: Vec<f64>,
    events: Vec<u64>,
    fingerprint: Vec<u64>,
    figures: Vec<Vec<f64>>,
    /// The row and what went wrong in it.
    messages: Vec<(usize, String)>,
    /// By point, whether its figure is known as exactly as asked.
    reached: Vec<Option<bool>>,
    /// What failed.
    pub failures: Option<Failures>,
}

impl Columns {
    /// For rows with so many figures.
    pub fn new(figures: usize) -> Self {
        Self { figures: vec![Vec::new(); figures], ..Self::default() }
    }

    /// Brings the rows of a stopping rule, which come round by round, into the order of the command
    /// line's files: point by point, replication by replication. `reached` says by point whether its
    /// figure is known as exactly as asked.
    pub fn settle(&mut self, reached: Vec<Option<bool>>) {
        self.reached = reached;
        let key = |row: usize| (self.point[row], self.replication[row]);
        let mut order: Vec<usize> = (0..self.point.len()).collect();
        if order.is_sorted_by_key(|&row| key(row)) {
            return;
        }
        order.sort_unstable_by_key(|&row| key(row));
        reorder(&mut self.point, &order);
        reorder(&mut self.replication, &order);
        reorder(&mut self.status, &order);
        reorder(&mut self.end_time, &order);
        reorder(&mut self.events, &order);
        reorder(&mut self.fingerprint, &order);
        self.figures.iter_mut().for_each(|column| reorder(column, &order));
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
        self.messages.iter_mut().for_each(|(row, _)| *row = place[*row]);
    }

    /// As a dictionary of arrays by name; `point` and `status` are places in lists, `messages` is a
    /// list of (row, text), and the figures are under their columns' names in `figures`.
    pub fn into_dict<'py>(
        self,
        py: Python<'py>,
        columns: &[MetricColumn],
    ) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("point", self.point.into_pyarray(py))?;
        dict.set_item("replication", self.replication.into_pyarray(py))?;
        dict.set_item("status", self.status.into_pyarray(py))?;
        dict.set_item("statuses", Status::ALL.map(Status::name).to_vec())?;
        dict.set_item("end_time", self.end_time.into_pyarray(py))?;
        dict.set_item("events", self.events.into_pyarray(py))?;
        dict.set_item("fingerprint", self.fingerprint.into_pyarray(py))?;
        dict.set_item("messages", self.messages)?;
        dict.set_item("failures", self.failures)?;
        dict.set_item("reached", self.reached)?;
        let figures = PyDict::new(py);
        for (column, values) in columns.iter().zip(self.figures) {
            figures.set_item(&column.name, values.into_pyarray(py))?;
        }
        dict.set_item("figures", figures)?;
        Ok(dict)
    }
}

fn reorder<T: Copy>(column: &mut Vec<T>, order: &[usize]) {
    *column = order.iter().map(|&row| column[row]).collect();
}

impl RowSink for Columns {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        let status = Status::ALL.iter().position(|&status| status == row.status);
        if let Some(message) = &row.message {
            self.messages.push((self.point.len(), message.clone()));
        }
        self.point.push(i32::try_from(row.point).map_err(io::Error::other)?);
        self.replication.push(row.replication);
        self.status.push(status.map_or(-1, |place| place as i8));
        self.end_time.push(row.end.as_seconds());
        self.events.push(row.events);
        self.fingerprint.push(row.fingerprint);
        for (column, &figure) in self.figures.iter_mut().zip(&row.figures) {
            column.push(figure);
        }
        Ok(())
    }
}
