typedef enum { OFF, ON } toggle;
typedef struct { toggle t; struct { toggle inner; }; } setting, *setting_pointer;
typedef const struct { int only; } constant_setting;
struct forward;
struct forward *before(struct forward *, struct unseen *);
struct forward { setting s; setting_pointer p; constant_setting c; };
struct point { int x, y; };
struct line { struct point from, to; };
static int declared_twice(int);
static int declared_twice(int a) { return a; }
inline int inline_one(void) { return 1; }
extern int shared;
int shared = 2;
int tentative;
int tentative = 3;
_Thread_local int each_thread;
int first(void) {
  extern int shared, hidden;
  int block_function(char);
  return declared_twice(shared) + hidden + block_function('a');
}
int second(void) {
  extern int hidden;
  struct local { int a; } one = { 1 };
  { struct local { char b[3]; } two = { "ab" }; hidden = two.b[1] + sizeof two; }
  return hidden + one.a;
}
struct line update(struct point p) {
  struct line l = { .from = p, .from.y = 4, .to = { .x = 1 } };
  struct point grid[2][2] = { [1] = { [0].y = 9 } };
  union { int whole; char parts[4]; } u = { .parts = { 'a', 'b' } };
  l.to.x = grid[1][0].y + u.whole;
  return l;
}
int folded[] = {
  sizeof(struct line), sizeof(setting) * 2, (int)(unsigned char)300, -7 / 2, -7 % 3, 1u - 2 > 0,
  (int)2.75, ON ? 10 : 20, 'a' < 'b' && !0, ~0, 1 << 4 | 1, (long)&((struct line *)0)->to.y,
  __builtin_offsetof(struct line, to.y), (int)sizeof("abc"), -1 >> 1, 5 != 5,
};
enum from_expressions { E0 = sizeof(int[3]), E1, E2 = (char)200, E3 = E1 << 2 };
void not_modelled(void) {
  typedef int vec __attribute__((vector_size(16)));
  vec v = { 1, 2, 3, 4 };
  _Complex double z = 1.0;
  v = v + v;
  __asm__ volatile("" ::: "memory");
}
int modelled_after_it(void) { return 0; }
__asm__(".globl nothing");
