/* Formatted output: the printf family. A directive is read into a struct, its argument is fetched,
   and one function for each kind of conversion writes it. */
#include "internal.h"

enum length {
    PLAIN, CHAR_LENGTH, SHORT_LENGTH, LONG_LENGTH, LONG_LONG_LENGTH, LONG_DOUBLE_LENGTH
};

struct directive {
    int left, plus, space, alternate, zero;
    /* -1 where there is none. */
    int precision;
    int width;
    enum length length;
    char conversion;
};

union argument {
    uint64_t integer;
    double number;
    struct lydian_float extended;
    void *pointer;
};

enum argument_type {
    NO_ARGUMENT, INT_ARGUMENT, LONG_ARGUMENT, LONG_LONG_ARGUMENT, POINTER_ARGUMENT,
    DOUBLE_ARGUMENT, LONG_DOUBLE_ARGUMENT
};

/* In long_double.c. */
struct lydian_float lydian_next_long_double(va_list *arguments);

void lydian_put(struct lydian_sink *out, const char *bytes, size_t count) {
    if (!count) return;
    out->count += count;
    if (out->stream) {
        if (fwrite(bytes, 1, count, out->stream) != count) out->failed = 1;
        return;
    }
    size_t room = (size_t)(out->end - out->at);
    if (room > count) room = count;
    if (room) {
        memcpy(out->at, bytes, room);
        out->at += room;
    }
}

static void put_many(struct lydian_sink *out, char c, long count) {
    char bytes[64];
    if (count <= 0) return;
    memset(bytes, c, count < 64 ? (size_t)count : sizeof bytes);
    for (; count > 64; count -= 64) lydian_put(out, bytes, sizeof bytes);
    lydian_put(out, bytes, (size_t)count);
}

/* Writes prefix, zeros and text in the field that the directive asks for. */
static void put_field(struct lydian_sink *out, const struct directive *d, const char *prefix,
                      long zeros, const char *text, size_t length) {
    size_t prefix_length = strlen(prefix);
    long padding = d->width - (long)prefix_length - zeros - (long)length;
    if (!d->left) put_many(out, ' ', padding);
    lydian_put(out, prefix, prefix_length);
    put_many(out, '0', zeros);
    lydian_put(out, text, length);
    if (d->left) put_many(out, ' ', padding);
}

static void put_integer(struct lydian_sink *out, const struct directive *d, uint64_t value,
                        int negative) {
    const char *digits = d->conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    unsigned base = 10;
    int is_signed = 0;
    switch (d->conversion) {
    case 'o': base = 8; break;
    case 'x': case 'X': case 'p': base = 16; break;
    case 'b': case 'B': base = 2; break;
    case 'd': case 'i': is_signed = 1; break;
    }
    char text[66], *end = text + sizeof text, *at = end;
    for (uint64_t rest = value; rest; rest /= base) *--at = digits[rest % base];
    long length = end - at;
    long zeros = d->precision > length ? d->precision - length : 0;
    if (d->precision < 0 && length == 0) zeros = 1;
    if (d->alternate && base == 8 && zeros == 0) zeros = 1;
    const char *prefix = "";
    if (is_signed) {
        prefix = negative ? "-" : d->plus ? "+" : d->space ? " " : "";
    } else if (d->conversion == 'p') {
        prefix = d->plus ? "+0x" : d->space ? " 0x" : "0x";
    } else if (d->alternate && value) {
        prefix = base == 16 ? (d->conversion == 'x' ? "0x" : "0X")
                 : base == 2 ? (d->conversion == 'b' ? "0b" : "0B")
                             : "";
    }
    if (d->zero && !d->left && d->precision < 0) {
        long wanted = d->width - (long)strlen(prefix) - length;
        if (wanted > zeros) zeros = wanted;
    }
    put_field(out, d, prefix, zeros, at, (size_t)length);
}

static int is_upper(char conversion) { return conversion >= 'A' && conversion <= 'Z'; }

