/* Layouts, bit-fields, generic selection, literals of all kinds, definitions without a prototype. */
#include "check.h"
#include <stddef.h>
#include <stdbool.h>
#include <uchar.h>
#include <wchar.h>
struct __attribute__((packed)) pk { char a; int b; short c; long d; };
struct al { char a; int b __attribute__((aligned(16))); _Alignas(8) char c; } __attribute__((aligned(32)));
#pragma pack(push,2)
struct p2 { char a; int b; long long c; };
#pragma pack(pop)
struct nested { struct { union { struct { int a, b; }; long l; }; int k; }; int z; };
struct bits { unsigned a:3; int b:5; _Bool c:1; unsigned long d:40; long e:64; unsigned :0;
    signed char f:7; unsigned g:32; unsigned long long h:33; enum {X,Y,Z} en:2; };
struct __attribute__((packed)) pbits { unsigned a:7; unsigned long b:60; int c:3; char d; _Bool e:1; };
sum_t check_layout(void)
{ sum_t h=1; struct pk p={1,2,3,4}; h=mix(h,sizeof p); h=mix(h,p.b+p.d); p.d=-7; h=mix(h,p.d+p.c);
    h=mix(h,offsetof(struct pk,d)); struct pk *q=&p; q->b++; h=mix(h,q->b); int *ip=&q->b; *ip+=4;
    h=mix(h,p.b);
h=mix(h,sizeof(struct al)+_Alignof(struct al)+offsetof(struct al,b)+__alignof__(int));
    h=mix(h,sizeof(struct p2)+offsetof(struct p2,c)); struct al a; h=mix(h,((unsigned long)&a)%32);
    int __attribute__((aligned(64))) big; h=mix(h,(unsigned long)&big%64);
 struct nested n={.l=5,.k=3,.z=1}; n.b=2; h=mix(h,n.a+n.b+n.k+n.z); h=mix(h,n.l); return h; }
sum_t check_bits(void)
{ sum_t h=1; struct bits b={7,-3,1,0xffffffffffull,-5,0,~0u,0x1ffffffffull,Z}; b.a+=3; b.b-=14;
    b.c=4; b.d++; b.e*=3; b.f=100; b.g<<=1; b.h^=1; b.en=Y; h=mix(h,b.a); h=mix(h,b.b); h=mix(h,b.c);
    h=mix(h,b.d); h=mix(h,b.e); h=mix(h,b.f); h=mix(h,b.g); h=mix(h,b.h); h=mix(h,b.en);
    h=mix(h,sizeof b); h=mix(h,b.a--); h=mix(h,++b.f);
struct pbits p={5,1ul<<59,-1,9,1}; p.b+=7; p.c--; p.e=!p.e; h=mix(h,p.a); h=mix(h,p.b);
    h=mix(h,p.c); h=mix(h,p.d); h=mix(h,p.e); h=mix(h,sizeof p); struct pbits q=p; h=mix(h,q.b>>3);
    h=mix(h,(p.a=200)); h=mix(h,b.d<<20); h=mix(h,p.a<<30); h=mix(h,-b.a<0); return h; }
#define kind(x) _Generic((x), int:1, unsigned:2, long:3, char*:4, const char*:5, double:6, struct pk:7, default:8)
_Static_assert(sizeof(int)==4,"x"); _Static_assert(1);
sum_t check_generic(void)
{ sum_t h=1; struct pk p={0}; char c=0; h=mix(h,kind(1)); h=mix(h,kind(1u)); h=mix(h,kind("s"));
    h=mix(h,kind((const char*)0)); h=mix(h,kind(1.0)); h=mix(h,kind(p)); h=mix(h,kind(c));
    h=mix(h,kind(c+1)); _Static_assert(1,"in"); h=mix(h,_Generic(1.0f,float:({int z=3;z;}),default:0));
    return h; }
sum_t check_bool(void)
{ sum_t h=1; _Bool b=5; b++; h=mix(h,b); b--; h=mix(h,b); b=0.25; h=mix(h,b); b=(void*)&h;
    h=mix(h,b+b); b^=1; h=mix(h,b); bool c=~0; h=mix(h,c); c+=5; h=mix(h,c); c=c-1; h=mix(h,c);
    h=mix(h,(bool)256); h=mix(h,!b==true); return h; }
_Thread_local int tls=4; static __thread long tls2; 
static int *tlsp(void){ static _Thread_local int x=9; x++; return &x; }
sum_t check_tls(void)
{ sum_t h=1; tls++; tls2-=3; h=mix(h,tls+tls2); h=mix(h,*tlsp()+*tlsp()); return h; }
sum_t check_strings(void)
{ sum_t h=1; const char *a="x\x41\101\n\0z" "cat"; h=mix(h,sizeof("x\x41\101\n\0z" "cat"));
    h=mix(h,a[6]); const wchar_t *w=L"wide\u00e9"; h=mix(h,w[4]); h=mix(h,sizeof(L"ab"));
    const char16_t *u=u"\U0001F600"; h=mix(h,u[0]*3+u[1]); const char32_t *U=U"\U0001F600";
    h=mix(h,U[0]); const char *u8=u8"\u00e9"; h=mix(h,u8[0]+u8[1]); h=mix(h,sizeof(u8"\u00e9"));
    h=mix(h,'ab'+L'\u20ac'+u'x'+U'\U0001F600'); wchar_t wa[]=L"xyz"; h=mix(h,wa[2]+sizeof wa);
    char16_t ca[]=u"hey"; h=mix(h,ca[1]); return h; }
int kr(a,b,c) char a; float b; short *c; { return a+(int)(b*2)+*c; }
int kr0() { return 3; }
sum_t check_kr(void)
{ sum_t h=1; short s=5; h=mix(h,kr(300,1.5,&s)); h=mix(h,kr0()); int (*f)()=kr0; h=mix(h,f());
    int (*g)()=(int(*)())kr; return h; }
