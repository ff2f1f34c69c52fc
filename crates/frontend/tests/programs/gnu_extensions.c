/* GNU's extensions: statement expressions, case ranges, flexible and empty objects, initialisers. */
#include "check.h"
#include <string.h>
#include <stddef.h>
/* statement expressions, typeof, case ranges, zero-length and flexible arrays */
struct zl { int n; char tail[0]; };
struct fl { int n; short v[]; };
struct own { char k; struct { int a; short c[2]; } w[3]; };
static struct fl gfl = { 3, { 1, 2, 3 } };
struct empty {};
struct has_empty { int a; struct empty e; int b; };
sum_t check_stmt_expr(void)
{ sum_t h=1; int a=3,b=4;
 h=mix(h,({ int m=a>b?a:b; m; })); h=mix(h,({ typeof(a) _a=a; __typeof__(b) _b=b; _a<_b?_a:_b; }));
int r=({ struct {int x,y;} p={1,2}; p.x+p.y; }); h=mix(h,r);
    for(int i=0;i<3;i++) h=mix(h,({ if(i==1) continue; i*2; }));
 h=mix(h,({ goto out; 5; })); out: h=mix(h,9); ({ ; }); ({ h=mix(h,2); (void)0; });
 struct zl z = ({ struct zl q={7}; q; }); h=mix(h,z.n); h=mix(h,({int k=1; k+=2; k;}) && ({0;})); return h; }
sum_t check_case_ranges(void)
{ sum_t h=1; for(int i=-5;i<30;i++) switch(i){ case -3 ... -1: h=mix(h,1); break;
    case 0 ... 9: h=mix(h,2); case 12: h=mix(h,3); break; case 20 ... 25: h=mix(h,4); break;
    default: h=mix(h,5); }
for (unsigned char c=250;c!=3;c++) switch(c){ case 252 ... 255: h=mix(h,6); break;
    case 'a' ... 'z': break; } return h; }
sum_t check_arrays(void)
{ sum_t h=1; char buf[64] __attribute__((aligned(8))); struct zl *z=(struct zl*)buf; z->n=5;
    z->tail[3]=9; h=mix(h,sizeof(*z)); h=mix(h,buf[7]);
struct fl *f=(struct fl*)buf; f->n=2; f->v[1]=77; h=mix(h,sizeof *f);
    for (int i=-1;i<3;i++) h=mix(h,offsetof(struct fl,v[i])+offsetof(struct own,w[i*1LL].c[1]));
    h=mix(h,offsetof(struct { char c; double d; },d)+offsetof(struct { char c; short s; struct fl *p; },p));
    h=mix(h,offsetof(struct fl,v)); h=mix(h,f->v[1]); h=mix(h,gfl.v[2]+gfl.n);
    static struct fl s={1,{9,8}}; h=mix(h,s.v[1]);
struct has_empty he={1,{},2}; h=mix(h,sizeof he+sizeof(struct empty)); h=mix(h,he.b);
    struct empty e1={},e2; e2=e1; h=mix(h,sizeof(e2)); return h; }
struct pt {int x,y; }; struct line { struct pt a,b; int w[3]; union { int i; float f; };
    struct { char c1; char c2; } n; };
sum_t check_init(void)
{ sum_t h=1; struct line l={ .b={.y=4}, .a.x=1, .w={[1]=5,6}, .f=1.5f, .n={'a','b'} };
    h=mix(h,l.a.x+l.b.y*10+l.w[2]*100+l.i+l.n.c2);
int arr[]={[3]=1,[0]=2,5,[7 ... 9]=4}; h=mix(h,sizeof arr);
    for(unsigned i=0;i<sizeof arr/sizeof*arr;i++) h=mix(h,arr[i]);
struct pt pts[]={ [1]={1,2}, {3,4}, [0].y=6 }; h=mix(h,pts[0].y+pts[2].x); int m[2][3]={1,2,3,4};
    h=mix(h,m[1][0]); char s[]="abc", t[2]="xy", u[5]={"hi"}; h=mix(h,sizeof s+t[1]+u[4]);
struct line l2=(struct line){ .w[0]=3 }, l3={ .a=(struct pt){8,9} }; h=mix(h,l2.w[0]+l3.a.y);
    h=mix(h,((int[]){1,2,3})[1]); struct pt *pp=&(struct pt){4,5}; pp->x++; h=mix(h,pp->x);
    struct line l4={ 1,2,3,4,{5,6},{7} }; h=mix(h,l4.i); union {char c[4]; int i; } un={.i=0x01020304};
    h=mix(h,un.c[0]);
 return h; }

/* What is known while compiling. */

static int somewhere;
enum flat { LEFT, RIGHT };
enum round { INNER, OUTER };
typedef enum { HOT, COLD } tap;
typedef union { int *number; const char *text; } either __attribute__((transparent_union));
_Alignas(double) static char like_double;
struct like { long long first; int second; };
static char _Alignas(struct like) like_record;
static void aligned_function(void) __attribute__((aligned(256)));
static void aligned_function(void) { somewhere++; }

sum_t check_constants_and_types(void)
{
    sum_t sum = 3;
    char room[4];
    sum = mix(sum, __builtin_constant_p("hi"));
    sum = mix(sum, __builtin_constant_p(&somewhere));
    sum = mix(sum, __builtin_constant_p(somewhere++));
    sum = mix(sum, __builtin_constant_p(room) + 2 * __builtin_constant_p(3 * 4.5));
    sum = mix(sum, __builtin_types_compatible_p(enum flat, enum round));
    sum = mix(sum, __builtin_types_compatible_p(__typeof__(LEFT), int));
    sum = mix(sum, __builtin_types_compatible_p(__typeof__(tap), tap));
    sum = mix(sum, __builtin_types_compatible_p(tap, unsigned));
    sum = mix(sum, __builtin_types_compatible_p(int[5], int[]));
    sum = mix(sum, __builtin_types_compatible_p(char *, const char *));
    sum = mix(sum, __alignof__(aligned_function));
    sum = mix(sum, __alignof__(like_double) + 100 * __alignof__(like_record));
    aligned_function();
    return mix(sum, (sum_t)somewhere);
}

static sum_t taken(either value, int is_text)
{
    return is_text ? (sum_t)value.text[1] : (sum_t)*value.number;
}

sum_t check_transparent_unions(void)
{
    int number = 77;
    return mix(mix(4, taken(&number, 0)), taken("text", 1));
}

static char _Alignas(struct { char c; double d; }) like_unnamed;

sum_t check_alignments_of_records_that_are_declared_in_place(void)
{
    char first = 1;
    _Alignas(struct { char a; long double b; }) char second = 2;
    _Alignas( union { short a; char b[7]; } ) static char third;
    struct { char c; _Alignas(struct { long x; char y; }) char d; } fourth;
    sum_t h = mix((unsigned long)&like_unnamed % 8, (unsigned long)&second % 16);
    h = mix(h, (unsigned long)&third % 2 + (unsigned long)first + (unsigned long)second);
    return mix(h, sizeof fourth + _Alignof(second) * 100ul + _Alignof(like_unnamed) * 7ul);
}