static const char *sign_of(const struct directive *d, int negative) {
    return negative ? "-" : d->plus ? "+" : d->space ? " " : "";
}

/* Infinity and not-a-number. */
static void put_word(struct lydian_sink *out, const struct directive *d, struct lydian_float x) {
    int upper = is_upper(d->conversion);
    const char *word = x.kind == LYDIAN_NAN ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf");
    put_field(out, d, sign_of(d, x.negative), 0, word, 3);
}

/* Rounds digits to `keep` of them, to nearest, ties to even. `keep` may be negative or more than
   there are. */
static void round_digits(struct lydian_decimal *x, long keep) {
    if (keep >= x->count) return;
    int up = 0;
    if (keep >= 0) {
        char next = x->digits[keep];
        int exact_half = next == '5' && keep + 1 == x->count;
        int odd = keep > 0 && (x->digits[keep - 1] & 1);
        up = next > '5' || (next == '5' && (!exact_half || odd));
    }
    x->count = keep > 0 ? (int)keep : 0;
    if (up) {
        while (x->count && x->digits[x->count - 1] == '9') x->count--;
        if (x->count) {
            x->digits[x->count - 1]++;
        } else {
            x->digits[0] = '1';
            x->count = 1;
            x->point++;
        }
    }
    while (x->count && x->digits[x->count - 1] == '0') x->count--;
}

/* Writes `count` digits of the number from position `from` on, counted from its first one; there
   are zeros before and behind what it has. */
static void put_digits(struct lydian_sink *out, const struct lydian_decimal *x, long from,
                       long count) {
    if (from < 0) {
        long zeros = -from < count ? -from : count;
        put_many(out, '0', zeros);
        from += zeros;
        count -= zeros;
    }
    if (count > 0 && from < x->count) {
        long ready = x->count - from < count ? x->count - from : count;
        lydian_put(out, x->digits + from, (size_t)ready);
        count -= ready;
    }
    put_many(out, '0', count);
}

/* Begins a field of `length` characters beside the sign: padding, sign, zeros. What is left is the
   padding on the right. */
static long begin_number(struct lydian_sink *out, const struct directive *d, const char *sign,
                         long length) {
    long padding = d->width - length - (long)strlen(sign);
    if (padding < 0) padding = 0;
    int zero = d->zero && !d->left;
    if (!zero && !d->left) put_many(out, ' ', padding);
    lydian_put(out, sign, strlen(sign));
    if (zero) put_many(out, '0', padding);
    return d->left ? padding : 0;
}

static void put_fixed(struct lydian_sink *out, const struct directive *d, const char *sign,
                      const struct lydian_decimal *x, long places) {
    long whole = x->count && x->point > 0 ? x->point : 1;
    int dot = places > 0 || d->alternate;
    long right = begin_number(out, d, sign, whole + dot + places);
    if (x->count && x->point > 0)
        put_digits(out, x, 0, x->point);
    else
        put_many(out, '0', 1);
    if (dot) lydian_put(out, ".", 1);
    put_digits(out, x, x->count ? x->point : 0, places);
    put_many(out, ' ', right);
}

static void put_scientific(struct lydian_sink *out, const struct directive *d, const char *sign,
                           const struct lydian_decimal *x, long places) {
    int exponent = x->count ? x->point - 1 : 0;
    char tail[8], *end = tail + sizeof tail, *at = end;
    unsigned size = exponent < 0 ? (unsigned)-exponent : (unsigned)exponent;
    for (int k = 0; k < 2 || size; k++, size /= 10) *--at = (char)('0' + size % 10);
    *--at = exponent < 0 ? '-' : '+';
    *--at = is_upper(d->conversion) ? 'E' : 'e';
    int dot = places > 0 || d->alternate;
    long right = begin_number(out, d, sign, 1 + dot + places + (end - at));
    put_digits(out, x, 0, 1);
    if (dot) lydian_put(out, ".", 1);
    put_digits(out, x, 1, places);
    lydian_put(out, at, (size_t)(end - at));
    put_many(out, ' ', right);
}

