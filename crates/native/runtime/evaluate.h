/* Evaluates expressions that are data, for mutants of a user's program.
 *
 * A stack machine on words of 64 bits. Integers are zero-extended, floats are their bits. The
 * numbers of its operators stand before this text, made from the table in `code.rs`. The
 * operands of an operator follow it: one byte, or a number of seven bits a byte, the least
 * first. */

#ifndef LYDIAN_LAST

#ifndef HAVE_CALLS
static int lydian_can_be_read(const void *p, unsigned long n) { return 0 & ((word)p + n); }
#endif

typedef struct { u64 word __attribute__((packed)); } __attribute__((may_alias)) packed64;
typedef struct { unsigned word __attribute__((packed)); } __attribute__((may_alias)) packed32;
typedef struct { unsigned short word __attribute__((packed)); } __attribute__((may_alias)) packed16;

static u64 operand(const u8 **code) {
    u64 number = 0;
    int shift = 0;
    for (;; shift += 7) {
        u8 byte = *(*code)++;
        number |= (u64)(byte & 127) << shift;
        if (byte < 128) return number;
    }
}

static u64 least_bits(u64 a, unsigned bits) { return bits >= 64 ? a : a & (((u64)1 << bits) - 1); }

static long long with_sign(u64 a, unsigned bits) {
    return (long long)(a << (64 - bits)) >> (64 - bits);
}

/* The quotient and the rest, by a divisor that is not 0. Targets of 32 bits have such a division in a
 * library alone. */
static u64 divided(u64 a, u64 b, u64 *rest) {
#ifdef __LP64__
    *rest = a % b;
    return a / b;
#else
    u64 quotient = 0, left = 0;
    int bit;
    for (bit = 63; bit >= 0; bit--) {
        int carry = (int)(left >> 63);
        left = left << 1 | (a >> bit & 1);
        if (carry || left >= b) left -= b, quotient |= (u64)1 << bit;
    }
    *rest = left;
    return quotient;
#endif
}

/* The same of signed numbers, towards zero. */
static u64 divided_signed(long long a, long long b, u64 *rest) {
    u64 p = a < 0 ? 0 - (u64)a : (u64)a, q = b < 0 ? 0 - (u64)b : (u64)b;
    u64 quotient = divided(p, q, rest);
    if (a < 0) *rest = 0 - *rest;
    return (a < 0) != (b < 0) ? 0 - quotient : quotient;
}

/* Programs for machines without floats have none, and cannot compile any. */
#ifndef LYDIAN_NO_FLOATS
typedef union { u64 bits; double value; } of_double;
typedef union { unsigned bits; float value; } of_float;

static double float_of(u64 a, unsigned bits) {
    of_float narrow = {(unsigned)a};
    of_double wide = {a};
    return bits == 32 ? narrow.value : wide.value;
}

static u64 bits_of(double a, unsigned bits) {
    of_float narrow;
    of_double wide;
    wide.value = a;
    if (bits == 64) return wide.bits;
    narrow.value = (float)a;
    return narrow.bits;
}

static u64 float_operator(unsigned op, u64 a, u64 b, unsigned bits) {
    double x = float_of(a, bits), y = float_of(b, bits);
    if (bits == 32) {
        float s = (float)x, t = (float)y;
        return bits_of(op == OP_FADD ? s + t : op == OP_FSUB ? s - t : op == OP_FMUL ? s * t : s / t, 32);
    }
    return bits_of(op == OP_FADD ? x + y : op == OP_FSUB ? x - y : op == OP_FMUL ? x * y : x / y, 64);
}

static int float_compare(unsigned op, u64 a, u64 b, unsigned bits) {
    double x = float_of(a, bits), y = float_of(b, bits);
    switch (op) {
    case OP_FEQ: return x == y;
    case OP_FNE: return x != y;
    case OP_FLT: return x < y;
    default: return x <= y;
    }
}

static u64 to_integer(double a, int is_signed, unsigned bits, int *bad) {
    double half = (double)((u64)1 << (bits - 1));
    int fits = !is_signed ? a > -1 && a < 2 * half
               : bits <= 53 ? a > -half - 1 && a < half
                            : a >= -half && a < half;
    if (!fits) {
        *bad = 1;
        return 0;
    }
    /* As two signed numbers: the unsigned one is in a library alone. */
    if (is_signed || a < 0x1p63) return (u64)(long long)a;
    return (u64)(long long)(a - 0x1p63) + ((u64)1 << 63);
}

static double of_integer(u64 a, int is_signed, unsigned bits) {
    return is_signed ? (double)with_sign(a, bits) : (double)a;
}
#endif

