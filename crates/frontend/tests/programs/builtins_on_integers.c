/* Builtin functions on bits, and checked arithmetic. */
#include "check.h"
#include <stddef.h>
#include <string.h>
#include <math.h>
#include <stdlib.h>
sum_t check_bits(void)
{
  sum_t h=1; unsigned u=0x00f0a500u; unsigned long l=0x00f0a500deadul;
  volatile unsigned z=0;
  h=mix(h,__builtin_clz(u)); h=mix(h,__builtin_clzl(l)); h=mix(h,__builtin_clzll(l));
h=mix(h,__builtin_ctz(u)); h=mix(h,__builtin_ctzl(l)); h=mix(h,__builtin_popcount(u));
    h=mix(h,__builtin_popcountll(l));
h=mix(h,__builtin_parity(u)); h=mix(h,__builtin_parityl(l)); h=mix(h,__builtin_ffs(u));
    h=mix(h,__builtin_ffs(z)); h=mix(h,__builtin_ffsll(l));
  h=mix(h,__builtin_clrsb(-7)); h=mix(h,__builtin_clrsbl(123));
  h=mix(h,__builtin_bswap16(0x1234)); h=mix(h,__builtin_bswap32(u)); h=mix(h,__builtin_bswap64(l));
h=mix(h,__builtin_rotateleft8(0x81,3)); h=mix(h,__builtin_rotateleft32(u,z));
    h=mix(h,__builtin_rotateright64(l,13)); h=mix(h,__builtin_rotateright16(0x1234,5));
h=mix(h,__builtin_bitreverse8(0x13)); h=mix(h,__builtin_bitreverse16(0x1357));
    h=mix(h,__builtin_bitreverse32(u)); h=mix(h,__builtin_bitreverse64(l));
  h=mix(h,__builtin_clzg(u)); h=mix(h,__builtin_ctzg(z,99)); h=mix(h,__builtin_popcountg(l));
  h=mix(h,__builtin_clzs(0x0100)); h=mix(h,__builtin_ctzs(0x0100));
  return h; }
sum_t check_overflow(void)
{
  sum_t h=1; int r; unsigned ur; long lr; unsigned char c; __int128 w;
  h=mix(h,__builtin_add_overflow(2147483647,1,&r)); h=mix(h,r);
  h=mix(h,__builtin_sub_overflow(1u,2u,&ur)); h=mix(h,ur);
  h=mix(h,__builtin_mul_overflow(1L<<40,1L<<30,&lr)); h=mix(h,lr);
  h=mix(h,__builtin_add_overflow(200,100,&c)); h=mix(h,c);
  h=mix(h,__builtin_saddl_overflow(1,2,&lr)); h=mix(h,__builtin_umul_overflow(5,6,&ur)); h=mix(h,ur);
  h=mix(h,__builtin_add_overflow((__int128)1<<126,(__int128)1<<126,&w)); h=mix(h,(unsigned long)(w>>64));
 
  return h; }
