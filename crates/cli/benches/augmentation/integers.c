/* Small functions on integers: comparisons, linear conditions, loops, and nested choices. */

int is_equal(int a, int b) { return a == b ? 1 : 0; }
int is_less(int a, int b) { if (a < b) return a; return b; }
int is_at_most(int a, int b) { if (a <= b) return 2; return 3; }
int sign(int n) { if (n > 0) return 1; if (n < 0) return -1; return 0; }
int absolute(int n) { if (n < 0) return -n; return n; }
int clamp(int n) { if (n < 10) return 10; if (n > 99) return 99; return n; }
int twice_plus(int a, int b) { if (2 * a + 3 == b) return 1; return b - a; }
int between(int n, int low, int high) { if (low <= n && n <= high) return 1; return 0; }
int outside(int n) { if (n < -5 || n > 5) return n; return 0; }
int is_even(int n) { if (n % 2 == 0) return 1; return 0; }
int divides(int a, int b) { if (b != 0 && a % b == 0) return 1; return 0; }
int half_of(int n) { if (n > 1) return n / 2; return n; }
int difference(int a, int b) { if (a - b > 10) return a; if (b - a > 10) return b; return a + b; }
int middle_bit(unsigned n) { if (n & 16u) return 1; return 0; }
unsigned masked(unsigned n) { if ((n & 255u) == 170u) return n >> 8; return n & 15u; }
int leap_year(int y)
{
    if (y % 4 != 0)
        return 0;
    if (y % 100 != 0)
        return 1;
    return y % 400 == 0 ? 1 : 0;
}
int days(int month, int leap)
{
    if (month < 1 || month > 12)
        return 0;
    if (month == 2)
        return leap ? 29 : 28;
    if (month == 4 || month == 6 || month == 9 || month == 11)
        return 30;
    return 31;
}
int triangle(int a, int b, int c)
{
    if (a <= 0 || b <= 0 || c <= 0)
        return 0;
    if (a + b <= c || a + c <= b || b + c <= a)
        return 0;
    if (a == b && b == c)
        return 3;
    if (a == b || b == c || a == c)
        return 2;
    return 1;
}
int quadrant(int x, int y)
{
    if (x > 0)
        return y > 0 ? 1 : 4;
    return y > 0 ? 2 : 3;
}
int grade(int points)
{
    if (points >= 90) return 1;
    if (points >= 75) return 2;
    if (points >= 60) return 3;
    if (points >= 50) return 4;
    return 5;
}
int fare(int age, int km)
{
    int price = km * 2 + 5;
    if (age < 6) return 0;
    if (age < 16 || age >= 65) price = price / 2;
    if (km > 100) price = price - 10;
    return price;
}
int sum_to(int n)
{
    int sum = 0;
    if (n > 100) return -1;
    for (int i = 1; i <= n; i++) sum += i;
    return sum;
}
int count_down(int n)
{
    int turns = 0;
    if (n > 50) n = 50;
    while (n > 0) { n -= 3; turns++; }
    return turns;
}
int digits(unsigned n)
{
    int count = 1;
    while (n >= 10u) { n = n / 10u; count++; }
    return count;
}
int digit_sum(unsigned n)
{
    int sum = 0;
    if (n > 9999u) return -1;
    while (n > 0u) { sum += (int)(n % 10u); n = n / 10u; }
    return sum;
}
int bits_set(unsigned char n)
{
    int count = 0;
    while (n) { if (n & 1) count++; n >>= 1; }
    return count;
}
int log_two(unsigned n)
{
    int log = 0;
    while (n > 1u) { n >>= 1; log++; }
    return log;
}
int square_root(int n)
{
    int root = 0;
    if (n < 0 || n > 400) return -1;
    while ((root + 1) * (root + 1) <= n) root++;
    return root;
}
int collatz(int n)
{
    int steps = 0;
    if (n <= 0 || n > 8) return -1;
    while (n != 1) {
        if (n % 2 == 0) n = n / 2;
        else n = 3 * n + 1;
        steps++;
    }
    return steps;
}
int multiply(int a, int b)
{
    int product = 0;
    if (a < 0 || a > 20 || b > 1000 || b < -1000) return -1;
    while (a > 0) { product += b; a--; }
    return product;
}
int is_prime(int n)
{
    if (n < 2 || n > 60) return 0;
    for (int d = 2; d * d <= n; d++)
        if (n % d == 0) return 0;
    return 1;
}
int nested(int a, int b, int c)
{
    if (a > 5) {
        if (b < 3) {
            if (c == a + b) return 1;
            return 2;
        }
        return 3;
    }
    return 4;
}
int order_of(int a, int b, int c)
{
    if (a < b && b < c) return 1;
    if (c < b && b < a) return -1;
    return 0;
}
int saturated(int a, int b)
{
    if (b > 0 && a > 100 - b) return 100;
    if (b < 0 && a < -100 - b) return -100;
    return (int)((unsigned)a + (unsigned)b);
}
int interval(int n)
{
    switch (n / 10) {
    case 0: return n < 0 ? -1 : 0;
    case 1: return 1;
    case 2:
    case 3: return 2;
    default: return n < 0 ? -2 : 3;
    }
}
int traffic(int light, int waiting)
{
    if (light == 0) return waiting > 3 ? 1 : 0;
    if (light == 1) return 2;
    if (light == 2 && waiting == 0) return 2;
    return 0;
}
int balance(int amount, int withdrawal)
{
    if (withdrawal <= 0) return amount;
    if (amount < withdrawal) return -1;
    if (amount - withdrawal < 50) return amount - withdrawal - 2;
    return amount - withdrawal;
}
int step_function(int x)
{
    int y = 3 * (x % 1000) - 12;
    if (y < 0) return 0;
    if (y == 0) return 1;
    return y > 30 ? 3 : 2;
}
int checksum(unsigned a, unsigned b)
{
    unsigned sum = (a ^ (b << 3)) % 97u;
    if (sum == 13u) return 1;
    if (sum > 90u) return 2;
    return 0;
}
int closest(int a, int b, int target)
{
    int x = a % 1000 - target % 1000, y = b % 1000 - target % 1000;
    if (x < 0) x = -x;
    if (y < 0) y = -y;
    if (x < y) return a;
    return b;
}
int minimum_of_three(int a, int b, int c)
{
    int least = a;
    if (b < least) least = b;
    if (c < least) least = c;
    return least;
}
int power_of_two(unsigned n)
{
    if (n == 0u) return 0;
    if ((n & (n - 1u)) == 0u) return 1;
    return 0;
}
int parity_of_sum(int a, int b)
{
    unsigned sum = (unsigned)a + (unsigned)b;
    if (sum % 2u == 1u) return a > b ? 1 : 2;
    return 0;
}
int exclusive(int a, int b)
{
    if ((a > 10) ^ (b > 10)) return 1;
    return 0;
}
