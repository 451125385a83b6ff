//! Several comparisons at once.

/// The p values after the correction of Holm (1979), in the order given: rejecting those below a
/// level keeps the chance of any false rejection below it.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![f64::NAN; p_values.len()];
    let mut greatest = 0.0_f64;
    let numbers = p_values.iter().filter(|p| !p.is_nan()).count();
    for (rank, &index) in order.iter().take(numbers).enumerate() {
        greatest = greatest.max(p_values[index] * (numbers - rank) as f64).min(1.0);
        corrected[index] = greatest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_multiplies_by_what_is_left_and_never_falls() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005, f64::NAN]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        for (got, expected) in corrected.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-12);
        }
        assert!(corrected[4].is_nan());
    }
}
