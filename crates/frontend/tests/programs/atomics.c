/* Atomic operations, old and new, while no other thread runs. */
#include "check.h"
#include <stdatomic.h>
#include <stdbool.h>
struct pair { _Alignas(8) int a; int b; };
struct big { long a,b,c; };
static int v; static long lv; static unsigned char cv; static void *pv; static struct pair sp;
    static _Atomic int ai = 3; static _Atomic struct pair ap; static _Atomic(long) al;
    static atomic_flag fl = ATOMIC_FLAG_INIT; static bool bv;
sum_t check_sync(void)
{ sum_t h=1;
h=mix(h,__sync_fetch_and_add(&v,5)); h=mix(h,__sync_add_and_fetch(&v,5));
    h=mix(h,__sync_fetch_and_sub(&lv,7)); h=mix(h,__sync_or_and_fetch(&cv,0x81));
    h=mix(h,__sync_fetch_and_and(&cv,0xf0)); h=mix(h,__sync_xor_and_fetch(&v,0xff));
    h=mix(h,__sync_fetch_and_nand(&v,0xff)); h=mix(h,v);
h=mix(h,__sync_bool_compare_and_swap(&v,v,9)); h=mix(h,__sync_val_compare_and_swap(&v,9,10));
    h=mix(h,v); h=mix(h,__sync_lock_test_and_set(&v,4)); __sync_lock_release(&v); h=mix(h,v);
    __sync_synchronize();
h=mix(h,__sync_bool_compare_and_swap(&pv,0,&v)); h=mix(h,pv==&v);
    h=mix(h,__sync_fetch_and_max(&v,3)); h=mix(h,__sync_fetch_and_umin((unsigned*)&v,2)); h=mix(h,v);
    return h; }
sum_t check_atomic(void)
{ sum_t h=1; int e=0, d=5, o; struct pair p={1,2}, q, r={3,4}; struct big b1={1,2,3}, b2;
__atomic_store_n(&v,7,__ATOMIC_SEQ_CST); h=mix(h,__atomic_load_n(&v,__ATOMIC_ACQUIRE));
    __atomic_load(&v,&o,0); h=mix(h,o); __atomic_store(&v,&d,0); h=mix(h,v);
 h=mix(h,__atomic_exchange_n(&v,8,0)); __atomic_exchange(&v,&d,&o,0); h=mix(h,o); h=mix(h,v);
e=5; h=mix(h,__atomic_compare_exchange_n(&v,&e,6,0,0,0)); h=mix(h,v); e=1;
    h=mix(h,__atomic_compare_exchange_n(&v,&e,6,0,0,0)); h=mix(h,e);
    h=mix(h,__atomic_compare_exchange(&v,&e,&d,0,0,0)); h=mix(h,v);
h=mix(h,__atomic_add_fetch(&v,3,0)); h=mix(h,__atomic_fetch_sub(&v,1,0));
    h=mix(h,__atomic_fetch_nand(&v,6,0)); h=mix(h,__atomic_or_fetch(&v,64,0));
    h=mix(h,(lv=6,__atomic_fetch_xor(&lv,3,0))); h=mix(h,__atomic_fetch_max(&v,100,0));
    h=mix(h,__atomic_min_fetch(&v,50,0)); h=mix(h,v);
h=mix(h,__atomic_test_and_set(&bv,0)); h=mix(h,__atomic_test_and_set(&bv,0)); __atomic_clear(&bv,0);
    h=mix(h,bv);
__atomic_store(&sp,&p,0); __atomic_load(&sp,&q,0); h=mix(h,q.a*10+q.b);
    __atomic_exchange(&sp,&r,&q,0); h=mix(h,q.b+sp.a);
h=mix(h,__atomic_always_lock_free(4,0)); h=mix(h,__atomic_is_lock_free(4,&v));
    __atomic_thread_fence(5); __atomic_signal_fence(5);
 return h; }
sum_t check_c11(void)
{ sum_t h=1; int e; struct pair p={5,6}, q;
ai += 4; ai++; --ai; ai |= 8; ai <<= 1; h=mix(h,ai); h=mix(h,atomic_load(&ai));
    atomic_store(&ai,11); h=mix(h,atomic_exchange(&ai,12)); e=12;
    h=mix(h,atomic_compare_exchange_strong(&ai,&e,13));
    h=mix(h,atomic_compare_exchange_weak(&ai,&e,14)); h=mix(h,e);
h=mix(h,atomic_fetch_add(&ai,3)); h=mix(h,atomic_fetch_sub(&al,3)); h=mix(h,atomic_fetch_or(&ai,1));
    h=mix(h,atomic_fetch_and(&ai,0xf)); h=mix(h,atomic_fetch_xor(&ai,5)); h=mix(h,ai);
    atomic_init(&ai,2); h=mix(h,ai);
 ap = p; q = ap; h=mix(h,q.a*7+q.b); atomic_store(&ap,p); q=atomic_load(&ap); h=mix(h,q.b);
h=mix(h,atomic_flag_test_and_set(&fl)); h=mix(h,atomic_flag_test_and_set(&fl));
    atomic_flag_clear(&fl); h=mix(h,atomic_flag_test_and_set(&fl));
    atomic_thread_fence(memory_order_seq_cst); h=mix(h,atomic_is_lock_free(&ai));
_Atomic int local = 4; local *= 3; h=mix(h,local); _Atomic _Bool ab = 0; ab |= 1; h=mix(h,ab);
    _Atomic double ad=1.5; ad+=2; h=mix_double(h,ad); return h; }