static void put_decimal(struct lydian_sink *out, const struct directive *d, struct lydian_float x,
                        char *digits, uint32_t *work) {
    struct lydian_decimal decimal = {digits, 0, 0};
    if (x.kind == LYDIAN_FINITE) lydian_to_decimal(&decimal, x.mantissa, x.exponent, work);
    const char *sign = sign_of(d, x.negative);
    long precision = d->precision < 0 ? 6 : d->precision;
    switch (d->conversion) {
    case 'f': case 'F':
        if (decimal.count) round_digits(&decimal, decimal.point + precision);
        put_fixed(out, d, sign, &decimal, precision);
        return;
    case 'e': case 'E':
        if (decimal.count) round_digits(&decimal, precision + 1);
        put_scientific(out, d, sign, &decimal, precision);
        return;
    }
    if (precision == 0) precision = 1;
    if (decimal.count) round_digits(&decimal, precision);
    long exponent = decimal.count ? decimal.point - 1 : 0;
    if (exponent < -4 || exponent >= precision) {
        long places = d->alternate ? precision - 1 : decimal.count ? decimal.count - 1 : 0;
        put_scientific(out, d, sign, &decimal, places);
    } else {
        long places = d->alternate ? precision - 1 - exponent
                      : decimal.count > decimal.point ? decimal.count - decimal.point
                                                      : 0;
        put_fixed(out, d, sign, &decimal, places);
    }
}

/* %a: of a double one digit is before the point, 1 or, for a subnormal number, 0; of a long double
   the first four bits are. */
static void put_hexadecimal(struct lydian_sink *out, const struct directive *d,
                            struct lydian_float x) {
    int upper = is_upper(d->conversion);
    int fraction_bits = x.extended ? 60 : 52;
    int exponent = 0;
    uint64_t mantissa = 0;
    if (x.kind == LYDIAN_FINITE) {
        mantissa = x.mantissa;
        exponent = x.exponent + fraction_bits;
        if (x.extended)
            for (; !(mantissa >> 63); mantissa <<= 1) exponent--;
    }
    int digits = fraction_bits / 4;
    unsigned first;
    if (d->precision >= 0 && d->precision < digits) {
        int cut = 4 * (digits - d->precision);
        uint64_t half = 1ull << (cut - 1), low = mantissa & ((half << 1) - 1);
        mantissa -= low;
        if (low > half || (low == half && (mantissa >> cut & 1))) {
            uint64_t before = mantissa;
            mantissa += half << 1;
            if (mantissa < before) {
                /* Only the 64 bits of a long double can overflow: 0x10.0 is written 0x1.0. */
                mantissa = 1ull << 60;
                exponent += 4;
            }
        }
        digits = d->precision;
    }
    first = (unsigned)(mantissa >> fraction_bits);
    const char *names = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    char text[20];
    int count = 0;
    for (int at = fraction_bits - 4; count < digits; at -= 4)
        text[count++] = names[mantissa >> at & 15];
    if (d->precision < 0)
        while (count && text[count - 1] == '0') count--;
    long places = d->precision < 0 ? count : d->precision;
    char tail[8], *end = tail + sizeof tail, *at = end;
    unsigned size = exponent < 0 ? (unsigned)-exponent : (unsigned)exponent;
    do {
        *--at = (char)('0' + size % 10);
        size /= 10;
    } while (size);
    *--at = exponent < 0 ? '-' : '+';
    *--at = upper ? 'P' : 'p';
    char prefix[5] = "";
    strcpy(prefix, sign_of(d, x.negative));
    strcat(prefix, upper ? "0X" : "0x");
    int dot = places > 0 || d->alternate;
    long right = begin_number(out, d, prefix, 1 + dot + places + (end - at));
    lydian_put(out, &names[first], 1);
    if (dot) lydian_put(out, ".", 1);
    lydian_put(out, text, (size_t)count);
    put_many(out, '0', places - count);
    lydian_put(out, at, (size_t)(end - at));
    put_many(out, ' ', right);
}