/* Integers of so many bits. Where the operator would trap, *bad is set. */
static u64 integer_operator(unsigned op, u64 a, u64 b, unsigned bits, int *bad) {
    long long x = with_sign(a, bits), y = with_sign(b, bits), r = 0;
    u64 quotient, rest;
    int overflows = 0;
    switch (op) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_AND: return a & b;
    case OP_OR: return a | b;
    case OP_XOR: return a ^ b;
    case OP_ADDS: overflows = __builtin_add_overflow(x, y, &r); break;
    case OP_SUBS: overflows = __builtin_sub_overflow(x, y, &r); break;
    case OP_MULS:
        /* The check of the wide multiplication is in a library alone, too. */
        if (x && y) {
            u64 p = x < 0 ? 0 - (u64)x : (u64)x, q = y < 0 ? 0 - (u64)y : (u64)y;
            u64 most = ((u64)1 << (bits - 1)) - ((x < 0) == (y < 0));
            overflows = p > divided(most, q, &rest);
            r = (long long)((u64)x * (u64)y);
        }
        break;
    case OP_DIVU:
    case OP_REMU:
        if (!b) break;
        quotient = divided(a, b, &rest);
        return op == OP_DIVU ? quotient : rest;
    case OP_DIVS:
    case OP_REMS:
        if (!b || (y == -1 && a == (u64)1 << (bits - 1))) break;
        quotient = divided_signed(x, y, &rest);
        return op == OP_DIVS ? quotient : rest;
    default:
        if (b >= bits) break;
        if (op == OP_SHRU) return a >> b;
        if (op == OP_SHRS) return (u64)(x >> b);
        if (op == OP_SHLU) return a << b;
        /* A left shift that is checked. */
        r = with_sign(a << b, bits);
        overflows = x < 0 || r >> b != x;
        return overflows ? (*bad = 1, 0) : (u64)r;
    }
    if (op == OP_ADDS || op == OP_SUBS || op == OP_MULS) {
        if (!overflows && with_sign((u64)r, bits) == r) return (u64)r;
    }
    *bad = 1;
    return 0;
}

static int can_read(u64 at, u64 bytes, u64 *pages) {
    u64 first = at >> 12, last = (at + bytes - 1) >> 12;
    if (first && first == last && pages[first & 3] == first) return 1;
    if (!lydian_can_be_read((const void *)(word)at, (word)bytes)) return 0;
    pages[last & 3] = last;
    return 1;
}

static u64 loaded(u64 at, unsigned bits) {
    const void *p = (const void *)(word)at;
    switch (bits) {
    case 8: return *(const u8 *)p;
    case 16: return ((const packed16 *)p)->word;
    case 32: return ((const packed32 *)p)->word;
    default: return ((const packed64 *)p)->word;
    }
}

static u64 bit_field(u64 at, const u8 *place) {
    u64 value = 0;
    int bytes = place[0], first = place[1], bits = place[2], i;
    for (i = 0; i < bytes; i++) {
        int to = 8 * i - first;
        u64 byte = ((const u8 *)(word)at)[i];
        if (to > -8 && to < 64) value |= to < 0 ? byte >> -to : byte << to;
    }
    value <<= 64 - bits;
    return place[3] ? (u64)((long long)value >> (64 - bits)) : value >> (64 - bits);
}

/* 0: not known, 1: false, 2: true. */
static u64 both(u64 a, u64 b) { return a == 1 || b == 1 ? 1 : a && b ? 2 : 0; }
static u64 negated(u64 a) { return a ? 3 - a : 0; }

static int bit_of(const u64 *words, u64 bit) { return (int)(words[bit / 64] >> bit % 64 & 1); }

/* Runs code up to its end. The result is a truth value: 0 unknown, 1 false, 2 true. Values that
 * several expressions share are kept in slots; `pages` are known to be readable. */
