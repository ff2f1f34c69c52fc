/* Intrinsics of SSE2 to SSE4.2, as code that is fast by hand uses them. */
#include <immintrin.h>
#include "check.h"

#define SSE4 __attribute__((target("sse4.2")))

static unsigned long state = 88172645463325252ul;

static unsigned long any(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Bytes of every kind: borders among them. */
static __m128i some(void)
{
    static const unsigned char border[] = { 0, 1, 127, 128, 129, 254, 255, 64 };
    union { unsigned char bytes[16]; __m128i vector; } u;
    int kind = (int)(any() % 3);
    for (int i = 0; i < 16; i++)
        u.bytes[i] = kind ? (unsigned char)any() : border[any() % 8];
    return u.vector;
}

static sum_t add(sum_t sum, __m128i v)
{
    union { __m128i vector; unsigned long words[2]; } u;
    u.vector = v;
    return mix(mix(sum, u.words[0]), u.words[1]);
}

sum_t check_sse2(void)
{
    sum_t sum = 1;
    for (int i = 0; i < 40; i++) {
        __m128i a = some(), b = some();
        sum = add(sum, _mm_packs_epi16(a, b));
        sum = add(sum, _mm_packs_epi32(a, b));
        sum = add(sum, _mm_packus_epi16(a, b));
        sum = add(sum, _mm_madd_epi16(a, b));
        sum = add(sum, _mm_mulhi_epi16(a, b));
        sum = add(sum, _mm_mulhi_epu16(a, b));
        sum = add(sum, _mm_mul_epu32(a, b));
        sum = add(sum, _mm_sad_epu8(a, b));
        sum = add(sum, _mm_avg_epu8(a, b));
        sum = add(sum, _mm_avg_epu16(a, b));
        sum = add(sum, _mm_adds_epi16(a, b));
        sum = add(sum, _mm_adds_epu8(a, b));
        sum = add(sum, _mm_subs_epi8(a, b));
        sum = add(sum, _mm_subs_epu16(a, b));
        sum = add(sum, _mm_unpackhi_epi8(a, b));
        sum = add(sum, _mm_cmpgt_epi8(a, b));
        sum = mix(sum, (sum_t)_mm_extract_epi16(a, 5));
        sum = add(sum, _mm_insert_epi16(a, (int)any(), 3));
    }
    _mm_pause();
    _mm_lfence();
    return sum;
}

SSE4 static sum_t rounds_of_ssse3(sum_t sum)
{
    for (int i = 0; i < 40; i++) {
        __m128i a = some(), b = some(), c = some();
        sum = add(sum, _mm_shuffle_epi8(a, b));
        sum = add(sum, _mm_alignr_epi8(a, b, 5));
        sum = add(sum, _mm_alignr_epi8(a, b, 19));
        sum = add(sum, _mm_alignr_epi8(a, b, 40));
        sum = add(sum, _mm_maddubs_epi16(a, b));
        sum = add(sum, _mm_hadd_epi16(a, b));
        sum = add(sum, _mm_hsub_epi32(a, b));
        sum = add(sum, _mm_sign_epi8(a, b));
        sum = add(sum, _mm_sign_epi32(a, c));
        sum = add(sum, _mm_abs_epi8(a));
        sum = add(sum, _mm_abs_epi32(a));
        sum = add(sum, _mm_packus_epi32(a, b));
        sum = add(sum, _mm_blendv_epi8(a, b, c));
        sum = add(sum, _mm_mul_epi32(a, b));
        sum = add(sum, _mm_max_epi8(a, b));
        sum = add(sum, _mm_insert_epi32(a, (int)any(), 2));
        sum = mix(sum, (sum_t)_mm_extract_epi32(a, 1) + (sum_t)_mm_extract_epi8(b, 9));
        sum = mix(sum, (sum_t)_mm_extract_epi64(c, 1));
        b = _mm_andnot_si128(a, b);
        sum = mix(sum, (sum_t)(_mm_testz_si128(a, b) + 2 * _mm_testc_si128(a, c)));
        sum = mix(sum, (sum_t)_mm_testc_si128(a, _mm_and_si128(a, c)));
    }
    return sum;
}

sum_t check_ssse3_and_sse4(void) { return rounds_of_ssse3(2); }

SSE4 static sum_t checksums(sum_t sum)
{
    unsigned crc = ~0u;
    for (int i = 0; i < 30; i++) {
        crc = _mm_crc32_u8(crc, (unsigned char)any());
        crc = _mm_crc32_u16(crc, (unsigned short)any());
        crc = _mm_crc32_u32(crc, (unsigned)any());
        crc = (unsigned)_mm_crc32_u64(crc, any());
        sum = mix(sum, crc);
    }
    return sum;
}

sum_t check_checksums(void) { return checksums(3); }
