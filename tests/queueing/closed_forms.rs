//! The formulas. Times are in mean service times unless said otherwise; `load` is the arrival rate
//! times the mean service time.

/// Stationary probabilities of a birth-death process with states 0..=n (Kleinrock, Queueing
/// Systems I, section 3.1).
pub fn birth_death(
    n: usize,
    birth: impl Fn(usize) -> f64,
    death: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut weights = vec![1.0];
    for state in 0..n {
        weights.push(weights[state] * birth(state) / death(state + 1));
    }
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// The mean of a value of the state.
pub fn mean(probabilities: &[f64], value: impl Fn(usize) -> f64) -> f64 {
    probabilities.iter().enumerate().map(|(state, p)| p * value(state)).sum()
}

/// Probability that all of `servers` are busy and a customer is lost: Erlang B.
pub fn erlang_b(servers: usize, load: f64) -> f64 {
    (1..=servers).fold(1.0, |blocked, server| load * blocked / (server as f64 + load * blocked))
}

/// Probability that a customer waits: Erlang C.
pub fn erlang_c(servers: usize, load: f64) -> f64 {
    let blocked = erlang_b(servers, load);
    blocked / (1.0 - load / servers as f64 * (1.0 - blocked))
}

/// Mean wait of M/M/c.
pub fn mmc_wait(servers: usize, load: f64) -> f64 {
    erlang_c(servers, load) / (servers as f64 - load)
}

/// Mean wait of M/G/1: Pollaczek and Khinchine. `cv` is standard deviation over mean.
pub fn mg1_wait(load: f64, cv: f64) -> f64 {
    load * (1.0 + cv * cv) / (2.0 * (1.0 - load))
}

/// Mean sojourn times of two classes under discriminatory processor sharing on one core with
/// exponential services at rates `mu`, loads `rho` and weights `g` (Fayolle, Mitrani and
/// Iasnogorodski, 1980). In the unit of 1 / mu.
pub fn discriminatory_sharing(mu: [f64; 2], rho: [f64; 2], g: [f64; 2]) -> [f64; 2] {
    let divisor = mu[0] * g[0] * (1.0 - rho[0]) + mu[1] * g[1] * (1.0 - rho[1]);
    let idle = 1.0 - rho[0] - rho[1];
    [
        (1.0 + mu[0] * rho[1] * (g[1] - g[0]) / divisor) / (mu[0] * idle),
        (1.0 + mu[1] * rho[0] * (g[0] - g[1]) / divisor) / (mu[1] * idle),
    ]
}

/// Throughput of a closed product-form network of single-server stations with the given
/// demands, a delay, and `users`: exact mean value analysis (Reiser and Lavenberg, 1980).
pub fn mean_value_analysis(demands: &[f64], delay: f64, users: u32) -> f64 {
    let mut queue = vec![0.0; demands.len()];
    let mut throughput = 0.0;
    for n in 1..=users {
        let times: Vec<f64> = demands.iter().zip(&queue).map(|(d, q)| d * (1.0 + q)).collect();
        throughput = f64::from(n) / (delay + times.iter().sum::<f64>());
        queue = times.iter().map(|time| throughput * time).collect();
    }
    throughput
}
