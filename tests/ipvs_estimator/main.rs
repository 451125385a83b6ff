//! The IPVS estimator against its sources, closed forms and properties.

mod support;

mod accuracy;
mod bad_input;
mod governors;
mod groups;
mod kthreads;
mod lateness;
mod properties;
mod published_tables;
