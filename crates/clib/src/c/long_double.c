/* What deals with long double, apart from the rest: the 80 bits of the x87. */
#include "internal.h"

struct lydian_float lydian_take_long_double_apart(long double x) {
    uint64_t mantissa;
    uint16_t top;
    memcpy(&mantissa, &x, sizeof mantissa);
    memcpy(&top, (char *)&x + 8, sizeof top);
    struct lydian_float parts = {LYDIAN_FINITE, top >> 15, 1, mantissa, 0};
    int exponent = top & 32767;
    if (exponent == 32767)
        parts.kind = mantissa << 1 ? LYDIAN_NAN : LYDIAN_INFINITE;
    else if (!mantissa)
        parts.kind = LYDIAN_ZERO;
    parts.exponent = (exponent ? exponent : 1) - 16383 - 63;
    return parts;
}

struct lydian_float lydian_next_long_double(va_list *arguments) {
    return lydian_take_long_double_apart(va_arg(*arguments, long double));
}

long double lydian_assemble_long_double(struct lydian_float parts) {
    uint64_t mantissa = 0;
    uint16_t top = 0;
    switch (parts.kind) {
    case LYDIAN_ZERO: break;
    case LYDIAN_INFINITE: mantissa = 1ull << 63; top = 32767; break;
    case LYDIAN_NAN: mantissa = 3ull << 62; top = 32767; break;
    case LYDIAN_FINITE:
        mantissa = parts.mantissa;
        if (mantissa >> 63) top = (uint16_t)(parts.exponent + 16383 + 63);
        break;
    }
    top |= (uint16_t)(parts.negative << 15);
    long double result = 0;
    memcpy(&result, &mantissa, sizeof mantissa);
    memcpy((char *)&result + 8, &top, sizeof top);
    return result;
}

long double strtold(const char *text, char **end) {
    struct lydian_source in = {text, NULL, 0, SIZE_MAX, 0};
    int range_error = 0;
    size_t accepted = 0;
    struct lydian_float x =
        lydian_read_float(&in, &lydian_long_double_format, &range_error, &accepted);
    if (range_error > 0) errno = ERANGE;
    if (end) *end = (char *)text + accepted;
    return lydian_assemble_long_double(x);
}

void lydian_store_long_double(void *to, struct lydian_float parts) {
    *(long double *)to = lydian_assemble_long_double(parts);
}
