struct node { struct node *next; char name[8]; struct { int inner; } box[2]; };
typedef struct node list;
typedef int row[3];
struct packed { char a; int b; } __attribute__((packed));
struct bits { unsigned a : 3; int : 0; signed b : 5; int : 2; long long c : 40; };
struct flexible { int length; char data[]; };
union both { int i; double d; char bytes[12]; };
enum big { HUGE_ONE = 0x100000000 };
enum tiny { T0, T1 } __attribute__((packed));
_Alignas(32) int aligned_one;
typedef int wide_int __attribute__((aligned(64)));
wide_int by_typedef = _Alignof(wide_int);
typedef struct tagged { int a; } most __attribute__((aligned));
most most_aligned;
int defined_later[];
int defined_later[4];
extern struct opaque *handle;
_Atomic int counter;
_Complex double complex_one;
int vector_one __attribute__((vector_size(16)));
__int128 wide_one;
long double long_one = 1.5L;
_Float16 half_one;
int old_style(a, b) int a; char b; { return a + b; }
int no_prototype();
void (*signal_like(int number, void (*handler)(int)))(int);
__attribute__((noreturn)) void stop(void);
int variadic(int n, ...) {
  __builtin_va_list ap;
  __builtin_va_start(ap, n);
  int x = __builtin_va_arg(ap, int);
  __builtin_va_end(ap);
  return x;
}
int types(int n, const row *rows, list *head) {
  struct bits { char only; } shadow;
  typedef long row;
  row r = sizeof shadow + sizeof(struct bits);
  int vla[n];
  __typeof__(head->next->box[1].inner) t = 1;
  const __typeof__(((list *)0)->name[0]) *p = head->name;
  enum { LOCAL = 9 } e = LOCAL;
  extern int elsewhere;
  static const int fixed[2] = { 1, 2 };
  counter += 2;
  return (int)r + sizeof vla + t + *p + e + rows[0][1] + elsewhere + fixed[0]
    + __c11_atomic_load(&counter, 0);
}