HIDDEN int lydian_evaluate(const u8 *code, const u64 *words, const u8 *bytes, u64 *slots, u64 *pages) {
    u64 stack[STACK + 2], *top = stack;
    int bad = 0;
    *top = 0;
    for (;;) {
        unsigned op = *code++, bits;
        switch (op) {
        case OP_END: return (int)*top;
        case OP_CONST: *++top = operand(&code); break;
        case OP_WORD: *++top = words[operand(&code)]; break;
        case OP_SLOT: *++top = slots[operand(&code)]; break;
        case OP_SET: slots[operand(&code)] = *top--; break;
        case OP_LOAD: *top = loaded(*top, *code++); break;
        case OP_OWN:
            pages[*top >> 12 & 3] = *top >> 12;
            *top = loaded(*top, *code++);
            break;
        case OP_GET:
            bits = *code++;
            if (can_read(*top, bits / 8, pages)) *top = loaded(*top, bits);
            else bad = 1, *top = 0;
            break;
        case OP_BITS:
        case OP_GETBITS:
            if (op == OP_BITS || can_read(*top, code[0], pages)) *top = bit_field(*top, code);
            else bad = 1, *top = 0;
            *top = least_bits(*top, code[4]);
            code += 5;
            break;
        case OP_NEG: *top = least_bits(0 - *top, *code++); break;
        case OP_NOT: *top = least_bits(~*top, *code++); break;
        case OP_FNEG: *top ^= (u64)1 << (*code++ - 1); break;
#ifndef LYDIAN_NO_FLOATS
        case OP_FADD:
        case OP_FSUB:
        case OP_FMUL:
        case OP_FDIV:
            top--;
            *top = float_operator(op, top[0], top[1], *code++);
            break;
        case OP_FEQ:
        case OP_FNE:
        case OP_FLT:
        case OP_FLE:
            top--;
            *top = (u64)float_compare(op, top[0], top[1], *code++);
            break;
        case OP_STOF:
        case OP_UTOF:
            /* From the integer at once, not by way of another float. */
            if (code[1] == 32) {
                of_float narrow;
                narrow.value = op == OP_STOF ? (float)with_sign(*top, code[0]) : (float)*top;
                *top = narrow.bits;
            } else {
                *top = bits_of(of_integer(*top, op == OP_STOF, code[0]), 64);
            }
            code += 2;
            break;
        case OP_FTOS:
        case OP_FTOU:
            *top = to_integer(float_of(*top, code[0]), op == OP_FTOS, code[1], &bad);
            *top = least_bits(*top, code[1]);
            code += 2;
            break;
        case OP_FTOF: *top = bits_of(float_of(*top, code[0]), code[1]), code += 2; break;
#endif
        case OP_EQ: top--, *top = top[0] == top[1]; break;
        case OP_NE: top--, *top = top[0] != top[1]; break;
        case OP_LTU: top--, *top = top[0] < top[1]; break;
        case OP_LEU: top--, *top = top[0] <= top[1]; break;
        case OP_LTS:
        case OP_LES:
            bits = *code++, top--;
            *top = op == OP_LTS ? with_sign(top[0], bits) < with_sign(top[1], bits)
                                : with_sign(top[0], bits) <= with_sign(top[1], bits);
            break;
        case OP_MASK: *top = least_bits(*top, *code++); break;
        case OP_SEXT:
            *top = least_bits((u64)with_sign(*top, code[0]), code[1]);
            code += 2;
            break;
        case OP_ELEMENT: {
            u64 count = operand(&code);
            if (*top >= count) bad = 1, *top = 0;
            break;
        }
        case OP_WITHIN: {
            /* The base, and an offset from it that is to stay in the object. */
            u64 bytes = operand(&code), size = operand(&code), offset = *top--;
            if ((long long)offset < 0 || bytes > size || offset > size - bytes) bad = 1;
            else *top += offset;
            break;
        }
        case OP_DIFFERENCE: {
            u64 size = operand(&code), rest;
            top--;
            *top = divided_signed((long long)(top[0] - top[1]), (long long)size, &rest);
            break;
        }
        case OP_KNOWN: *top = bad ? 0 : 1 + (*top & 1), bad = 0; break;
        case OP_BOTH: top--, *top = both(top[0], top[1]); break;
        case OP_EITHER: top--, *top = negated(both(negated(top[0]), negated(top[1]))); break;
        case OP_DIFFER: top--, *top = top[0] && top[1] ? 1 + (top[0] != top[1]) : 0; break;
        case OP_NEGATED: *top = negated(*top); break;
        case OP_EVENT: {
            u64 bit = operand(&code), count = operand(&code), mode = operand(&code);
            int known = !mode || bit_of(words + count, bit) || (mode > 1 && bit_of(words, mode - 2));
            *++top = bit_of(words, bit) ? 2 : known ? 1 : 0;
            break;
        }
        case OP_REACHED: {
            u64 bit = operand(&code), count = operand(&code);
            *++top = 1 + (u64)bit_of(words + count, bit);
            break;
        }
        case OP_BYTE: *++top = bytes[operand(&code)]; break;
        case OP_WANTED: top--, *top = top[0] == 2 ? negated(top[1]) : 0; break;
        default:
            bits = *code++, top--;
            *top = least_bits(integer_operator(op, top[0], top[1], bits, &bad), bits);
        }
    }
}

#endif