static void put_finite_long_double(struct lydian_sink *out, const struct directive *d,
                                   struct lydian_float x) {
    uint32_t *work = malloc(LYDIAN_LONG_DOUBLE_LIMBS * (sizeof *work + 9));
    if (!work) {
        out->failed = 1;
        return;
    }
    put_decimal(out, d, x, (char *)(work + LYDIAN_LONG_DOUBLE_LIMBS), work);
    free(work);
}

static void put_finite_double(struct lydian_sink *out, const struct directive *d,
                              struct lydian_float x) {
    char digits[9 * LYDIAN_DOUBLE_LIMBS];
    uint32_t work[LYDIAN_DOUBLE_LIMBS];
    put_decimal(out, d, x, digits, work);
}

static void put_float(struct lydian_sink *out, const struct directive *d, struct lydian_float x) {
    if (x.kind == LYDIAN_NAN || x.kind == LYDIAN_INFINITE)
        put_word(out, d, x);
    else if (d->conversion == 'a' || d->conversion == 'A')
        put_hexadecimal(out, d, x);
    else if (x.extended)
        put_finite_long_double(out, d, x);
    else
        put_finite_double(out, d, x);
}

static void put_string(struct lydian_sink *out, const struct directive *d, const char *text) {
    if (!text) text = d->precision < 0 || d->precision >= 6 ? "(null)" : "";
    size_t length = d->precision < 0 ? strlen(text) : strnlen(text, (size_t)d->precision);
    put_field(out, d, "", 0, text, length);
}

/* A wide string: in the C locale only the characters of ASCII have a byte. -1 for others. */
static int put_wide_string(struct lydian_sink *out, const struct directive *d,
                           const wchar_t *text) {
    if (!text) {
        put_string(out, d, NULL);
        return 0;
    }
    size_t length = 0;
    while ((d->precision < 0 || length < (size_t)d->precision) && text[length]) {
        if ((unsigned)text[length] > 127) {
            errno = EILSEQ;
            return -1;
        }
        length++;
    }
    long padding = d->width - (long)length;
    if (!d->left) put_many(out, ' ', padding);
    for (size_t i = 0; i < length; i++) {
        char byte = (char)text[i];
        lydian_put(out, &byte, 1);
    }
    if (d->left) put_many(out, ' ', padding);
    return 0;
}

static int put_wide_character(struct lydian_sink *out, const struct directive *d, uint64_t c) {
    if ((uint32_t)c > 127) {
        errno = EILSEQ;
        return -1;
    }
    char byte = (char)c;
    put_field(out, d, "", 0, &byte, 1);
    return 0;
}

static enum argument_type type_of(const struct directive *d) {
    switch (d->conversion) {
    case 'd': case 'i': case 'o': case 'u': case 'x': case 'X': case 'b': case 'B':
        return d->length > LONG_LENGTH   ? LONG_LONG_ARGUMENT
               : d->length == LONG_LENGTH ? LONG_ARGUMENT
                                          : INT_ARGUMENT;
    case 'c': case 'C': return INT_ARGUMENT;
    case 's': case 'S': case 'p': case 'n': return POINTER_ARGUMENT;
    case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
        return d->length == LONG_DOUBLE_LENGTH ? LONG_DOUBLE_ARGUMENT : DOUBLE_ARGUMENT;
    default: return NO_ARGUMENT;
    }
}

static void fetch(union argument *to, enum argument_type type, va_list *arguments) {
    switch (type) {
    case NO_ARGUMENT: break;
    case INT_ARGUMENT: to->integer = (uint64_t)(int64_t)va_arg(*arguments, int); break;
    case LONG_ARGUMENT: to->integer = (uint64_t)(int64_t)va_arg(*arguments, long); break;
    case LONG_LONG_ARGUMENT: to->integer = va_arg(*arguments, unsigned long long); break;
    case POINTER_ARGUMENT: to->pointer = va_arg(*arguments, void *); break;
    case DOUBLE_ARGUMENT: to->number = va_arg(*arguments, double); break;
    case LONG_DOUBLE_ARGUMENT: to->extended = lydian_next_long_double(arguments); break;
    }
}

