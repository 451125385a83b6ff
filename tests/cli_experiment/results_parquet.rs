//! `results.parquet` has what `results.csv` has.

use std::fs::File;

use parquet::basic::{Encoding, Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use super::*;

/// A value as it is written in `results.csv`.
fn as_csv(name: &str, field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Bool(value) => value.to_string(),
        Field::ULong(number) if name == "fingerprint" => format!("{number:016x}"),
        Field::ULong(number) => number.to_string(),
        Field::Double(number) => format!("{number:?}"),
        other => panic!("{name}: {other:?}"),
    }
}

fn same_as_csv(place: &Place, folder: &str) -> usize {
    let path = place.path(folder).join("links");
    let mut csv = csv::Reader::from_path(path.join("results.csv")).unwrap();
    let heading = csv.headers().unwrap().clone();
    let reader =
        SerializedFileReader::new(File::open(path.join("results.parquet")).unwrap()).unwrap();
    let mut rows = 0;
    for (row, record) in reader.get_row_iter(None).unwrap().zip(csv.records()) {
        let (row, record) = (row.unwrap(), record.unwrap());
        let columns: Vec<(&String, &Field)> = row.get_column_iter().collect();
        assert_eq!(
            columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            heading.iter().collect::<Vec<_>>()
        );
        for ((name, field), text) in columns.iter().zip(&record) {
            assert_eq!(as_csv(name, field), text, "{name} of row {rows}");
        }
        rows += 1;
    }
    assert_eq!(reader.metadata().file_metadata().num_rows(), i64::try_from(rows).unwrap());
    rows
}

#[test]
fn every_row_is_that_of_the_csv_file() {
    let place = Place::with_scenario("links", "");
    // Some replications do not get there, so that some figures are not there.
    let short = ["run", "links.json", "--horizon", "30 s", "--replications", "50"];
    assert_eq!(code(&place.convsim(&short)), 0);
    assert_eq!(same_as_csv(&place, "outputs"), 200);
    let until =
        ["run", "links.json", "--replications", "4..6", "--until", "convergence_time<=1e-9%"];
    assert_eq!(code(&place.convsim(&[&until[..], &["--output", "capped"]].concat())), 0);
    assert_eq!(same_as_csv(&place, "capped"), 24);
    assert!(
        place.read("capped/links/results.csv").lines().skip(1).all(|row| row.ends_with(",false"))
    );
    let summary = place.read("capped/links/summary.csv");
    let flagged: Vec<&str> = summary.lines().filter(|row| row.ends_with(",false")).collect();
    assert_eq!(flagged.len(), 4, "{summary}");
    assert!(flagged.iter().all(|row| row.contains(",convergence_time,")));
}

#[test]
fn columns_are_typed_and_texts_that_repeat_are_in_a_dictionary() {
    let place = Place::with_scenario("links", "");
    assert_eq!(code(&place.convsim(&["run", "links.json"])), 0);
    let path = place.path("outputs/links/results.parquet");
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let metadata = reader.metadata();
    let group = metadata.row_group(0);
    let column = |name: &str| {
        let found = group.columns().iter().find(|column| column.column_path().string() == name);
        found.unwrap_or_else(|| panic!("{name}"))
    };
    for (name, kind) in [
        ("replication", Type::INT64),
        ("end_time", Type::DOUBLE),
        ("convergence_time", Type::DOUBLE),
        ("status", Type::BYTE_ARRAY),
        ("precision_reached", Type::BOOLEAN),
    ] {
        assert_eq!(column(name).column_type(), kind, "{name}");
    }
    let dictionary = |name| column(name).encodings().any(|e| e == Encoding::RLE_DICTIONARY);
    assert!(dictionary("configuration") && dictionary("status"));
    assert!(!dictionary("convergence_time"));
    let entries = metadata.file_metadata().key_value_metadata().unwrap();
    let entry = |key: &str| {
        let found = entries.iter().find(|entry| entry.key == format!("convsim.{key}"));
        found.and_then(|entry| entry.value.clone()).unwrap()
    };
    let manifest: serde_json::Value =
        serde_json::from_str(&place.read("outputs/links/manifest.json")).unwrap();
    assert_eq!(entry("scenario_hash"), manifest["scenario_hash"]);
    assert_eq!(entry("version"), env!("CARGO_PKG_VERSION"));
    assert_eq!(entry("scenario"), "links");
}
