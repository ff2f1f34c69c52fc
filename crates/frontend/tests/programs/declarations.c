/* Jumps into scopes, inline functions, aliases, cleanup, enumerations, wide integers. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
sum_t check_duff(void)
{ sum_t h=1; char s[20]="0123456789abcdefghi",d[20]={0}; int n=19; char *to=d,*from=s;
    int c=(n+7)/8; switch(n%8){ case 0: do{ *to++=*from++; case 7: *to++=*from++; case 6: *to++=*from++;
    case 5: *to++=*from++; case 4: *to++=*from++; case 3: *to++=*from++; case 2: *to++=*from++;
    case 1: *to++=*from++; }while(--c>0); } for(int i=0;i<19;i++) h=mix(h,d[i]);
for(int i=0;i<5;i++) switch(i){ int v; case 1: v=3; h=mix(h,v); if(0){ case 2: h=mix(h,22); } break;
    { case 3: for(int k=0;k<2;k++){ case 4: h=mix(h,44); } } default: ; } return h; }
sum_t check_goto_in(void)
{ sum_t h=1; int n=0; goto in; { int a[3]; int x; in: x=5; a[1]=x; h=mix(h,a[1]+n); n++;
    if(n<3) goto in; } goto l2; for(int i=0;i<3;i++){ l2: if (n==3) { i=1; n=4; } h=mix(h,i);
    } if(n==4) goto l3; while(n){ n--; l3: h=mix(h,n); } return h; }
inline int inl(int x){ return x*3; } extern inline int einl(int x){ return x*5;
    } static inline int sinl(int x){ return x*7; } extern int inl(int);
    __attribute__((gnu_inline)) extern inline int ginl(int x){ return x*11;
    } int ginl(int x){ return x*11;
    } static __attribute__((always_inline)) inline int ai(int x){return x+1; }
sum_t check_inline(void)
{ sum_t h=1; h=mix(h,inl(2)); h=mix(h,einl(2)); h=mix(h,sinl(2)); h=mix(h,ginl(2)); h=mix(h,ai(2));
    int (*p)(int)=inl; h=mix(h,p(4)); return h; }
static int target(int x){ return x+100; } int ali(int) __attribute__((alias("target")));
    int weakdef(int x) __attribute__((weak)); int weakdef(int x){ return x-1;
    } extern int missing(int) __attribute__((weak)); int gv=5;
    extern int gva __attribute__((alias("gv"))); static int wt(void){return 6;
    } static int wr(void) __attribute__((weakref("wt")));
sum_t check_alias(void)
{ sum_t h=1; h=mix(h,ali(3)); h=mix(h,weakdef(3)); gv++; h=mix(h,gva); gva=9; h=mix(h,gv);
    h=mix(h,wr()); int (*p)(int)=ali; h=mix(h,p(1)); return h; }
static sum_t trace; static void clean(int *p){ trace=mix(trace,*p);
    } static void cleanp(char **p){ trace=mix(trace,**p); free(*p); }
#define CL __attribute__((cleanup(clean)))
static int early2(int n){ CL int a=n; if(n==1) return 7; { CL int b=n*10; if(n==2) goto out;
    for(int i=0;i<3;i++){ CL int c=i+n*100; if(i==1&&n==3) continue; if(i==2) break; } } a++;
    out: return a++; }
sum_t check_cleanup(void)
{ trace=1; sum_t h=1; for(int i=0;i<5;i++) h=mix(h,early2(i));
    { __attribute__((cleanup(cleanp))) char *s=strdup("q"); h=mix(h,s[0]);
    } int r=({ CL int z=77; z+1; }); h=mix(h,r); return mix(h,trace); }
static int ctor_ran; __attribute__((constructor)) static void ctor(void){ ctor_ran=1;
    } __attribute__((destructor)) static void dtor(void){ }
sum_t check_ctor_called(void)
{ sum_t h=1; dtor(); return mix(h,2); }
sum_t check_elvis(void)
{ sum_t h=1; int a=0,b=5; int *p=0,*q=&b; h=mix(h,a?:b); h=mix(h,b++?:9); h=mix(h,b);
    h=mix(h,*(p?:q)); double d=0; h=mix_double(h,d?:2.5); h=mix(h,(a?:0)?:3); if((p?:q)==q) h=mix(h,8);
    h=mix(h,a++?:a); return h; }
typedef int fn(int); static fn *pick(int n){ return n?target:weakdef;
    } static int (*arrfn[2])(int)={target,weakdef};
    static int apply(fn f,int x){ return f(x)+(*f)(x)+(**f)(x); }
sum_t check_fnptr(void)
{ sum_t h=1; h=mix(h,pick(1)(5)); h=mix(h,(*pick(0))(5)); h=mix(h,arrfn[1](3));
    h=mix(h,apply(target,2)); h=mix(h,(&target)==target); h=mix(h,sizeof(arrfn)); return h; }
enum e1 { A=-1, B, C=5, D }; enum big { BIG=0x100000000LL };
    enum __attribute__((packed)) tiny { T1, T2=200 };
sum_t check_enum(void)
{ sum_t h=1; enum e1 e=A; e++; h=mix(h,e+D); h=mix(h,sizeof(enum big)+sizeof(enum tiny));
    enum tiny t=T2; t+=100; h=mix(h,t); h=mix(h,BIG>>30); h=mix(h,e<C); return h; }
sum_t check_int128(void)
{ sum_t h=1; __int128 a=-5; unsigned __int128 b=~(unsigned __int128)0; a*=1000000007; a<<=40;
    h=mix(h,(long)(a>>64)); h=mix(h,(long)a); b/=12345; h=mix(h,(long)(b>>64)); h=mix(h,(long)(b%1000));
    h=mix(h,a<0); h=mix_double(h,(double)a); a=(__int128)1e20; h=mix(h,(long)(a>>32));
    h=mix(h,(int)(a==b)); return h; }
sum_t check_comma_chain(void)
{ sum_t h=1; int i,j; for(i=0,j=10;i<j;i++,j--) h=mix(h,(i++,j--,i*j)); int a[3]={1,2,3},*p=a;
    h=mix(h,*p++ + *p++); p=a; h=mix(h,*++p+2); h=mix(h,2[a]); h=mix(h,(&a)[0][1]); h=mix(h,-1<1u);
    h=mix(h,(char)200<0); h=mix(h,sizeof(char)+sizeof 'a'+sizeof(i=5)); h=mix(h,i); return h; }
struct S5 { char c[5]; }; struct S20 { int v[5]; };
    static struct S5 rs5(int x){ struct S5 s={{x,x+1,x+2}}; return s;
    } static struct S20 rs20(struct S5 a, struct S20 b, int k){ b.v[k]=a.c[1]; return b; }
sum_t check_struct_values(void)
{ sum_t h=1; struct S20 z={{1,2,3,4,5}}; h=mix(h,rs20(rs5(7),z,2).v[2]); h=mix(h,z.v[2]);
    h=mix(h,rs5(3).c[2]); struct S20 y=z.v[0]?rs20(rs5(1),z,1):z; h=mix(h,y.v[1]);
    struct S5 arr[2]={rs5(4),{{9}}}; h=mix(h,arr[0].c[0]+arr[1].c[0]); (z=y).v[0];
    h=mix(h,(z=rs20(rs5(2),y,0)).v[0]); return h; }