static void store_count(const struct directive *d, size_t count, void *to) {
    switch (d->length) {
    case CHAR_LENGTH: *(signed char *)to = (signed char)count; break;
    case SHORT_LENGTH: *(short *)to = (short)count; break;
    case PLAIN: *(int *)to = (int)count; break;
    case LONG_LENGTH: *(long *)to = (long)count; break;
    default: *(long long *)to = (long long)count; break;
    }
}

/* Writes the argument. -1 for a character that has no byte. */
static int convert(struct lydian_sink *out, struct directive *d, union argument *argument) {
    uint64_t value = argument->integer;
    switch (d->conversion) {
    case 'd': case 'i': {
        int64_t number = (int64_t)value;
        if (d->length == CHAR_LENGTH) number = (signed char)value;
        if (d->length == SHORT_LENGTH) number = (short)value;
        if (d->length == PLAIN) number = (int)value;
        put_integer(out, d, number < 0 ? -(uint64_t)number : (uint64_t)number, number < 0);
        return 0;
    }
    case 'o': case 'u': case 'x': case 'X': case 'b': case 'B':
        if (d->length == CHAR_LENGTH) value = (unsigned char)value;
        if (d->length == SHORT_LENGTH) value = (unsigned short)value;
        if (d->length == PLAIN) value = (unsigned)value;
        if (d->length == LONG_LENGTH) value = (unsigned long)value;
        put_integer(out, d, value, 0);
        return 0;
    case 'p':
        if (!argument->pointer) {
            d->precision = -1;
            put_string(out, d, "(nil)");
        } else {
            put_integer(out, d, (uint64_t)(uintptr_t)argument->pointer, 0);
        }
        return 0;
    case 'c':
        if (d->length != LONG_LENGTH) {
            char byte = (char)value;
            put_field(out, d, "", 0, &byte, 1);
            return 0;
        }
        return put_wide_character(out, d, value);
    case 'C': return put_wide_character(out, d, value);
    case 's':
        if (d->length != LONG_LENGTH) {
            put_string(out, d, argument->pointer);
            return 0;
        }
        return put_wide_string(out, d, argument->pointer);
    case 'S': return put_wide_string(out, d, argument->pointer);
    case 'm': put_string(out, d, strerror(errno)); return 0;
    case 'n': store_count(d, out->count, argument->pointer); return 0;
    case '%': lydian_put(out, "%", 1); return 0;
    }
    if (d->length == LONG_DOUBLE_LENGTH)
        put_float(out, d, argument->extended);
    else
        put_float(out, d, lydian_take_apart(argument->number));
    return 0;
}

static int digits_at(const char **at) {
    int number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        number = number > 214748363 ? INT_MAX : 10 * number + (**at - '0');
    return number;
}

static void read_flags(const char **at, struct directive *d) {
    for (;; ++*at) {
        switch (**at) {
        case '-': d->left = 1; break;
        case '+': d->plus = 1; break;
        case ' ': d->space = 1; break;
        case '#': d->alternate = 1; break;
        case '0': d->zero = 1; break;
        /* Groups and other digits: the C locale has none. */
        case '\'': case 'I': break;
        default: return;
        }
    }
}

static void read_length(const char **at, struct directive *d) {
    for (;; ++*at) {
        switch (**at) {
        case 'h': d->length = d->length == SHORT_LENGTH ? CHAR_LENGTH : SHORT_LENGTH; break;
        case 'l':
            d->length = d->length == LONG_LENGTH ? LONG_LONG_LENGTH : LONG_LENGTH;
            break;
        case 'L': case 'q': d->length = LONG_DOUBLE_LENGTH; break;
        case 'j': d->length = LONG_LONG_LENGTH; break;
        case 'z': case 'Z': case 't': d->length = LONG_LENGTH; break;
        default: return;
        }
    }
}

