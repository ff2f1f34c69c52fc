/* Builtin functions that carry, classify, align, ask, and move memory. */
#include "check.h"
#include <stddef.h>
#include <string.h>
#include <math.h>
struct s { char a; int b[4]; struct { long c; } d; };
struct e {}; struct fl { int n; int v[]; };
enum color { RED };
sum_t check_carry(void)
{ sum_t h=1; unsigned long c; unsigned cu; unsigned char cb;
h=mix(h,__builtin_addcl(~0ul,1,1,&c)); h=mix(h,c); h=mix(h,__builtin_subc(1u,2u,1u,&cu));
    h=mix(h,cu); h=mix(h,__builtin_addcb(200,100,1,&cb)); h=mix(h,cb);
    h=mix(h,__builtin_subcll(5,6,0,(unsigned long long*)&c)); h=mix(h,c); return h; }
sum_t check_misc(void)
{
  sum_t h=1; int arr[10]; char buf[32]; struct s s; int i=3;
  h=mix(h,__builtin_expect(i>2,1)); h=mix(h,__builtin_expect_with_probability(i,3,0.9));
h=mix(h,__builtin_object_size(buf,0)); h=mix(h,__builtin_object_size(&s.b[1],1));
    h=mix(h,__builtin_object_size(buf+10,0));
  h=mix(h,__builtin_constant_p(3)); h=mix(h,__builtin_constant_p("x"));
h=mix(h,__builtin_choose_expr(1,2,"x")); h=mix(h,__builtin_types_compatible_p(int,const int));
    h=mix(h,__builtin_types_compatible_p(int[],int[5]));
  h=mix(h,__builtin_types_compatible_p(typeof(i),int)); h=mix(h,__builtin_types_compatible_p(char*,int*));
  h=mix(h,__builtin_offsetof(struct s,b[2])); h=mix(h,offsetof(struct s,d.c));
__builtin_memset(buf,'x',sizeof buf); __builtin_memcpy(buf,"hello",6);
    h=mix(h,__builtin_strlen(buf)); h=mix(h,__builtin_strcmp(buf,"hello")==0); h=mix(h,buf[7]);
  __builtin___memcpy_chk(buf,"abc",4,__builtin_object_size(buf,0)); h=mix(h,buf[1]);
__builtin___strcpy_chk(buf,"qrs",32); __builtin___strncat_chk(buf,"zz",1,32); h=mix(h,buf[3]);
    h=mix(h,__builtin_strlen(buf));
__builtin___memmove_chk(buf+1,buf,3,31); h=mix(h,buf[3]); __builtin___memset_chk(buf,7,3,32);
    h=mix(h,buf[2]);
__builtin___stpcpy_chk(buf,"uv",32); __builtin___strncpy_chk(buf,"ab",2,32);
    __builtin___strcat_chk(buf,"k",32); h=mix(h,buf[1]);
  int *p=__builtin_assume_aligned(arr,16); p[0]=4; h=mix(h,arr[0]);
  __builtin_prefetch(arr); __builtin_prefetch(arr,1,3);
h=mix(h,__builtin_classify_type(1)); h=mix(h,__builtin_classify_type(1.0));
    h=mix(h,__builtin_classify_type(p)); h=mix(h,__builtin_classify_type(s));
h=mix(h,__LINE__); h=mix(h,__builtin_strlen(__builtin_FUNCTION())); h=mix(h,sizeof(__func__));
    h=mix(h,__builtin_strlen(__PRETTY_FUNCTION__));
  h=mix(h,__builtin_frame_address(0)!=0); h=mix(h,__builtin_return_address(0)!=0);
  h=mix(h,__builtin_extract_return_addr((void*)5)==(void*)5);
  if (i==99) __builtin_unreachable(); if (i==98) __builtin_trap();
  h=mix(h,__builtin_abs(-4)); h=mix(h,__builtin_labs(-4L)); 
h=mix(h,__builtin_is_aligned((unsigned long)16,8));
    h=mix(h,__builtin_align_up((unsigned long)17,8));
    h=mix(h,__builtin_align_down((unsigned long)17,8));
 
  return h; }
static sum_t classes_of(sum_t h, double d, float f, long double e)
{
  h=mix(h,__builtin_isfpclass(d,1)); h=mix(h,__builtin_isfpclass(d,2)); h=mix(h,__builtin_isfpclass(f,2));
  h=mix(h,__builtin_isfpclass(d,0x264)); h=mix(h,__builtin_isfpclass(f,0x198)); h=mix(h,__builtin_isfpclass(e,0x20b));
  h=mix(h,__builtin_isfpclass(f,0x060)); h=mix(h,__builtin_isfpclass(d,0x3ff)); h=mix(h,__builtin_isfpclass(d,0));
  return mix(h,__builtin_isfpclass(e,0x1f0));
}
sum_t check_float_classes(void)
{
  static const double values[]={0.0,-0.0,1.0,-2.5,1e-310,-5e-324,1e308,-1e-40,1e-40};
  sum_t h=2;
  for (unsigned i=0;i<sizeof values/sizeof *values;i++)
    h=classes_of(h,values[i],(float)values[i],(long double)values[i]*0x1p-16300L);
  h=classes_of(h,__builtin_inf(),-__builtin_inff(),__builtin_infl());
  return classes_of(h,__builtin_nan(""),__builtin_nanf(""),__builtin_nanl(""));
}
sum_t check_float(void)
{
  sum_t h=1; volatile double d=-0.0,x=3.5,n=__builtin_nan(""),inf=__builtin_inf(); volatile float f=2.5f;
h=mix(h,__builtin_isnan(n)); h=mix(h,__builtin_isinf(inf)); h=mix(h,__builtin_isinf_sign(-inf));
    h=mix(h,__builtin_isfinite(x)); h=mix(h,__builtin_isnormal(d)); h=mix(h,__builtin_signbit(d)!=0);
    h=mix(h,__builtin_signbitf(f)!=0);
h=mix_double(h,__builtin_fabs(-x)); h=mix_double(h,__builtin_copysign(x,d));
    h=mix_double(h,__builtin_huge_val()); h=mix_double(h,__builtin_huge_valf());
    h=mix_double(h,__builtin_sqrt(x)); h=mix_double(h,__builtin_floor(x));
h=mix(h,__builtin_isgreater(x,f)); h=mix(h,__builtin_isunordered(x,n));
    h=mix(h,__builtin_islessgreater(x,x)); h=mix(h,isnan(n)); h=mix(h,isinf(inf));
    h=mix(h,signbit(d)!=0); h=mix(h,fpclassify(d)); h=mix(h,fpclassify(x)); h=mix(h,fpclassify(f));
    h=mix(h,__builtin_fpclassify(0,1,2,3,4,n));
h=mix(h,isfinite(f)); h=mix(h,isnormal(f)); h=mix(h,isless(x,f)); h=mix_double(h,NAN!=NAN);
    h=mix_double(h,INFINITY); h=mix_double(h,HUGE_VAL);
  h=mix(h,__builtin_flt_rounds()); h=mix(h,__builtin_issubnormal(x)); h=mix(h,__builtin_iszero(d));
h=mix_double(h,__builtin_nans("")!=1.0); h=mix_double(h,__builtin_trunc(-x));
    h=mix_double(h,__builtin_round(x)); h=mix_double(h,__builtin_fmin(x,d));
  return h; }
