//! Typical loops, as systems of 32 bits.

/// A system, and which of its goals are reached.
pub(crate) struct Example {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) reached: &'static [bool],
}

/// The loops.
pub(crate) const LOOPS: &[Example] = &[
    Example {
        name: "sum",
        text: "vars i n s
               start i = 0, s = 0
               assume n_0 >= 0
               p0 -> p1
               p1 -> p1 if i < n: i := i + 1, s := s + i + 1
               p1 -> !bad if i >= n && s + s != n * n + n",
        reached: &[false],
    },
    Example {
        name: "greatest_divisor",
        text: "vars x y
               assume x_0 > 0 && y_0 > 0
               p0 -> p1
               p1 -> p1 if x > y: x := x - y
               p1 -> p1 if x < y: y := y - x
               p1 -> !bad if x == y && x <= 0
               p1 -> !worse if y < 1",
        reached: &[false, false],
    },
    Example {
        name: "addition",
        text: "vars a b r c
               assume b_0 >= 0 && r_0 == a_0 && c_0 == b_0
               p0 -> p1
               p1 -> p1 if c > 0: c := c - 1, r := r + 1
               p1 -> !bad if c <= 0 && r != a + b",
        reached: &[false],
    },
    Example {
        name: "balance",
        text: "vars i j k
               start i = 1, j = 1
               assume k_0 >= 0 && k_0 <= 1
               p0 -> p1
               p1 -> p1 if i < 1000000: i := i + 1, j := j + k, k := k - 1
               p1 -> !bad if i + k < 1 || i + k > 2 || i < 1",
        reached: &[false],
    },
    Example {
        name: "multiplication",
        text: "vars a b i p
               start i = 0, p = 0
               assume b_0 >= 0
               p0 -> p1
               p1 -> p1 if i < b: i := i + 1, p := p + a
               p1 -> !bad if i >= b && p != a * b",
        reached: &[false],
    },
    Example {
        name: "differences",
        text: "vars n x y z
               inputs a
               start n = 0, x = 0, y = 1, z = 6
               p0 -> p1
               p1 -> p1 if a > 0: n := n + 1, x := x + y, y := y + z, z := z + 6
               p1 -> !first if z != 6 * n + 6
               p1 -> !second if y != 3 * n * n + 3 * n + 1",
        reached: &[false, false],
    },
    Example {
        name: "grid",
        text: "vars i j n m c
               start i = 0, j = 0, c = 0
               assume n_0 >= 0 && m_0 >= 0
               p0 -> p1
               p1 -> p2 if i < n: j := 0
               p2 -> p2 if j < m: j := j + 1, c := c + 1
               p2 -> p1 if j >= m: i := i + 1
               p1 -> !bad if i >= n && c != n * m",
        reached: &[false],
    },
    Example {
        name: "password",
        text: "vars s
               inputs a
               start s = 0
               p0 -> p1
               p1 -> p1 if s == 0 && a == 77123: s := 1
               p1 -> p1 if s == 1 && a == 99: s := 2
               p1 -> p1 if s == 2 && a == 123456: s := 3
               p1 -> p1 if s == 3 && a == 5: s := 4
               p1 -> !open if s == 4
               p1 -> !never if s == 5",
        reached: &[true, false],
    },
    Example {
        name: "deepest",
        text: "vars i n
               start i = 0
               p0 -> p1
               p1 -> p1 if i < n: i := i + 1
               p1 -> !found if i == 500",
        reached: &[true],
    },
    Example {
        name: "far",
        text: "vars i n s
               start i = 0, s = 0
               p0 -> p1
               p1 -> p1 if i < n: i := i + 1, s := s + 3
               p1 -> !found if i == 20000 && s == 60000",
        reached: &[true],
    },
    Example {
        name: "extended_euclid",
        text: "vars x y a b p q r s
               start p = 1, q = 0, r = 0, s = 1
               assume a_0 == x_0 && b_0 == y_0 && x_0 > 0 && y_0 > 0
               p0 -> p1
               p1 -> p1 if a > b: a := a - b, p := p - q, r := r - s
               p1 -> p1 if a < b: b := b - a, q := q - p, s := s - r
               p1 -> !determinant if p * s - r * q != 1
               p1 -> !first if a != y * r + x * p
               p1 -> !second if a == b && p * x + r * y != b",
        reached: &[false, false, false],
    },
    Example {
        name: "doubling_division",
        text: "vars x y q r a b
               start q = 0
               assume y_0 > 0 && r_0 == x_0
               p0 -> p1
               p1 -> p2 if r >= y: a := 1, b := y
               p2 -> p2 if r >= 2 * b: a := 2 * a, b := 2 * b
               p2 -> p1 if r < 2 * b: r := r - b, q := q + a
               p1 -> !bad if r < y && x != q * y + r
               p2 -> !worse if r >= 2 * b && r < 2 * y * a
               p2 -> !product if b != y * a",
        reached: &[false, false, false],
    },
    Example {
        name: "squares",
        text: "vars x y n
               start x = 0, y = 0
               p0 -> p1
               p1 -> p1 if y < n: y := y + 1, x := x + (y + 1) * (y + 1)
               p1 -> !bad if 6 * x != 2 * y * y * y + 3 * y * y + y",
        reached: &[false],
    },
    Example {
        name: "index",
        text: "vars i n
               start i = 0
               assume n_0 <=u 10
               p0 -> p1
               p1 -> p1 if i <u n: i := i + 1
               p1 -> !below if i <u n && i >=u 10
               p1 -> !at if i == n && i >u 10
               p1 -> !nine if i <u n && i == 9",
        reached: &[false, false, true],
    },
    Example {
        name: "machine",
        text: "vars s c
               inputs a
               start s = 0, c = 0
               p0 -> p1
               p1 -> p1 if s == 0 && a == 1: s := 1, c := c + 1
               p1 -> p1 if s == 1 && a == 2: s := 2
               p1 -> p1 if s == 2 && a == 3: s := 0, c := c - 1
               p1 -> p1 if s == 1 && a == 4: s := 0, c := c - 1
               p1 -> !bad if c < 0 || c > 1
               p1 -> !worse if s == 2 && c != 1",
        reached: &[false, false],
    },
    Example {
        name: "halves",
        text: "vars x y n
               start x = 0, y = 0
               assume n_0 >= 0 && n_0 < 1000000
               p0 -> p1
               p1 -> p2 if x < n: x := x + 1
               p2 -> p1: y := y + 2
               p1 -> !bad if x >= n && y != n + n
               p2 -> !worse if y + 2 != x + x",
        reached: &[false, false],
    },
    Example {
        name: "collatz_bound",
        text: "vars x k
               inputs a
               start k = 0
               assume x_0 > 0 && x_0 < 100
               p0 -> p1
               p1 -> p1 if x > 1 && k < 60: x := x - 1, k := k + 1
               p1 -> !bad if x <= 0
               p1 -> !long if k > 60
               p1 -> !some if k == 60",
        reached: &[false, false, true],
    },
    Example {
        name: "twice",
        text: "vars i n s
               start i = 0, s = 0
               p0 -> p1
               p1 -> p1 if i < n: i := i + 1, s := s + 2
               p1 -> !bad if i >= n && s != i + i",
        reached: &[false],
    },
    Example {
        name: "count",
        text: "vars i n
               start i = 0
               assume n_0 > 0
               p0 -> p1
               p1 -> p1 if i < n: i := i + 1
               p1 -> !bad if i >= n && i != n",
        reached: &[false],
    },
    Example {
        name: "nested",
        text: "vars i j n m c
               start i = 0, c = 0
               assume n_0 >= 0 && m_0 >= 0
               p0 -> p1
               p1 -> p2 if i < n: j := 0
               p2 -> p2 if j < m: j := j + 1
               p2 -> p1 if j >= m: i := i + 1
               p1 -> !bad if i > n
               p2 -> !worse if j > m || i >= n",
        reached: &[false, false],
    },
    Example {
        name: "parity",
        text: "vars x
               inputs a
               start x = 0
               p0 -> p1
               p1 -> p1 if a != 0: x := x + 2
               p1 -> !bad if x == 7",
        reached: &[false],
    },
    Example {
        name: "flag",
        text: "vars x n
               flags b
               inputs a
               start x = 0, b = false
               p0 -> p1
               p1 -> p1 if !b && a == 3: x := 5, b := true
               p1 -> p1 if a == 4
               p1 -> !bad if b && x != 5",
        reached: &[false],
    },
    Example {
        name: "concrete",
        text: "vars i s
               start i = 0, s = 0
               p0 -> p1
               p1 -> p1 if i < 100: i := i + 1, s := s + i
               p1 -> !bad if i >= 100 && s != 4950
               p1 -> !good if i >= 100 && s == 4950",
        reached: &[false, true],
    },
    Example {
        name: "swap",
        text: "vars x y t
               inputs a
               start x = 1, y = 2
               p0 -> p1
               p1 -> p1 if a > 0: x := y, y := x
               p1 -> !bad if x + y != 3",
        reached: &[false],
    },
    Example {
        name: "down",
        text: "vars i n k
               start k = 0
               assume n_0 > 0 && n_0 < 1000 && i_0 == n_0
               p0 -> p1
               p1 -> p1 if i > 0: i := i - 1, k := k + 1
               p1 -> !bad if i <= 0 && k != n",
        reached: &[false],
    },
    Example {
        name: "lock",
        text: "vars l o m
               inputs a
               start l = 0, o = 0, m = 0
               p0 -> p1
               p1 -> p1 if l == 0 && a == 1: l := 1, o := m
               p1 -> p1 if l == 1 && a == 2: l := 0, m := m + 1
               p1 -> !bad if l == 1 && o != m",
        reached: &[false],
    },
    Example {
        name: "deep",
        text: "vars i n
               start i = 0
               p0 -> p1
               p1 -> p1 if i < n: i := i + 1
               p1 -> !found if i == 40",
        reached: &[true],
    },
    Example {
        name: "bound",
        text: "vars i j
               inputs a
               start i = 0, j = 10
               p0 -> p1
               p1 -> p1 if i < j && a == 0: i := i + 2, j := j - 1
               p1 -> p1 if i < j && a != 0: i := i + 1
               p1 -> !bad if i > 11",
        reached: &[false],
    },
    Example {
        name: "square",
        text: "vars i n s
               start i = 0, s = 0
               assume n_0 >= 0
               p0 -> p1
               p1 -> p1 if i < n: s := s + i + i + 1, i := i + 1
               p1 -> !bad if i >= n && s != n * n",
        reached: &[false],
    },
    Example {
        name: "phases",
        text: "vars x y
               start x = 0, y = 50
               p0 -> p1
               p1 -> p1 if x < 100 && x < 50: x := x + 1
               p1 -> p1 if x < 100 && x >= 50: x := x + 1, y := y + 1
               p1 -> !bad if x >= 100 && y != 100",
        reached: &[false],
    },
];