enum { MOST_ARGUMENTS = 64 };

/* The arguments: in order, or by number. */
struct arguments {
    va_list *list;
    union argument *numbered;
    enum argument_type *types;
    /* While the types are found out, how many there are. */
    int count;
};

/* The number in "12$" at `at`, which is then moved over it; 0 where there is none. */
static int number_at(const char **at) {
    const char *end = *at;
    int number = digits_at(&end);
    if (*end != '$' || number < 1 || number > MOST_ARGUMENTS) return 0;
    *at = end + 1;
    return number;
}

/* A `*` or digits. While types are found out it only notes what is asked for. */
static int read_amount(const char **at, struct arguments *from, int finding) {
    if (**at != '*') return digits_at(at);
    ++*at;
    int number = number_at(at);
    if (!number) return finding ? 0 : va_arg(*from->list, int);
    if (!finding) return (int)from->numbered[number - 1].integer;
    from->types[number - 1] = INT_ARGUMENT;
    if (number > from->count) from->count = number;
    return 0;
}

/* Reads what follows a `%`; gives the number of the argument or 0. */
static int read_directive(const char **at, struct directive *d, struct arguments *from,
                          int finding) {
    struct directive nothing = {0};
    *d = nothing;
    d->precision = -1;
    int number = number_at(at);
    read_flags(at, d);
    d->width = read_amount(at, from, finding);
    if (d->width < 0) {
        d->left = 1;
        d->width = -d->width;
    }
    if (**at == '.') {
        ++*at;
        d->precision = read_amount(at, from, finding);
        if (d->precision < 0) d->precision = -1;
    }
    read_length(at, d);
    d->conversion = **at;
    if (d->conversion) ++*at;
    return number;
}

/* Finds out the types of numbered arguments and fetches them. */
static void fetch_numbered(const char *format, struct arguments *from) {
    for (const char *at = format; (at = strchr(at, '%')) != NULL;) {
        struct directive d;
        at++;
        int number = read_directive(&at, &d, from, 1);
        if (!number) continue;
        from->types[number - 1] = type_of(&d);
        if (number > from->count) from->count = number;
    }
    for (int i = 0; i < from->count; i++) {
        enum argument_type type = from->types[i];
        fetch(&from->numbered[i], type == NO_ARGUMENT ? INT_ARGUMENT : type, from->list);
    }
}

static int format_with(struct lydian_sink *out, const char *format, struct arguments *from) {
    for (const char *at = format;;) {
        size_t plain = strcspn(at, "%");
        lydian_put(out, at, plain);
        at += plain;
        if (!*at) break;
        const char *start = at++;
        struct directive d;
        union argument argument;
        argument.integer = 0;
        int number = read_directive(&at, &d, from, 0);
        if (!d.conversion) return -1;
        enum argument_type type = type_of(&d);
        if (type == NO_ARGUMENT && d.conversion != '%' && d.conversion != 'm') {
            lydian_put(out, start, (size_t)(at - start));
            continue;
        }
        if (number)
            argument = from->numbered[number - 1];
        else
            fetch(&argument, type, from->list);
        if (convert(out, &d, &argument)) return -1;
        if (out->count > INT_MAX) {
            errno = EOVERFLOW;
            return -1;
        }
    }
    return out->failed ? -1 : (int)out->count;
}

static int format_numbered(struct lydian_sink *out, const char *format, struct arguments *from) {
    union argument numbered[MOST_ARGUMENTS];
    enum argument_type types[MOST_ARGUMENTS] = {NO_ARGUMENT};
    from->numbered = numbered;
    from->types = types;
    fetch_numbered(format, from);
    return format_with(out, format, from);
}

int lydian_format(struct lydian_sink *out, const char *format, va_list arguments) {
    va_list own;
    va_copy(own, arguments);
    struct arguments from = {&own, NULL, NULL, 0};
    int result = strchr(format, '$') ? format_numbered(out, format, &from)
                                     : format_with(out, format, &from);
    va_end(own);
    return result;
}
