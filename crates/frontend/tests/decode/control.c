enum colour { RED, GREEN = 5, BLUE = -2 };
int next(int);
int control(int a, enum colour c) {
  static int calls = 1;
  int i, sum = 0;
  for (i = 0; i < 10; i++) sum += i;
  for (int j = 0;;) { if (j++ > 3) break; else continue; }
  for (;;) break;
  while (a && !sum || a == 3) a--;
  do { --a; } while (a > 0);
  switch (a) {
    case 1 ... 3: a++;
    case BLUE: break;
    case 'x' + (1 << 2): default: a = -a;
  }
  if (c == GREEN) goto end;
  ;
again:
  if (next(a)) goto again;
  __attribute__((unused)) int u;
  void *target = &&again;
  if (a > 100) goto *target;
  switch (a) { case 7: a = 1; __attribute__((fallthrough)); case 8: a = 2; }
  __asm__("nop" : "+r"(a));
end:
  return sum + ++calls;
}
