/* Complex numbers. */
#include "check.h"

typedef _Complex double cd;
typedef _Complex float cf;
typedef _Complex long double cl;

static sum_t add(sum_t sum, cd z)
{
    sum = mix_double(sum, __real__ z);
    return mix_double(sum, __imag__ z);
}

static sum_t add_single(sum_t sum, cf z) { return add(sum, z); }

static sum_t add_wide(sum_t sum, cl z)
{
    union { long double value; unsigned long words[2]; } re = { 0 }, im = { 0 };
    re.value = __real__ z;
    im.value = __imag__ z;
    sum = mix(mix(sum, re.words[0]), re.words[1] & 0xffff);
    return mix(mix(sum, im.words[0]), im.words[1] & 0xffff);
}

static cd table[] = { 0, 1, 2.0i, 1.5 - 2.25i, -3e200 + 1e-200i, 1e-310 + 2i, 7.0 * (1 + 1.0i), 0.1 + 0.3i };
static cf singles[] = { 1.0f + 2.0if, -0.1f, 3e18f - 3e17if, { 4, 5 } };
static cl wides[] = { 1.0L + 2.0il, 0.1L - 0.3il, 1e4000L + 1e-4000il };
static _Complex int whole = 3 + 4i;

cd product(cd a, cd b) { return a * b; }
cf quotient(cf a, cf b) { return a / b; }
cl mixed(cl a, int n) { return a * n + n; }

sum_t check_arithmetic(void)
{
    sum_t sum = 1;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        for (unsigned j = 0; j < sizeof table / sizeof *table; j++) {
            cd a = table[i], b = table[j];
            double r = __real__ b;
            sum = add(sum, a + b);
            sum = add(sum, a - b);
            sum = add(sum, a * b);
            if (j) {
                sum = add(sum, a / b);
                sum = add(sum, r / b);
            }
            sum = add(sum, a + r);
            sum = add(sum, r - a);
            sum = add(sum, a * r);
            if (r != 0)
                sum = add(sum, a / r);
            sum = add(sum, -a);
            sum = add(sum, ~b);
            sum = mix(sum, (a == b) + 2 * (a != b) + 4 * (a == r) + 8 * !a + 16 * (a && b));
            sum = add(sum, product(a, b));
        }
    return sum;
}

sum_t check_widths(void)
{
    sum_t sum = 2;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            cf a = singles[i], b = singles[j];
            sum = add_single(sum, a * b);
            sum = add_single(sum, quotient(a, b));
            sum = add(sum, a + (cd)b * 0.1);
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            cl a = wides[i], b = wides[j];
            sum = add_wide(sum, a * b);
            sum = add_wide(sum, a / b);
            sum = add_wide(sum, mixed(a, j));
            sum = add(sum, i < 2 ? (cd)a : 1);
        }
    return sum;
}

sum_t check_parts_and_assignments(void)
{
    sum_t sum = 3;
    cd z = 1 + 2.0i, copy;
    __real__ z = 5;
    __imag__ z += 3;
    cd *p = &z;
    *p *= 2;
    *p += 1.0i;
    copy = z++;
    sum = add(sum, copy);
    --z;
    sum = add(sum, z -= 3);
    sum = mix_double(sum, __imag__ *p);
    double d = 2;
    d *= z;
    d += table[3];
    sum = mix_double(sum, d);
    int n = (int)z;
    sum = mix(sum, n);
    _Bool b = z;
    sum = mix(sum, b + (z ? 2 : 0));
    z = n > 3 ? z : 1.0i;
    sum = add(sum, z);
    sum = add(sum, (copy = z * 2, copy + 1));
    sum = add(sum, ({ cd t = copy; t * t; }));
    sum = add(sum, __builtin_complex(1.5, -d));
    sum = add(sum, __builtin_conj(z));
    sum = mix_double(sum, __builtin_creal(z) + __builtin_cimag(z * 2));
    struct { int n; cf z[2]; } s = { 1, { 1.0if, 2 } };
    s.z[1] *= s.z[0] + 1;
    sum = add_single(sum, s.z[1]);
    _Complex int w = whole * (2 - 1i);
    w += whole;
    sum = mix(sum, __real__ w * 100 + __imag__ w);
    w = (whole * 10) / (1 + 2i);
    sum = mix(sum, __real__ w * 100 + __imag__ w);
    sum = add(sum, w);
    sum = mix(sum, sizeof z + sizeof(cf) + _Alignof(cl));
    return sum;
}

sum_t check_infinities(void)
{
    sum_t sum = 4;
    double inf = __builtin_inf();
    cd values[] = { __builtin_complex(inf, 0.0), __builtin_complex(inf, inf), __builtin_complex(-inf, 1.0), 2 + 1.0i };
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            cd z = values[i] * values[j];
            double re = __real__ z, im = __imag__ z;
            sum = mix(sum, (re == inf) + 2 * (re == -inf) + 4 * (im == inf) + 8 * (im == -inf) + 16 * (re != re) + 32 * (im != im));
            z = values[i] / values[j];
            re = __real__ z, im = __imag__ z;
            sum = mix(sum, (re == inf) + 2 * (re == -inf) + 4 * (im == inf) + 8 * (im == -inf) + 16 * (re != re) + 32 * (im != im));
        }
    return sum;
}
